#include "lib/manifest/schema/builtin_types.h"

namespace regatta::manifest {

const std::string_view builtin_more_text = R"(
package io.k8s.api.core.v1
kind ReplicationController group= version=v1 -- Replicated pods, selected by a map.
  spec ReplicationControllerSpec -- What is wanted.
  status ReplicationControllerStatus -- What is observed; written by the system.
type ReplicationControllerSpec
  replicas int32
  minReadySeconds int32
  selector {}string atomic
  template PodTemplateSpec
type ReplicationControllerStatus
  replicas int32 !
  fullyLabeledReplicas int32
  readyReplicas int32
  availableReplicas int32
  observedGeneration int64
  conditions []ReplicationControllerCondition map=type merge=type
type ReplicationControllerCondition
  type string !
  status string !
  lastTransitionTime time
  reason string
  message string
kind PodTemplate group= version=v1 -- A template for pods.
  template PodTemplateSpec
kind PersistentVolume group= version=v1 -- Storage in the cluster.
  spec PersistentVolumeSpec -- What is wanted.
  status PersistentVolumeStatus -- What is observed; written by the system.
type PersistentVolumeSpec
  capacity {}quantity
  accessModes []string atomic
  claimRef ObjectReference
  persistentVolumeReclaimPolicy string
  storageClassName string
  mountOptions []string atomic
  volumeMode string
  nodeAffinity VolumeNodeAffinity
  volumeAttributesClassName string
  hostPath any
  nfs any
  csi any
  local any
  iscsi any
  fc any
  awsElasticBlockStore any
  azureDisk any
  azureFile any
  cephfs any
  cinder any
  flexVolume any
  flocker any
  gcePersistentDisk any
  glusterfs any
  photonPersistentDisk any
  portworxVolume any
  quobyte any
  rbd any
  scaleIO any
  storageos any
  vsphereVolume any
type VolumeNodeAffinity
  required NodeSelector
type PersistentVolumeStatus
  phase string
  message string
  reason string
  lastPhaseTransitionTime time
package io.k8s.api.apps.v1
kind StatefulSet group=apps version=v1 -- Pods with names and storage of their own.
  spec StatefulSetSpec -- What is wanted.
  status StatefulSetStatus -- What is observed; written by the system.
type StatefulSetSpec
  replicas int32
  selector LabelSelector !
  template PodTemplateSpec !
  volumeClaimTemplates []PersistentVolumeClaim atomic
  serviceName string
  podManagementPolicy string
  updateStrategy StatefulSetUpdateStrategy
  revisionHistoryLimit int32
  minReadySeconds int32
  persistentVolumeClaimRetentionPolicy StatefulSetRetention
  ordinals StatefulSetOrdinals
type StatefulSetUpdateStrategy
  type string
  rollingUpdate RollingUpdateStatefulSetStrategy
type RollingUpdateStatefulSetStrategy
  partition int32
  maxUnavailable intstr
type StatefulSetRetention
  whenDeleted string
  whenScaled string
type StatefulSetOrdinals
  start int32
type StatefulSetStatus
  observedGeneration int64
  replicas int32 !
  readyReplicas int32
  currentReplicas int32
  updatedReplicas int32
  currentRevision string
  updateRevision string
  collisionCount int32
  conditions []DeploymentCondition map=type merge=type
  availableReplicas int32
kind DaemonSet group=apps version=v1 -- A pod on every node.
  spec DaemonSetSpec -- What is wanted.
  status DaemonSetStatus -- What is observed; written by the system.
type DaemonSetSpec
  selector LabelSelector !
  template PodTemplateSpec !
  updateStrategy DaemonSetUpdateStrategy
  minReadySeconds int32
  revisionHistoryLimit int32
type DaemonSetUpdateStrategy
  type string
  rollingUpdate RollingUpdateDeployment
type DaemonSetStatus
  currentNumberScheduled int32 !
  numberMisscheduled int32 !
  desiredNumberScheduled int32 !
  numberReady int32 !
  observedGeneration int64
  updatedNumberScheduled int32
  numberAvailable int32
  numberUnavailable int32
  collisionCount int32
  conditions []DeploymentCondition map=type merge=type
kind ControllerRevision group=apps version=v1 -- A snapshot of a controller's template.
  data any
  revision int64 !
package io.k8s.api.autoscaling.v2
kind HorizontalPodAutoscaler group=autoscaling version=v2 -- Scales by load.
  spec HorizontalPodAutoscalerSpec -- What is wanted.
  status HorizontalPodAutoscalerStatus -- What is observed; written by the system.
type HorizontalPodAutoscalerSpec
  scaleTargetRef CrossVersionObjectReference !
  minReplicas int32
  maxReplicas int32 !
  metrics []any atomic
  behavior any
type CrossVersionObjectReference
  kind string !
  name string !
  apiVersion string
type HorizontalPodAutoscalerStatus
  observedGeneration int64
  lastScaleTime time
  currentReplicas int32
  desiredReplicas int32 !
  currentMetrics []any atomic
  conditions []any map=type merge=type
package io.k8s.api.networking.v1
kind Ingress group=networking.k8s.io version=v1 -- HTTP routes into the cluster.
  spec IngressSpec -- What is wanted.
  status IngressStatus -- What is observed; written by the system.
type IngressSpec
  ingressClassName string
  defaultBackend IngressBackend
  tls []IngressTLS atomic
  rules []IngressRule atomic
type IngressTLS
  hosts []string atomic
  secretName string
type IngressRule
  host string
  http HTTPIngressRuleValue
type HTTPIngressRuleValue
  paths []HTTPIngressPath ! atomic
type HTTPIngressPath
  path string
  pathType string !
  backend IngressBackend !
type IngressBackend
  service IngressServiceBackend
  resource any
type IngressServiceBackend
  name string !
  port ServiceBackendPort
type ServiceBackendPort atomic
  name string
  number int32
type IngressStatus
  loadBalancer any
kind IngressClass group=networking.k8s.io version=v1 -- The controller of ingresses.
  spec IngressClassSpec -- What is wanted.
type IngressClassSpec
  controller string
  parameters IngressClassParametersReference
type IngressClassParametersReference
  apiGroup string
  kind string !
  name string !
  scope string
  namespace string
kind NetworkPolicy group=networking.k8s.io version=v1 -- What traffic pods accept.
  spec NetworkPolicySpec -- What is wanted.
type NetworkPolicySpec
  podSelector LabelSelector
  ingress []NetworkPolicyRule atomic
  egress []NetworkPolicyRule atomic
  policyTypes []string atomic
type NetworkPolicyRule
  ports []NetworkPolicyPort atomic
  from []NetworkPolicyPeer atomic
  to []NetworkPolicyPeer atomic
type NetworkPolicyPort
  protocol string
  port intstr
  endPort int32
type NetworkPolicyPeer
  podSelector LabelSelector
  namespaceSelector LabelSelector
  ipBlock IPBlock
type IPBlock
  cidr string !
  except []string atomic
package io.k8s.api.storage.v1
kind StorageClass group=storage.k8s.io version=v1 -- Where volumes come from.
  provisioner string !
  parameters {}string
  reclaimPolicy string
  mountOptions []string atomic
  allowVolumeExpansion bool
  volumeBindingMode string
  allowedTopologies []any atomic
package io.k8s.api.discovery.v1
kind EndpointSlice group=discovery.k8s.io version=v1 -- Some of the addresses of a service.
  addressType string !
  endpoints []any ! atomic
  ports []any atomic
package io.k8s.api.flowcontrol.v1
kind FlowSchema group=flowcontrol.apiserver.k8s.io version=v1 -- Sorts requests into flows.
  spec FlowSchemaSpec -- What is wanted.
  status FlowSchemaStatus -- What is observed; written by the system.
type FlowSchemaSpec
  priorityLevelConfiguration PriorityLevelConfigurationReference !
  matchingPrecedence int32 !
  distinguisherMethod any
  rules []any atomic
type PriorityLevelConfigurationReference
  name string !
type FlowSchemaStatus
  conditions []any map=type merge=type
kind PriorityLevelConfiguration group=flowcontrol.apiserver.k8s.io version=v1 -- A share.
  spec PriorityLevelConfigurationSpec -- What is wanted.
  status FlowSchemaStatus -- What is observed; written by the system.
type PriorityLevelConfigurationSpec
  type string !
  limited any
  exempt any
)";

}  // namespace regatta::manifest
