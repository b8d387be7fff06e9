#include "webhooks/shape_listings.h"

namespace regatta::webhooks {

/// Of kueue.x-k8s.io: v1beta2, and those of v1beta1 that differ.
constinit const std::string_view kueue_shapes = R"(
Admission
  clusterQueue:string podSetAssignments:[]PodSetAssignment
AdmissionCheckState
  name?:string state?:string lastTransitionTime?!:Time message:string requeueAfterSeconds?:*int32
  retryCount?:*int32 podSetUpdates?:[]PodSetUpdate
AdmissionCheckStrategyRule
  name?:string onFlavors?:[]string
AdmissionChecksStrategy
  admissionChecks?:[]AdmissionCheckStrategyRule
AdmissionScope
  admissionMode?:string
BorrowWithinCohort
  policy?:string maxPriorityThreshold?:*int32
ClusterProfileReference
  name?:string
ClusterQueue
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?:ClusterQueueSpec
  status?:ClusterQueueStatus
ClusterQueuePreemption
  reclaimWithinCohort?:string borrowWithinCohort?:*BorrowWithinCohort withinClusterQueue?:string
ClusterQueueSpec
  resourceGroups?:[]ResourceGroup cohortName?:string queueingStrategy?:string
  namespaceSelector?:*LabelSelector flavorFungibility?:*FlavorFungibility
  preemption?:*ClusterQueuePreemption admissionChecksStrategy?:*AdmissionChecksStrategy
  stopPolicy?:*string fairSharing?:*FairSharing admissionScope?:*AdmissionScope
  concurrentAdmissionPolicy?:*ConcurrentAdmissionPolicy
ClusterQueueStatus
  conditions?:[]Condition flavorsReservation?:[]FlavorUsage flavorsUsage?:[]FlavorUsage
  pendingWorkloads:int32 reservingWorkloads:int32 admittedWorkloads:int32
  fairSharing?:*FairSharingStatus
ClusterSource
  kubeConfig?!:*KubeConfig clusterProfileRef?:*ClusterProfileReference
Cohort
  kind?:string apiVersion?:string metadata?:ObjectMeta spec:CohortSpec status?:CohortStatus
CohortSpec
  parentName?:string resourceGroups?:[]ResourceGroup fairSharing?:*FairSharing
CohortStatus
  fairSharing?:*FairSharingStatus
ConcurrentAdmissionConstraints
  lastAcceptableFlavorName?:*string
ConcurrentAdmissionMigration
  mode?:string constraints?:*ConcurrentAdmissionConstraints
ConcurrentAdmissionPolicy
  migration!:ConcurrentAdmissionMigration
FairSharing
  weight?:*Quantity
FairSharingStatus
  weightedShare:int64
FlavorFungibility
  whenCanBorrow?:string whenCanPreempt?:string preference?:*string
FlavorQuotas
  name:string resources?:[]ResourceQuota
FlavorUsage
  name?:string resources?:[]ResourceUsage
KubeConfig
  location:string locationType?:string
LocalQueue
  kind?:string apiVersion?:string metadata?:ObjectMeta spec:LocalQueueSpec
  status?:LocalQueueStatus
LocalQueueAdmissionFairSharingStatus
  consumedResources:{}Quantity lastUpdate:Time
LocalQueueFairSharingStatus
  weightedShare:int64 admissionFairSharingStatus?:*LocalQueueAdmissionFairSharingStatus
LocalQueueFlavorUsage
  name:string resources?:[]LocalQueueResourceUsage
LocalQueueResourceUsage
  name?:string total?:Quantity
LocalQueueSpec
  clusterQueue?:string stopPolicy?:*string fairSharing?:*FairSharing
LocalQueueStatus
  conditions?:[]Condition pendingWorkloads:int32 reservingWorkloads:int32 admittedWorkloads:int32
  flavorsReservation?:[]LocalQueueFlavorUsage flavorsUsage?:[]LocalQueueFlavorUsage
  fairSharing?:*LocalQueueFairSharingStatus
MultiKueueCluster
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?!:MultiKueueClusterSpec
  status?:MultiKueueClusterStatus
MultiKueueClusterSpec
  clusterSource?:ClusterSource
MultiKueueClusterStatus
  conditions?:[]Condition
PodSet
  name?:string template?:PodTemplateSpec count:int32 minCount?:*int32
  topologyRequest?:*PodSetTopologyRequest
PodSetAssignment
  name:string flavors?:{}string resourceUsage?:{}Quantity count?:*int32
  topologyAssignment?:*TopologyAssignment delayedTopologyRequest?:*string
PodSetRequest
  name:string resources?:{}Quantity
PodSetTopologyRequest
  required?:*string preferred?:*string unconstrained?:*bool podIndexLabel?:*string
  subGroupIndexLabel?:*string subGroupCount?:*int32 podSetGroupName?:*string
  podSetSliceRequiredTopology?:*string podSetSliceSize?:*int32
  podsetSliceRequiredTopologyConstraints?:[]PodsetSliceRequiredTopologyConstraint
PodSetUpdate
  name:string labels?:{}string annotations?:{}string nodeSelector?:{}string
  tolerations?:[]Toleration
PodsetSliceRequiredTopologyConstraint
  topology?:string size?:int32
PreemptionGate
  name:string
PreemptionGateState
  name:string position?:string lastTransitionTime?!:Time
PriorityClassRef
  group?:string kind?:string name?:string
ReclaimablePod
  name:string count:int32
RequeueState
  count?:*int32 requeueAt?:*Time
ResourceFlavor
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?:ResourceFlavorSpec
ResourceFlavorSpec
  nodeLabels?:{}string nodeTaints?:[]Taint tolerations?:[]Toleration topologyName?:*string
ResourceGroup
  coveredResources?:[]string flavors?:[]FlavorQuotas
ResourceQuota
  name?:string nominalQuota?:Quantity borrowingLimit?:*Quantity lendingLimit?:*Quantity
ResourceUsage
  name?:string total?:Quantity borrowed?:Quantity
SchedulingStats
  evictions?:[]WorkloadSchedulingStatsEviction
TopologyAssignment
  levels?:[]string slices?:[]TopologyAssignmentSlice
TopologyAssignmentSlice
  domainCount?:int32 valuesPerLevel?:[]TopologyAssignmentSliceLevelValues
  podCounts?:TopologyAssignmentSlicePodCounts
TopologyAssignmentSliceLevelIndividualValues
  prefix?:*string suffix?:*string roots?:[]string
TopologyAssignmentSliceLevelValues
  universal?:*string individual?:*TopologyAssignmentSliceLevelIndividualValues
TopologyAssignmentSlicePodCounts
  universal?:*int32 individual?:[]int32
UnhealthyNode
  name:string
Workload
  kind?:string apiVersion?:string metadata?:ObjectMeta spec:WorkloadSpec status?:WorkloadStatus
WorkloadSchedulingStatsEviction
  reason:string underlyingCause:string count:int32
WorkloadSpec
  podSets:[]PodSet queueName?:string priorityClassRef?:*PriorityClassRef priority?:*int32
  active?:*bool maximumExecutionTimeSeconds?:*int32 preemptionGates?:[]PreemptionGate
WorkloadStatus
  conditions?:[]Condition admission?:*Admission requeueState?:*RequeueState
  reclaimablePods?:[]ReclaimablePod admissionChecks?:[]AdmissionCheckState
  resourceRequests?:[]PodSetRequest accumulatedPastExecutionTimeSeconds?:*int32
  schedulingStats?:*SchedulingStats nominatedClusterNames?:[]string clusterName?:*string
  unhealthyNodes?:[]UnhealthyNode preemptionGates?:[]PreemptionGateState
v1beta1.Admission
  clusterQueue:string podSetAssignments:[]v1beta1.PodSetAssignment
v1beta1.AdmissionCheckState
  name:string state:string lastTransitionTime:Time message:string requeueAfterSeconds?:*int32
  retryCount?:*int32 podSetUpdates?:[]PodSetUpdate
v1beta1.AdmissionCheckStrategyRule
  name:string onFlavors?:[]string
v1beta1.AdmissionChecksStrategy
  admissionChecks?:[]v1beta1.AdmissionCheckStrategyRule
v1beta1.AdmissionFairSharingStatus
  consumedResources:{}Quantity lastUpdate:Time
v1beta1.AdmissionScope
  admissionMode:string
v1beta1.ClusterQueue
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?:v1beta1.ClusterQueueSpec
  status?:v1beta1.ClusterQueueStatus
v1beta1.ClusterQueuePendingWorkload
  name:string namespace:string
v1beta1.ClusterQueuePendingWorkloadsStatus
  clusterQueuePendingWorkload:[]v1beta1.ClusterQueuePendingWorkload lastChangeTime:Time
v1beta1.ClusterQueueSpec
  resourceGroups?:[]v1beta1.ResourceGroup cohort?:string queueingStrategy?:string
  namespaceSelector?:*LabelSelector flavorFungibility?:*FlavorFungibility
  preemption?:*ClusterQueuePreemption admissionChecks?:[]string
  admissionChecksStrategy?:*v1beta1.AdmissionChecksStrategy stopPolicy?:*string
  fairSharing?:*FairSharing admissionScope?:*v1beta1.AdmissionScope
v1beta1.ClusterQueueStatus
  conditions?:[]Condition flavorsReservation:[]v1beta1.FlavorUsage
  flavorsUsage:[]v1beta1.FlavorUsage pendingWorkloads:int32 reservingWorkloads:int32
  admittedWorkloads:int32 pendingWorkloadsStatus:*v1beta1.ClusterQueuePendingWorkloadsStatus
  fairSharing?:*v1beta1.FairSharingStatus
v1beta1.Cohort
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?:v1beta1.CohortSpec
  status?:v1beta1.CohortStatus
v1beta1.CohortSpec
  parentName?:string resourceGroups?:[]v1beta1.ResourceGroup fairSharing?:*FairSharing
v1beta1.CohortStatus
  fairSharing?:*v1beta1.FairSharingStatus
v1beta1.FairSharingStatus
  weightedShare:int64 admissionFairSharingStatus?:*v1beta1.AdmissionFairSharingStatus
v1beta1.FlavorQuotas
  name:string resources:[]v1beta1.ResourceQuota
v1beta1.FlavorUsage
  name:string resources:[]v1beta1.ResourceUsage
v1beta1.KubeConfig
  location:string locationType:string
v1beta1.LocalQueue
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?:LocalQueueSpec
  status?:v1beta1.LocalQueueStatus
v1beta1.LocalQueueFlavorStatus
  name:string resources?:[]string nodeLabels?:{}string nodeTaints?:[]Taint
  topology?:*v1beta1.TopologyInfo
v1beta1.LocalQueueFlavorUsage
  name:string resources:[]v1beta1.LocalQueueResourceUsage
v1beta1.LocalQueueResourceUsage
  name:string total?:Quantity
v1beta1.LocalQueueStatus
  conditions?:[]Condition pendingWorkloads:int32 reservingWorkloads:int32 admittedWorkloads:int32
  flavorsReservation:[]v1beta1.LocalQueueFlavorUsage flavorUsage:[]v1beta1.LocalQueueFlavorUsage
  flavors?:[]v1beta1.LocalQueueFlavorStatus fairSharing?:*v1beta1.FairSharingStatus
v1beta1.MultiKueueCluster
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?:v1beta1.MultiKueueClusterSpec
  status?:MultiKueueClusterStatus
v1beta1.MultiKueueClusterSpec
  kubeConfig:v1beta1.KubeConfig clusterProfileRef?:*ClusterProfileReference
v1beta1.PodSet
  name?:string template:PodTemplateSpec count:int32 minCount?:*int32
  topologyRequest?:*v1beta1.PodSetTopologyRequest
v1beta1.PodSetAssignment
  name:string flavors?:{}string resourceUsage?:{}Quantity count?:*int32
  topologyAssignment?:*v1beta1.TopologyAssignment delayedTopologyRequest?:*string
v1beta1.PodSetTopologyRequest
  required?:*string preferred?:*string unconstrained?:*bool podIndexLabel?:*string
  subGroupIndexLabel?:*string subGroupCount?:*int32 podSetGroupName?:*string
  podSetSliceRequiredTopology?:*string podSetSliceSize?:*int32
v1beta1.ResourceGroup
  coveredResources:[]string flavors:[]v1beta1.FlavorQuotas
v1beta1.ResourceQuota
  name:string nominalQuota:Quantity borrowingLimit?:*Quantity lendingLimit?:*Quantity
v1beta1.ResourceUsage
  name:string total?:Quantity borrowed?:Quantity
v1beta1.TopologyAssignment
  levels:[]string domains:[]v1beta1.TopologyDomainAssignment
v1beta1.TopologyDomainAssignment
  values:[]string count:int32
v1beta1.TopologyInfo
  name:string levels:[]string
v1beta1.Workload
  kind?:string apiVersion?:string metadata?:ObjectMeta spec?:v1beta1.WorkloadSpec
  status?:v1beta1.WorkloadStatus
v1beta1.WorkloadSpec
  podSets:[]v1beta1.PodSet queueName?:string priorityClassName?:string priority?:*int32
  priorityClassSource?:string active?:*bool maximumExecutionTimeSeconds?:*int32
v1beta1.WorkloadStatus
  conditions?:[]Condition admission?:*v1beta1.Admission requeueState?:*RequeueState
  reclaimablePods?:[]ReclaimablePod admissionChecks?:[]v1beta1.AdmissionCheckState
  resourceRequests?:[]PodSetRequest accumulatedPastExexcutionTimeSeconds?:*int32
  schedulingStats?:*SchedulingStats nominatedClusterNames?:[]string clusterName?:*string
  unhealthyNodes?:[]UnhealthyNode
)";

}  // namespace regatta::webhooks
