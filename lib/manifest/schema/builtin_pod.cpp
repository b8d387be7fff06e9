#include "lib/manifest/schema/builtin_types.h"

namespace regatta::manifest {

const std::string_view builtin_pod_text = R"(
package io.k8s.api.core.v1
kind Pod group= version=v1 -- Containers that run together on one node.
  spec PodSpec -- What is wanted.
  status PodStatus -- What is observed; written by the system.
type PodTemplateSpec -- What pods made from a template look like.
  metadata ObjectMeta
  spec PodSpec
kind PodTemplate group= version=v1 -- A template for pods.
  template PodTemplateSpec
type PodSpec -- Desired behaviour of a pod.
  volumes []Volume map=name merge,retainKeys=name -- Volumes that containers can mount.
  initContainers []Container map=name merge=name
  containers []Container ! map=name merge=name -- At least one.
  ephemeralContainers []EphemeralContainer map=name merge=name
  restartPolicy string -- Always, OnFailure or Never.
  terminationGracePeriodSeconds int64 -- Time the pod gets to stop by itself.
  activeDeadlineSeconds int64
  dnsPolicy string
  nodeSelector {}string atomic -- Labels the node must have.
  serviceAccountName string
  serviceAccount string
  automountServiceAccountToken bool
  nodeName string -- The node the pod runs on.
  hostNetwork bool
  hostPID bool
  hostIPC bool
  shareProcessNamespace bool
  securityContext PodSecurityContext
  imagePullSecrets []LocalObjectReference map=name merge=name
  hostname string
  subdomain string
  affinity Affinity
  schedulerName string
  tolerations []Toleration atomic -- Taints the pod accepts.
  hostAliases []HostAlias map=ip merge=ip
  priorityClassName string
  priority int32
  dnsConfig PodDNSConfig
  readinessGates []PodReadinessGate atomic
  runtimeClassName string
  enableServiceLinks bool
  preemptionPolicy string
  overhead {}quantity
  topologySpreadConstraints []TopologySpreadConstraint map=topologyKey,whenUnsatisfiable +
    merge=topologyKey
  setHostnameAsFQDN bool
  os PodOS
  hostUsers bool
  schedulingGates []PodSchedulingGate map=name merge=name
  resourceClaims []PodResourceClaim map=name merge,retainKeys=name
  resources ResourceRequirements
  hostnameOverride string
  schedulingGroup PodSchedulingGroup
type PodSchedulingGroup
  podGroupName string
type PodOS
  name string !
type PodSchedulingGate
  name string !
type PodReadinessGate
  conditionType string !
type PodResourceClaim
  name string !
  resourceClaimName string
  resourceClaimTemplateName string
type HostAlias
  ip string !
  hostnames []string atomic
type PodDNSConfig
  nameservers []string atomic
  searches []string atomic
  options []PodDNSConfigOption atomic
type PodDNSConfigOption
  name string
  value string
type LocalObjectReference atomic
  name string default=""
type TopologySpreadConstraint
  maxSkew int32 !
  topologyKey string !
  whenUnsatisfiable string !
  labelSelector LabelSelector
  minDomains int32
  nodeAffinityPolicy string
  nodeTaintsPolicy string
  matchLabelKeys []string atomic
type Toleration -- Accepts taints that match.
  key string
  operator string
  value string
  effect string
  tolerationSeconds int64
type Affinity
  nodeAffinity NodeAffinity
  podAffinity PodAffinity
  podAntiAffinity PodAntiAffinity
type NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm atomic
type NodeSelector atomic -- Terms of which one must match a node.
  nodeSelectorTerms []NodeSelectorTerm ! atomic
type NodeSelectorTerm atomic
  matchExpressions []NodeSelectorRequirement atomic
  matchFields []NodeSelectorRequirement atomic
type NodeSelectorRequirement
  key string !
  operator string !
  values []string atomic
type PreferredSchedulingTerm
  weight int32 !
  preference NodeSelectorTerm !
type PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm atomic
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm atomic
type PodAntiAffinity
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm atomic
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm atomic
type PodAffinityTerm
  labelSelector LabelSelector
  namespaces []string atomic
  topologyKey string !
  namespaceSelector LabelSelector
  matchLabelKeys []string atomic
  mismatchLabelKeys []string atomic
type WeightedPodAffinityTerm
  weight int32 !
  podAffinityTerm PodAffinityTerm !
type PodSecurityContext
  seLinuxOptions SELinuxOptions
  windowsOptions WindowsSecurityContextOptions
  runAsUser int64
  runAsGroup int64
  runAsNonRoot bool
  supplementalGroups []int64 atomic
  supplementalGroupsPolicy string
  fsGroup int64
  sysctls []Sysctl atomic
  fsGroupChangePolicy string
  seccompProfile SeccompProfile
  appArmorProfile AppArmorProfile
  seLinuxChangePolicy string
type Sysctl
  name string !
  value string !
type SELinuxOptions
  user string
  role string
  type string
  level string
type SeccompProfile
  type string !
  localhostProfile string
type AppArmorProfile
  type string !
  localhostProfile string
type WindowsSecurityContextOptions
  gmsaCredentialSpecName string
  gmsaCredentialSpec string
  runAsUserName string
  hostProcess bool
type Container -- One container of a pod.
  name string !
  image string
  command []string atomic
  args []string atomic
  workingDir string
  ports []ContainerPort map=containerPort,protocol merge=containerPort
  envFrom []EnvFromSource atomic
  env []EnvVar map=name merge=name
  resources ResourceRequirements
  resizePolicy []ContainerResizePolicy atomic
  restartPolicy string
  restartPolicyRules []ContainerRestartRule atomic
  volumeMounts []VolumeMount map=mountPath merge=mountPath
  volumeDevices []VolumeDevice map=devicePath merge=devicePath
  livenessProbe Probe
  readinessProbe Probe
  startupProbe Probe
  lifecycle Lifecycle
  terminationMessagePath string
  terminationMessagePolicy string
  imagePullPolicy string
  securityContext SecurityContext
  stdin bool
  stdinOnce bool
  tty bool
type EphemeralContainer
  name string !
  image string
  command []string atomic
  args []string atomic
  workingDir string
  ports []ContainerPort map=containerPort,protocol merge=containerPort
  envFrom []EnvFromSource atomic
  env []EnvVar map=name merge=name
  resources ResourceRequirements
  resizePolicy []ContainerResizePolicy atomic
  restartPolicy string
  restartPolicyRules []ContainerRestartRule atomic
  volumeMounts []VolumeMount map=mountPath merge=mountPath
  volumeDevices []VolumeDevice map=devicePath merge=devicePath
  livenessProbe Probe
  readinessProbe Probe
  startupProbe Probe
  lifecycle Lifecycle
  terminationMessagePath string
  terminationMessagePolicy string
  imagePullPolicy string
  securityContext SecurityContext
  stdin bool
  stdinOnce bool
  tty bool
  targetContainerName string
type ContainerRestartRule
  action string !
  exitCodes ContainerRestartRuleOnExitCodes
type ContainerRestartRuleOnExitCodes
  operator string !
  values []int32 set
type ContainerPort
  name string
  hostPort int32
  containerPort int32 !
  protocol string default="TCP"
  hostIP string
type EnvFromSource
  prefix string
  configMapRef ConfigMapEnvSource
  secretRef SecretEnvSource
type ConfigMapEnvSource
  name string default=""
  optional bool
type SecretEnvSource
  name string default=""
  optional bool
type EnvVar
  name string !
  value string
  valueFrom EnvVarSource
type EnvVarSource
  fieldRef ObjectFieldSelector
  resourceFieldRef ResourceFieldSelector
  configMapKeyRef ConfigMapKeySelector
  secretKeyRef SecretKeySelector
  fileKeyRef FileKeySelector
type FileKeySelector atomic
  volumeName string !
  path string !
  key string !
  optional bool default=false
type ObjectFieldSelector atomic
  apiVersion string
  fieldPath string !
type ResourceFieldSelector atomic
  containerName string
  resource string !
  divisor quantity
type ConfigMapKeySelector atomic
  name string default=""
  key string !
  optional bool
type SecretKeySelector atomic
  name string default=""
  key string !
  optional bool
type ResourceRequirements -- Compute resources asked for and allowed.
  limits {}quantity -- The most that may be used.
  requests {}quantity -- The least that is needed.
  claims []ResourceClaim map=name
type ResourceClaim
  name string !
  request string
type ContainerResizePolicy
  resourceName string !
  restartPolicy string !
type VolumeMount
  name string !
  readOnly bool
  recursiveReadOnly string
  mountPath string !
  subPath string
  mountPropagation string
  subPathExpr string
type VolumeDevice
  name string !
  devicePath string !
type Probe
  exec ExecAction
  httpGet HTTPGetAction
  tcpSocket TCPSocketAction
  grpc GRPCAction
  initialDelaySeconds int32
  timeoutSeconds int32
  periodSeconds int32
  successThreshold int32
  failureThreshold int32
  terminationGracePeriodSeconds int64
type ExecAction
  command []string atomic
type HTTPGetAction
  path string
  port intstr !
  host string
  scheme string
  httpHeaders []HTTPHeader atomic
type HTTPHeader
  name string !
  value string !
type TCPSocketAction
  port intstr !
  host string
type GRPCAction
  port int32 !
  service string default=""
type Lifecycle
  postStart LifecycleHandler
  preStop LifecycleHandler
  stopSignal string
type LifecycleHandler
  exec ExecAction
  httpGet HTTPGetAction
  tcpSocket TCPSocketAction
  sleep SleepAction
type SleepAction
  seconds int64 !
type SecurityContext
  capabilities Capabilities
  privileged bool
  seLinuxOptions SELinuxOptions
  windowsOptions WindowsSecurityContextOptions
  runAsUser int64
  runAsGroup int64
  runAsNonRoot bool
  readOnlyRootFilesystem bool
  allowPrivilegeEscalation bool
  procMount string
  seccompProfile SeccompProfile
  appArmorProfile AppArmorProfile
type Capabilities
  add []string atomic
  drop []string atomic
type Volume
  name string !
  hostPath HostPathVolumeSource
  emptyDir EmptyDirVolumeSource
  gcePersistentDisk any
  awsElasticBlockStore any
  gitRepo any
  secret SecretVolumeSource
  nfs NFSVolumeSource
  iscsi any
  glusterfs any
  persistentVolumeClaim PersistentVolumeClaimVolumeSource
  rbd any
  flexVolume any
  cinder any
  cephfs any
  flocker any
  downwardAPI DownwardAPIVolumeSource
  fc any
  azureFile any
  configMap ConfigMapVolumeSource
  vsphereVolume any
  quobyte any
  azureDisk any
  photonPersistentDisk any
  projected ProjectedVolumeSource
  portworxVolume any
  scaleIO any
  storageos any
  csi CSIVolumeSource
  ephemeral EphemeralVolumeSource
  image ImageVolumeSource
type HostPathVolumeSource
  path string !
  type string
type EmptyDirVolumeSource
  medium string
  sizeLimit quantity
type SecretVolumeSource
  secretName string
  items []KeyToPath atomic
  defaultMode int32
  optional bool
type KeyToPath
  key string !
  path string !
  mode int32
type NFSVolumeSource
  server string !
  path string !
  readOnly bool
type PersistentVolumeClaimVolumeSource
  claimName string !
  readOnly bool
type DownwardAPIVolumeSource
  items []DownwardAPIVolumeFile atomic
  defaultMode int32
type DownwardAPIVolumeFile
  path string !
  fieldRef ObjectFieldSelector
  resourceFieldRef ResourceFieldSelector
  mode int32
type ConfigMapVolumeSource
  name string default=""
  items []KeyToPath atomic
  defaultMode int32
  optional bool
type ProjectedVolumeSource
  sources []VolumeProjection atomic
  defaultMode int32
type VolumeProjection
  secret SecretProjection
  downwardAPI DownwardAPIProjection
  configMap ConfigMapProjection
  serviceAccountToken ServiceAccountTokenProjection
  clusterTrustBundle any
  podCertificate any
type SecretProjection
  name string default=""
  items []KeyToPath atomic
  optional bool
type DownwardAPIProjection
  items []DownwardAPIVolumeFile atomic
type ConfigMapProjection
  name string default=""
  items []KeyToPath atomic
  optional bool
type ServiceAccountTokenProjection
  audience string
  expirationSeconds int64
  path string !
type CSIVolumeSource
  driver string !
  readOnly bool
  fsType string
  volumeAttributes {}string
  nodePublishSecretRef LocalObjectReference
type EphemeralVolumeSource
  volumeClaimTemplate PersistentVolumeClaimTemplate
type PersistentVolumeClaimTemplate
  metadata ObjectMeta
  spec PersistentVolumeClaimSpec !
type ImageVolumeSource
  reference string
  pullPolicy string
type PodStatus -- Observed state of a pod.
  observedGeneration int64
  phase string -- Pending, Running, Succeeded, Failed or Unknown.
  conditions []PodCondition map=type merge=type
  message string
  reason string
  nominatedNodeName string
  hostIP string
  hostIPs []HostIP atomic merge=ip
  podIP string
  podIPs []PodIP map=ip merge=ip
  startTime time
  initContainerStatuses []ContainerStatus atomic
  containerStatuses []ContainerStatus atomic
  qosClass string
  ephemeralContainerStatuses []ContainerStatus atomic
  resize string
  resourceClaimStatuses []PodResourceClaimStatus map=name merge,retainKeys=name
  extendedResourceClaimStatus any
  allocatedResources {}quantity
  resources ResourceRequirements
type PodCondition
  type string !
  observedGeneration int64
  status string !
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
type HostIP
  ip string !
type PodIP
  ip string !
type PodResourceClaimStatus
  name string !
  resourceClaimName string
type ContainerStatus
  name string !
  state ContainerState
  lastState ContainerState
  ready bool !
  restartCount int32 !
  image string !
  imageID string !
  containerID string
  started bool
  allocatedResources {}quantity
  resources ResourceRequirements
  volumeMounts []VolumeMountStatus map=mountPath merge=mountPath
  user any
  allocatedResourcesStatus []any atomic
  stopSignal string
type VolumeMountStatus
  name string !
  mountPath string !
  readOnly bool
  recursiveReadOnly string
  volumeStatus any
type ContainerState
  waiting ContainerStateWaiting
  running ContainerStateRunning
  terminated ContainerStateTerminated
type ContainerStateWaiting
  reason string
  message string
type ContainerStateRunning
  startedAt time
type ContainerStateTerminated
  exitCode int32 !
  signal int32
  reason string
  message string
  startedAt time
  finishedAt time
  containerID string
)";

}  // namespace regatta::manifest
