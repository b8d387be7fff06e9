#include "webhooks/shape_listings.h"

namespace regatta::webhooks {

/// Of config.kueue.x-k8s.io: v1beta2, and those of v1beta1 that differ. The last members of
/// ControllerMetrics, ControllerWebhook, Integrations, InternalCertManagement and MultiKueue are
/// Regatta's own.
constinit const std::string_view config_shapes = R"(
config.AdmissionFairSharing
  usageHalfLifeTime:Duration usageSamplingInterval:Duration resourceWeights?:{}float64
config.CELDeviceSelector
  expression:string
config.ClientConnection
  qps?:*float32 burst?:*int32
config.ClusterProfile
  accessProviders?:[]config.ClusterProfileAccessProvider
  credentialsProviders?:[]config.ClusterProfileAccessProvider
config.ClusterProfileAccessProvider
  name:string execConfig:config.ExecConfig
config.ClusterQueueVisibility
  maxCount?:int32
config.Configuration
  kind?:string apiVersion?:string namespace?:*string webhook?:config.ControllerWebhook
  leaderElection?:*config.LeaderElection metrics?:config.ControllerMetrics
  health?:config.ControllerHealth pprofBindAddress?:string controller?:*config.Controller
  tls?:*config.TLSOptions manageJobsWithoutQueueName:bool
  managedJobsNamespaceSelector?:*LabelSelector
  internalCertManagement?:*config.InternalCertManagement waitForPodsReady?:*config.WaitForPodsReady
  clientConnection?:*config.ClientConnection integrations?:*config.Integrations
  multiKueue?:*config.MultiKueue fairSharing?:*config.FairSharing
  admissionFairSharing?:*config.AdmissionFairSharing resources?:*config.Resources
  featureGates?:{}bool objectRetentionPolicies?:*config.ObjectRetentionPolicies
  visibilityServer?:*config.VisibilityServer
config.Controller
  groupKindConcurrency?:{}int64 cacheSyncTimeout?:*int64
config.ControllerHealth
  healthProbeBindAddress?:string readinessEndpointName?:string livenessEndpointName?:string
config.ControllerMetrics
  bindAddress?:string enableClusterQueueResources?:bool customLabels?:[]config.CustomLabel
  localQueueMetrics?:*config.LocalQueueMetrics secureServing?:*bool certDir?:string
config.ControllerWebhook
  port?:*int64 host?:string certDir?:string clientCAName?:string
config.CustomLabel
  name:string sourceLabelKey?:string sourceAnnotationKey?:string sourceKind?:*string
  trackedValues?:[]string
config.DescribedKind
  apiVersion?:string kind?:string resource?:string podSets?:[]config.DescribedPodSet
  suspend?:string managedBy?:string status?:config.DescribedStatus remoteStatus?:string
  finalStatus?:config.DescribedFinalStatus
config.DescribedFinalStatus
  succeeded?:Raw failed?:Raw
config.DescribedPodSet
  name?:string template?:string optional?:bool count?:*IntOrString reclaimable?:string
config.DescribedStatus
  finished?:string success?:string message?:string active?:string podsReady?:string
config.DeviceClassMapping
  name:string deviceClassNames:[]string sources?:[]config.DeviceClassSource
config.DeviceClassSource
  counter?:*config.DeviceSource capacity?:*config.DeviceSource
config.DeviceSelector
  cel?:*config.CELDeviceSelector
config.DeviceSource
  name:string driver:string deviceSelector:config.DeviceSelector
config.ExecConfig
  command:string args:[]string env:[]config.ExecEnvVar apiVersion?:string installHint?:string
  provideClusterInfo:bool interactiveMode?:string
config.ExecEnvVar
  name:string value:string
config.FairSharing
  preemptionStrategies:[]string
config.IncrementalDispatcherConfig
  stepSize?:*int32
config.Integrations
  frameworks?:[]string externalFrameworks?:[]string labelKeysToCopy?:[]string
  describedKinds?:[]config.DescribedKind
config.InternalCertManagement
  enable?:*bool webhookServiceName?:*string webhookSecretName?:*string validFor?:*Duration
config.LeaderElection
  leaderElect:*bool leaseDuration:Duration renewDeadline:Duration retryPeriod:Duration
  resourceLock:string resourceName:string resourceNamespace:string
config.LocalQueueMetrics
  enable?:bool localQueueSelector?:*LabelSelector
config.ManagedClusters
  accounts?:*string connection?:*string account?:*string tokenValidity?:*Duration
  proxyURL?:*string proxyCAConfigMap?:*string selector?:*LabelSelector
config.MultiKueue
  gcInterval:*Duration origin?:*string workerLostTimeout?:*Duration dispatcherName?:*string
  externalFrameworks?:[]config.MultiKueueExternalFramework clusterProfile?:*config.ClusterProfile
  incrementalDispatcherConfig?:*config.IncrementalDispatcherConfig
  dispatchTimeout?:*Duration dispatchAttempts?:*int64 workerLimits?:*config.WorkerLimits
  removalBrake?:*config.RemovalBrake managedClusters?:*config.ManagedClusters
config.MultiKueueExternalFramework
  name:string
config.ObjectRetentionPolicies
  workloads?:*config.WorkloadRetention
config.PodOptions
  namespaceSelector?:*LabelSelector podSelector?:*LabelSelector
config.QueueVisibility
  clusterQueues?:*config.ClusterQueueVisibility updateIntervalSeconds?:int32
config.RemovalBrake
  sharePercent?:*int64 atLeast?:*int64
config.RequeuingStrategy
  timestamp?:*string backoffLimitCount?:*int32 backoffBaseSeconds?:*int32
  backoffMaxSeconds?:*int32
config.ResourceTransformation
  input:string strategy?:*string multiplyBy?:string outputs?:{}Quantity
config.Resources
  quotaCheckStrategy?:*string excludeResourcePrefixes?:[]string
  transformations?:[]config.ResourceTransformation
  deviceClassMappings?:[]config.DeviceClassMapping
config.TLSOptions
  minVersion?:string cipherSuites?:[]string curvePreferences?:[]int32
config.VisibilityServer
  bindAddress?:*string bindPort?:*int32
config.WaitForPodsReady
  timeout:Duration blockAdmission?:*bool requeuingStrategy?:*config.RequeuingStrategy
  recoveryTimeout?:*Duration
config.WorkerLimits
  objects?:*int64 bytes?:*int64 pages?:*int64
config.WorkloadRetention
  afterFinished?:*Duration afterDeactivatedByKueue?:*Duration
config.v1beta1.Configuration
  kind?:string apiVersion?:string namespace?:*string webhook?:config.ControllerWebhook
  leaderElection?:*config.LeaderElection metrics?:config.v1beta1.ControllerMetrics
  health?:config.ControllerHealth pprofBindAddress?:string controller?:*config.Controller
  tls?:*config.TLSOptions manageJobsWithoutQueueName:bool
  managedJobsNamespaceSelector?:*LabelSelector
  internalCertManagement?:*config.InternalCertManagement
  waitForPodsReady?:*config.v1beta1.WaitForPodsReady clientConnection?:*config.ClientConnection
  integrations?:*config.v1beta1.Integrations queueVisibility?:*config.QueueVisibility
  multiKueue?:*config.v1beta1.MultiKueue fairSharing?:*config.v1beta1.FairSharing
  admissionFairSharing?:*config.AdmissionFairSharing resources?:*config.v1beta1.Resources
  featureGates?:{}bool objectRetentionPolicies?:*config.ObjectRetentionPolicies
config.v1beta1.ControllerMetrics
  bindAddress?:string enableClusterQueueResources?:bool customLabels?:[]config.v1beta1.CustomLabel
  localQueueMetrics?:*config.LocalQueueMetrics secureServing?:*bool certDir?:string
config.v1beta1.CustomLabel
  name:string sourceLabelKey?:string sourceAnnotationKey?:string
config.v1beta1.DeviceClassMapping
  name:string deviceClassNames:[]string
config.v1beta1.FairSharing
  enable:bool preemptionStrategies?:[]string
config.v1beta1.Integrations
  frameworks?:[]string externalFrameworks?:[]string podOptions?:*config.PodOptions
  labelKeysToCopy?:[]string describedKinds?:[]config.DescribedKind
config.v1beta1.MultiKueue
  gcInterval:*Duration origin?:*string workerLostTimeout?:*Duration dispatcherName?:*string
  externalFrameworks?:[]config.MultiKueueExternalFramework
  dispatchTimeout?:*Duration dispatchAttempts?:*int64 workerLimits?:*config.WorkerLimits
  removalBrake?:*config.RemovalBrake managedClusters?:*config.ManagedClusters
config.v1beta1.Resources
  excludeResourcePrefixes?:[]string transformations?:[]config.ResourceTransformation
  deviceClassMappings?:[]config.v1beta1.DeviceClassMapping
config.v1beta1.WaitForPodsReady
  enable?:bool timeout?:*Duration blockAdmission?:*bool
  requeuingStrategy?:*config.RequeuingStrategy recoveryTimeout?:*Duration
)";

}  // namespace regatta::webhooks
