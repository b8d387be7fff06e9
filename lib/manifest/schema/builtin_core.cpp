#include "lib/manifest/schema/builtin_types.h"

namespace regatta::manifest {

const std::string_view builtin_core_text = R"(
package io.k8s.api.core.v1
kind Namespace group= version=v1 spec=NamespaceSpec status=NamespaceStatus -- A scope for names.
type NamespaceSpec
  finalizers []string atomic
type NamespaceStatus
  phase string -- Active or Terminating.
  conditions []NamespaceCondition map=type merge=type
type NamespaceCondition
  type string !
  status string !
  lastTransitionTime time
  reason string
  message string
kind Node group= version=v1 spec=NodeSpec status=NodeStatus -- A machine that runs pods.
type NodeSpec
  podCIDR string
  podCIDRs []string set merge
  providerID string
  unschedulable bool
  taints []Taint atomic
  configSource any
  externalID string
type Taint
  key string !
  value string
  effect string !
  timeAdded time
type NodeStatus
  capacity {}quantity
  allocatable {}quantity
  phase string
  conditions []NodeCondition map=type merge=type
  addresses []NodeAddress map=type merge=type
  daemonEndpoints any
  nodeInfo NodeSystemInfo
  images []ContainerImage atomic
  volumesInUse []string atomic
  volumesAttached []AttachedVolume atomic
  config any
  runtimeHandlers []any atomic
  features any
  declaredFeatures []string atomic
type NodeCondition
  type string !
  status string !
  lastHeartbeatTime time
  lastTransitionTime time
  reason string
  message string
type NodeAddress
  type string !
  address string !
type NodeSystemInfo
  machineID string !
  systemUUID string !
  bootID string !
  kernelVersion string !
  osImage string !
  containerRuntimeVersion string !
  kubeletVersion string !
  kubeProxyVersion string !
  operatingSystem string !
  architecture string !
  swap any
type ContainerImage
  names []string atomic
  sizeBytes int64
type AttachedVolume
  name string !
  devicePath string !
kind ConfigMap group= version=v1 -- Configuration data for pods.
  immutable bool
  data {}string -- Text by key.
  binaryData {}bytes -- Bytes by key.
kind Secret group= version=v1 -- Confidential data.
  immutable bool
  data {}bytes -- Bytes by key, in base64.
  stringData {}string -- Text by key, for writing only.
  type string
kind ServiceAccount group= version=v1 -- An identity for processes.
  secrets []ObjectReference map=name merge=name
  imagePullSecrets []LocalObjectReference atomic
  automountServiceAccountToken bool
type ObjectReference atomic
  kind string
  namespace string
  name string
  uid string
  apiVersion string
  resourceVersion string
  fieldPath string
kind Event group= version=v1 -- A report of something that happened.
  involvedObject ObjectReference !
  reason string
  message string
  source EventSource
  firstTimestamp time
  lastTimestamp time
  count int32
  type string
  eventTime microtime
  series EventSeries
  action string
  related ObjectReference
  reportingComponent string
  reportingInstance string
type EventSource
  component string
  host string
type EventSeries
  count int32
  lastObservedTime microtime
kind LimitRange group= version=v1 spec=LimitRangeSpec -- Limits of resource use in a namespace.
type LimitRangeSpec
  limits []LimitRangeItem ! atomic
type LimitRangeItem
  type string !
  max {}quantity
  min {}quantity
  default {}quantity
  defaultRequest {}quantity
  maxLimitRequestRatio {}quantity
kind ResourceQuota group= version=v1 -- Limits of what a namespace may hold.
  spec ResourceQuotaSpec -- What is wanted.
  status ResourceQuotaStatus -- What is observed; written by the system.
type ResourceQuotaSpec
  hard {}quantity
  scopes []string atomic
  scopeSelector ScopeSelector
type ScopeSelector atomic
  matchExpressions []ScopedResourceSelectorRequirement atomic
type ScopedResourceSelectorRequirement
  scopeName string !
  operator string !
  values []string atomic
type ResourceQuotaStatus
  hard {}quantity
  used {}quantity
kind PersistentVolumeClaim group= version=v1 -- A request for storage.
  spec PersistentVolumeClaimSpec -- What is wanted.
  status PersistentVolumeClaimStatus -- What is observed; written by the system.
type PersistentVolumeClaimSpec
  accessModes []string atomic
  selector LabelSelector
  resources VolumeResourceRequirements
  volumeName string
  storageClassName string
  volumeMode string
  dataSource TypedLocalObjectReference
  dataSourceRef TypedObjectReference
  volumeAttributesClassName string
type VolumeResourceRequirements
  limits {}quantity
  requests {}quantity
type TypedLocalObjectReference atomic
  apiGroup string
  kind string !
  name string !
type TypedObjectReference
  apiGroup string
  kind string !
  name string !
  namespace string
type PersistentVolumeClaimStatus
  phase string
  accessModes []string atomic
  capacity {}quantity
  conditions []PersistentVolumeClaimCondition map=type merge=type
  allocatedResources {}quantity
  allocatedResourceStatuses {}string
  currentVolumeAttributesClassName string
  modifyVolumeStatus any
type PersistentVolumeClaimCondition
  type string !
  status string !
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
kind Service group= version=v1 -- A name and address for a set of pods.
  spec ServiceSpec -- What is wanted.
  status ServiceStatus -- What is observed; written by the system.
type ServiceSpec
  ports []ServicePort map=port,protocol merge=port
  selector {}string atomic
  clusterIP string
  clusterIPs []string atomic
  type string
  externalIPs []string atomic
  sessionAffinity string
  loadBalancerIP string
  loadBalancerSourceRanges []string atomic
  externalName string
  externalTrafficPolicy string
  healthCheckNodePort int32
  publishNotReadyAddresses bool
  sessionAffinityConfig any
  ipFamilies []string atomic
  ipFamilyPolicy string
  allocateLoadBalancerNodePorts bool
  loadBalancerClass string
  internalTrafficPolicy string
  trafficDistribution string
type ServicePort
  name string
  protocol string default="TCP"
  appProtocol string
  port int32 !
  targetPort intstr
  nodePort int32
type ServiceStatus
  loadBalancer LoadBalancerStatus
  conditions []Condition map=type merge=type
type LoadBalancerStatus
  ingress []any atomic
kind Endpoints group= version=v1 -- Addresses behind a service.
  subsets []any atomic
type Binding -- Ties a pod to a node.
  apiVersion string
  kind string
  metadata ObjectMeta
  target ObjectReference !
)";

}  // namespace regatta::manifest
