#include "lib/manifest/schema/builtin_types.h"

namespace regatta::manifest {

const std::string_view builtin_groups_text = R"(
package io.k8s.api.batch.v1
kind Job group=batch version=v1 spec=JobSpec status=JobStatus -- Pods that run to completion.
type JobSpec -- How the job runs.
  parallelism int32 -- Pods that may run at a time.
  completions int32 -- Pods that must succeed.
  activeDeadlineSeconds int64 -- Time the job may be active, in seconds.
  podFailurePolicy PodFailurePolicy
  successPolicy SuccessPolicy
  backoffLimit int32 -- Retries before the job fails.
  backoffLimitPerIndex int32
  maxFailedIndexes int32
  selector LabelSelector
  manualSelector bool
  template PodTemplateSpec ! -- The pods to create.
  ttlSecondsAfterFinished int32
  completionMode string -- NonIndexed or Indexed.
  suspend bool -- Whether the job may not run pods.
  podReplacementPolicy string
  managedBy string -- The controller that runs the job; empty for the built-in one.
type PodFailurePolicy
  rules []PodFailurePolicyRule ! atomic
type PodFailurePolicyRule
  action string !
  onExitCodes PodFailurePolicyOnExitCodesRequirement
  onPodConditions []PodFailurePolicyOnPodConditionsPattern atomic
type PodFailurePolicyOnExitCodesRequirement
  containerName string
  operator string !
  values []int32 ! set
type PodFailurePolicyOnPodConditionsPattern
  type string !
  status string
type SuccessPolicy
  rules []SuccessPolicyRule ! atomic
type SuccessPolicyRule
  succeededIndexes string
  succeededCount int32
type JobStatus -- Observed state of the job.
  conditions []JobCondition atomic merge=type
  startTime time
  completionTime time
  active int32
  succeeded int32
  failed int32
  terminating int32
  completedIndexes string
  failedIndexes string
  uncountedTerminatedPods UncountedTerminatedPods
  ready int32
type JobCondition
  type string !
  status string !
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
type UncountedTerminatedPods
  succeeded []string set
  failed []string set
type JobTemplateSpec
  metadata ObjectMeta
  spec JobSpec
kind CronJob group=batch version=v1 spec=CronJobSpec status=CronJobStatus -- Jobs on a schedule.
type CronJobSpec
  schedule string !
  timeZone string
  startingDeadlineSeconds int64
  concurrencyPolicy string
  suspend bool
  jobTemplate JobTemplateSpec !
  successfulJobsHistoryLimit int32
  failedJobsHistoryLimit int32
type CronJobStatus
  active []ObjectReference atomic
  lastScheduleTime time
  lastSuccessfulTime time
package io.k8s.api.apps.v1
kind Deployment group=apps version=v1 -- Replicated pods with rolling updates.
  spec DeploymentSpec -- What is wanted.
  status DeploymentStatus -- What is observed; written by the system.
type DeploymentSpec
  replicas int32
  selector LabelSelector !
  template PodTemplateSpec !
  strategy DeploymentStrategy retainKeys
  minReadySeconds int32
  revisionHistoryLimit int32
  paused bool
  progressDeadlineSeconds int32
type DeploymentStrategy
  type string
  rollingUpdate RollingUpdateDeployment
type RollingUpdateDeployment
  maxUnavailable intstr
  maxSurge intstr
type DeploymentStatus
  observedGeneration int64
  replicas int32
  updatedReplicas int32
  readyReplicas int32
  availableReplicas int32
  unavailableReplicas int32
  terminatingReplicas int32
  conditions []DeploymentCondition map=type merge=type
  collisionCount int32
type DeploymentCondition
  type string !
  status string !
  lastUpdateTime time
  lastTransitionTime time
  reason string
  message string
kind ReplicaSet group=apps version=v1 -- Replicated pods.
  spec ReplicaSetSpec -- What is wanted.
  status ReplicaSetStatus -- What is observed; written by the system.
type ReplicaSetSpec
  replicas int32
  minReadySeconds int32
  selector LabelSelector !
  template PodTemplateSpec
type ReplicaSetStatus
  replicas int32 !
  fullyLabeledReplicas int32
  readyReplicas int32
  availableReplicas int32
  terminatingReplicas int32
  observedGeneration int64
  conditions []DeploymentCondition map=type merge=type
package io.k8s.api.autoscaling.v1
kind Scale group=autoscaling version=v1 -- Number of replicas of a resource.
  spec ScaleSpec -- What is wanted.
  status ScaleStatus -- What is observed; written by the system.
type ScaleSpec
  replicas int32
type ScaleStatus
  replicas int32 !
  selector string
package io.k8s.api.coordination.v1
kind Lease group=coordination.k8s.io version=v1 spec=LeaseSpec -- The holder of a role, and its end.
type LeaseSpec
  holderIdentity string
  leaseDurationSeconds int32
  acquireTime microtime
  renewTime microtime
  leaseTransitions int32
  strategy string
  preferredHolder string
package io.k8s.api.scheduling.v1
kind PriorityClass group=scheduling.k8s.io version=v1 -- A name for a priority.
  value int32 !
  globalDefault bool
  description string
  preemptionPolicy string
package io.k8s.api.node.v1
kind RuntimeClass group=node.k8s.io version=v1 -- A container runtime to choose.
  handler string !
  overhead Overhead
  scheduling Scheduling
type Overhead
  podFixed {}quantity
type Scheduling
  nodeSelector {}string atomic
  tolerations []Toleration atomic
package io.k8s.api.policy.v1
kind Eviction group=policy version=v1 -- Asks for a pod to be evicted.
  deleteOptions DeleteOptions
kind PodDisruptionBudget group=policy version=v1 -- How many pods may be disrupted at a time.
  spec PodDisruptionBudgetSpec -- What is wanted.
  status PodDisruptionBudgetStatus -- What is observed; written by the system.
type PodDisruptionBudgetSpec
  minAvailable intstr
  selector LabelSelector replace
  maxUnavailable intstr
  unhealthyPodEvictionPolicy string
type PodDisruptionBudgetStatus
  observedGeneration int64
  disruptedPods {}time
  disruptionsAllowed int32 !
  currentHealthy int32 !
  desiredHealthy int32 !
  expectedPods int32 !
  conditions []Condition map=type merge=type
package io.k8s.api.events.v1
kind Event group=events.k8s.io version=v1 -- A report of something that happened.
  eventTime microtime !
  series EventSeries
  reportingController string
  reportingInstance string
  action string
  reason string
  regarding ObjectReference
  related ObjectReference
  note string
  type string
  deprecatedSource EventSource
  deprecatedFirstTimestamp time
  deprecatedLastTimestamp time
  deprecatedCount int32
type EventSeries
  count int32 !
  lastObservedTime microtime !
package io.k8s.api.rbac.v1
kind Role group=rbac.authorization.k8s.io version=v1 -- Permissions within a namespace.
  rules []PolicyRule atomic
kind ClusterRole group=rbac.authorization.k8s.io version=v1 -- Permissions in all namespaces.
  rules []PolicyRule atomic
  aggregationRule AggregationRule
type PolicyRule
  verbs []string ! atomic
  apiGroups []string atomic
  resources []string atomic
  resourceNames []string atomic
  nonResourceURLs []string atomic
type AggregationRule
  clusterRoleSelectors []LabelSelector atomic
kind RoleBinding group=rbac.authorization.k8s.io version=v1 -- Grants a role in a namespace.
  subjects []Subject atomic
  roleRef RoleRef !
kind ClusterRoleBinding group=rbac.authorization.k8s.io version=v1 -- Grants a role everywhere.
  subjects []Subject atomic
  roleRef RoleRef !
type Subject atomic
  kind string !
  apiGroup string
  name string !
  namespace string
type RoleRef atomic
  apiGroup string !
  kind string !
  name string !
package io.k8s.api.authentication.v1
kind TokenReview group=authentication.k8s.io version=v1 -- Asks for which user a token stands.
  spec any
  status any
kind TokenRequest group=authentication.k8s.io version=v1 -- Asks for a token of a service account.
  spec any
  status any
kind SelfSubjectReview group=authentication.k8s.io version=v1 -- Asks for the name of the caller.
  status any
package io.k8s.api.authorization.v1
kind SubjectAccessReview group=authorization.k8s.io version=v1 -- Asks what a user may do.
  spec any
  status any
kind SelfSubjectAccessReview group=authorization.k8s.io version=v1 -- Asks what one may do.
  spec any
  status any
kind SelfSubjectRulesReview group=authorization.k8s.io version=v1 -- Asks what one may do.
  spec any
  status any
package io.k8s.api.admissionregistration.v1
kind MutatingWebhookConfiguration group=admissionregistration.k8s.io version=v1 +
  -- Webhooks that change objects.
  webhooks []MutatingWebhook map=name merge=name
kind ValidatingWebhookConfiguration group=admissionregistration.k8s.io version=v1 +
  -- Webhooks that judge objects.
  webhooks []ValidatingWebhook map=name merge=name
type MutatingWebhook
  name string !
  clientConfig WebhookClientConfig !
  rules []RuleWithOperations atomic
  failurePolicy string
  matchPolicy string
  namespaceSelector LabelSelector
  objectSelector LabelSelector
  sideEffects string !
  timeoutSeconds int32
  admissionReviewVersions []string ! atomic
  reinvocationPolicy string
  matchConditions []MatchCondition map=name merge=name
type ValidatingWebhook
  name string !
  clientConfig WebhookClientConfig !
  rules []RuleWithOperations atomic
  failurePolicy string
  matchPolicy string
  namespaceSelector LabelSelector
  objectSelector LabelSelector
  sideEffects string !
  timeoutSeconds int32
  admissionReviewVersions []string ! atomic
  matchConditions []MatchCondition map=name merge=name
type WebhookClientConfig
  url string
  service ServiceReference
  caBundle bytes
type ServiceReference
  namespace string !
  name string !
  path string
  port int32
type RuleWithOperations
  operations []string atomic
  apiGroups []string atomic
  apiVersions []string atomic
  resources []string atomic
  scope string
type MatchCondition
  name string !
  expression string !
package io.k8s.kube-aggregator.pkg.apis.apiregistration.v1
kind APIService group=apiregistration.k8s.io version=v1 -- The server of a group version.
  spec APIServiceSpec
  status APIServiceStatus
type APIServiceSpec
  service ServiceReference
  group string
  version string
  insecureSkipTLSVerify bool
  caBundle bytes atomic
  groupPriorityMinimum int32 !
  versionPriority int32 !
type ServiceReference
  namespace string
  name string
  port int32
type APIServiceStatus
  conditions []APIServiceCondition map=type merge=type
type APIServiceCondition
  type string !
  status string !
  lastTransitionTime time
  reason string
  message string
package io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
kind CustomResourceDefinition group=apiextensions.k8s.io version=v1 -- Adds a kind to the API.
  spec CustomResourceDefinitionSpec -- What is wanted.
  status CustomResourceDefinitionStatus -- What is observed; written by the system.
type CustomResourceDefinitionSpec
  group string !
  names CustomResourceDefinitionNames !
  scope string ! -- Cluster or Namespaced.
  versions []CustomResourceDefinitionVersion ! atomic
  conversion CustomResourceConversion
  preserveUnknownFields bool
type CustomResourceDefinitionNames
  plural string !
  singular string
  shortNames []string atomic
  kind string !
  listKind string
  categories []string atomic
type CustomResourceDefinitionVersion
  name string !
  served bool !
  storage bool !
  deprecated bool
  deprecationWarning string
  schema CustomResourceValidation
  subresources CustomResourceSubresources
  additionalPrinterColumns []CustomResourceColumnDefinition atomic
  selectableFields []SelectableField atomic
type CustomResourceValidation
  openAPIV3Schema JSONSchemaProps
type CustomResourceSubresources
  status CustomResourceSubresourceStatus
  scale CustomResourceSubresourceScale
type CustomResourceSubresourceStatus = any
type CustomResourceSubresourceScale
  specReplicasPath string !
  statusReplicasPath string !
  labelSelectorPath string
type CustomResourceColumnDefinition
  name string !
  type string !
  format string
  description string
  priority int32
  jsonPath string !
type SelectableField
  jsonPath string !
type CustomResourceConversion
  strategy string !
  webhook WebhookConversion
type WebhookConversion
  clientConfig WebhookClientConfig
  conversionReviewVersions []string ! atomic
type WebhookClientConfig
  url string
  service ServiceReference
  caBundle bytes
type ServiceReference
  namespace string !
  name string !
  path string
  port int32
type CustomResourceDefinitionStatus
  conditions []CustomResourceDefinitionCondition map=type
  acceptedNames CustomResourceDefinitionNames
  storedVersions []string atomic
  observedGeneration int64
type CustomResourceDefinitionCondition
  type string !
  status string !
  lastTransitionTime time
  reason string
  message string
  observedGeneration int64
type JSON = any
type JSONSchemaProps -- A JSON schema.
  id string
  $schema string
  $ref string
  description string
  type string
  format string
  title string
  default JSON
  maximum number
  exclusiveMaximum bool
  minimum number
  exclusiveMinimum bool
  maxLength int64
  minLength int64
  pattern string
  maxItems int64
  minItems int64
  uniqueItems bool
  multipleOf number
  enum []JSON atomic
  maxProperties int64
  minProperties int64
  required []string atomic
  items JSONSchemaProps
  allOf []JSONSchemaProps atomic
  oneOf []JSONSchemaProps atomic
  anyOf []JSONSchemaProps atomic
  not JSONSchemaProps
  properties {}JSONSchemaProps
  additionalProperties JSONSchemaPropsOrBool
  patternProperties {}JSONSchemaProps
  dependencies {}any
  additionalItems any
  definitions {}JSONSchemaProps
  externalDocs ExternalDocumentation
  example JSON
  nullable bool
  x-kubernetes-preserve-unknown-fields bool
  x-kubernetes-embedded-resource bool
  x-kubernetes-int-or-string bool
  x-kubernetes-list-map-keys []string atomic
  x-kubernetes-list-type string
  x-kubernetes-map-type string
  x-kubernetes-validations []ValidationRule map=rule merge=rule
type JSONSchemaPropsOrBool = any
type ExternalDocumentation
  description string
  url string
type ValidationRule
  rule string !
  message string
  messageExpression string
  reason string
  fieldPath string
  optionalOldSelf bool
)";

}  // namespace regatta::manifest
