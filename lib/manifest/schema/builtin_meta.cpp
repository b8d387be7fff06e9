#include "lib/manifest/schema/builtin_types.h"

namespace regatta::manifest {

const std::string_view builtin_meta_text = R"(
package io.k8s.apimachinery.pkg.apis.meta.v1
type ObjectMeta -- Metadata every stored object has.
  name string -- Unique within a namespace; cannot be changed.
  generateName string -- Prefix of a name that the server completes.
  namespace string -- The space within which the name is unique.
  selfLink string
  uid string -- Unique in time and space; set by the server.
  resourceVersion string -- Opaque version of the object, for optimistic concurrency.
  generation int64 -- Counts changes of the desired state.
  creationTimestamp time -- When the object was created.
  deletionTimestamp time -- When the object will be deleted; set by a graceful deletion.
  deletionGracePeriodSeconds int64
  labels {}string -- Identifying keys and values, selectable.
  annotations {}string -- Free keys and values, not selectable.
  ownerReferences []OwnerReference map=uid merge=uid -- Objects this one depends on.
  finalizers []string set merge -- Must be empty before the object is removed.
  managedFields []ManagedFieldsEntry atomic -- Which manager owns which fields.
type OwnerReference atomic -- Names an owner of an object.
  apiVersion string !
  kind string !
  name string !
  uid string !
  controller bool
  blockOwnerDeletion bool
type ManagedFieldsEntry -- The fields that one manager set.
  manager string
  operation string
  apiVersion string
  time time
  fieldsType string
  fieldsV1 FieldsV1
  subresource string
type FieldsV1 = any -- A set of fields.
type ListMeta -- Metadata of a list.
  selfLink string
  resourceVersion string
  continue string
  remainingItemCount int64
type LabelSelector atomic -- Selects objects by their labels; all requirements must hold.
  matchLabels {}string
  matchExpressions []LabelSelectorRequirement atomic
type LabelSelectorRequirement -- One requirement on a label.
  key string !
  operator string ! -- In, NotIn, Exists or DoesNotExist.
  values []string atomic
type Condition -- One aspect of an object's current state.
  type string !
  status string ! -- True, False or Unknown.
  observedGeneration int64
  lastTransitionTime time !
  reason string !
  message string !
type FieldSelectorRequirement
  key string !
  operator string !
  values []string atomic
type Preconditions
  uid string
  resourceVersion string
type DeleteOptions -- How to delete an object.
  apiVersion string
  kind string
  gracePeriodSeconds int64
  preconditions Preconditions
  orphanDependents bool
  propagationPolicy string
  dryRun []string atomic
  ignoreStoreReadErrorWithClusterBreakingPotential bool
)";

}  // namespace regatta::manifest
