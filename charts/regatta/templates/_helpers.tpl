{{- define "regatta.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The beginning of every object's name. */}}
{{- define "regatta.fullname" -}}
{{- $name := include "regatta.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "regatta.selectorLabels" -}}
app.kubernetes.io/name: {{ include "regatta.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
control-plane: controller-manager
{{- end -}}

{{- define "regatta.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "regatta.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "regatta.serviceAccount" -}}
{{ include "regatta.fullname" . }}-controller-manager
{{- end -}}

{{- define "regatta.webhookService" -}}
{{ include "regatta.fullname" . }}-webhook-service
{{- end -}}

{{- define "regatta.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "regatta.serviceAccount" . }}
    namespace: {{ .Release.Namespace }}
{{- end -}}

{{/* The Configuration as the values have it, as YAML. */}}
{{- define "regatta.givenConfig" -}}
{{- $config := .Values.managerConfig.controllerManagerConfigYaml | fromYaml -}}
{{- with $config.Error -}}
{{- fail (printf "managerConfig.controllerManagerConfigYaml is no YAML object: %s" .) -}}
{{- end -}}
{{- $elects := dig "leaderElection" "leaderElect" true $config -}}
{{- if and (gt (int .Values.controllerManager.replicas) 1) (not $elects) -}}
{{- fail "controllerManager.replicas is more than 1, and leaderElection.leaderElect is false: two managers would act at once" -}}
{{- end -}}
{{- $config | toYaml -}}
{{- end -}}

{{/* The Configuration that the manager reads. */}}
{{- define "regatta.config" -}}
{{- $config := include "regatta.givenConfig" . | fromYaml -}}
{{- if and (include "regatta.certificates" .) (not $config.internalCertManagement) -}}
{{- $own := dict "enable" true
      "webhookServiceName" (include "regatta.webhookService" .)
      "webhookSecretName" (printf "%s-webhook-server-cert" (include "regatta.fullname" .)) -}}
{{- $_ := set $config "internalCertManagement" (.Values.enableCertManager | ternary (dict "enable" false) $own) -}}
{{- end -}}
{{- if not (or .Values.enableVisibility (hasKey (default dict $config.featureGates) "VisibilityOnDemand")) -}}
{{- $_ := set $config "featureGates" (merge (dict "VisibilityOnDemand" false) (default dict $config.featureGates)) -}}
{{- end -}}
{{- with include "regatta.managedClusters" . -}}
{{- $_ := set $config "multiKueue" (set (default dict $config.multiKueue) "managedClusters" (fromYaml .)) -}}
{{- end -}}
{{- if not .Values.metrics.secureServing -}}
{{- $_ := set $config "metrics" (set (default dict $config.metrics) "secureServing" false) -}}
{{- end -}}
{{- $config | toYaml -}}
{{- end -}}

{{/* The kinds of jobs that the Configuration lists, besides Jobs: name, group, version and plural; whether its
Pods are jobs, alone or in groups; a title that no other kind has, if the name may not be enough. */}}
{{- define "regatta.jobKinds" -}}
{{- $config := include "regatta.givenConfig" . | fromYaml -}}
{{- $listed := dig "integrations" "frameworks" list $config -}}
{{- $all := list
  (dict "framework" "deployment" "group" "apps" "version" "v1" "name" "deployment" "pods" "alone")
  (dict "framework" "jobset.x-k8s.io/jobset" "version" "v1alpha2" "name" "jobset")
  (dict "framework" "kubeflow.org/jaxjob" "version" "v1" "name" "jaxjob")
  (dict "framework" "kubeflow.org/mpijob" "version" "v2beta1" "name" "mpijob")
  (dict "framework" "kubeflow.org/paddlejob" "version" "v1" "name" "paddlejob")
  (dict "framework" "kubeflow.org/pytorchjob" "version" "v1" "name" "pytorchjob")
  (dict "framework" "kubeflow.org/tfjob" "version" "v1" "name" "tfjob")
  (dict "framework" "kubeflow.org/xgboostjob" "version" "v1" "name" "xgboostjob")
  (dict "framework" "leaderworkerset.x-k8s.io/leaderworkerset" "version" "v1" "name" "leaderworkerset" "pods" "groups")
  (dict "framework" "pod" "group" "" "version" "v1" "name" "pod")
  (dict "framework" "ray.io/raycluster" "version" "v1" "name" "raycluster")
  (dict "framework" "ray.io/rayjob" "version" "v1" "name" "rayjob" "runtimes" (list "rayclusters"))
  (dict "framework" "ray.io/rayservice" "version" "v1" "name" "rayservice" "runtimes" (list "rayclusters"))
  (dict "framework" "sparkoperator.k8s.io/sparkapplication" "version" "v1beta2" "name" "sparkapplication")
  (dict "framework" "statefulset" "group" "apps" "version" "v1" "name" "statefulset" "pods" "groups")
  (dict "framework" "trainer.kubeflow.org/trainjob" "version" "v1alpha1" "name" "trainjob" "runtimes" (list "trainingruntimes" "clustertrainingruntimes"))
  (dict "framework" "workload.codeflare.dev/appwrapper" "version" "v1beta2" "name" "appwrapper")
-}}
{{- $kinds := list -}}
{{- /* What acts through Pods needs them. */ -}}
{{- range list "deployment" "leaderworkerset.x-k8s.io/leaderworkerset" "statefulset" -}}
{{- if has . $listed -}}
{{- $listed = append $listed "pod" -}}
{{- end -}}
{{- end -}}
{{- range $all -}}
{{- if has .framework $listed -}}
{{- $group := hasKey . "group" | ternary .group (.framework | splitList "/" | first) -}}
{{- $kind := dict "name" .name "group" $group "version" .version "plural" (printf "%ss" .name) "runtimes" .runtimes "pods" .pods -}}
{{- $kinds = append $kinds $kind -}}
{{- end -}}
{{- end -}}
{{- range dig "integrations" "describedKinds" list $config -}}
{{- $name := lower .kind -}}
{{- $group := splitList "/" .apiVersion | first -}}
{{- if has (printf "%s/%s" $group $name) $listed -}}
{{- $version := splitList "/" .apiVersion | last -}}
{{- $title := printf "%s.%s" $name $group -}}
{{- $kinds = append $kinds (dict "name" $name "group" $group "version" $version "plural" .resource "title" $title) -}}
{{- end -}}
{{- end -}}
{{- dict "kinds" $kinds | toYaml -}}
{{- end -}}

{{/* The kinds that other controllers manage, as the Configuration lists them, "Kind.version.group": group and plural;
whether their objects are sent to workers. The manager takes the plural for a regular one, too. */}}
{{- define "regatta.externalKinds" -}}
{{- $config := include "regatta.givenConfig" . | fromYaml -}}
{{- $sent := list -}}
{{- range dig "multiKueue" "externalFrameworks" list $config -}}
{{- $sent = append $sent .name -}}
{{- end -}}
{{- $kinds := list -}}
{{- range concat $sent (dig "integrations" "externalFrameworks" list $config) | uniq -}}
{{- $parts := splitn "." 3 . -}}
{{- $plural := printf "%ss" (lower $parts._0) -}}
{{- if hasSuffix "s" (lower $parts._0) -}}
{{- $plural = printf "%ses" (lower $parts._0) -}}
{{- else if hasSuffix "y" (lower $parts._0) -}}
{{- $plural = printf "%sies" (lower $parts._0 | trimSuffix "y") -}}
{{- end -}}
{{- $kinds = append $kinds (dict "group" $parts._2 "plural" $plural "sent" (has . $sent)) -}}
{{- end -}}
{{- dict "kinds" $kinds | toYaml -}}
{{- end -}}

{{/* Where Secrets with kubeconfigs are. */}}
{{- define "regatta.systemNamespace" -}}
{{- (include "regatta.givenConfig" . | fromYaml).namespace | default .Release.Namespace -}}
{{- end -}}

{{/* "true" when the feature gate is on: .gate its name, .default, .root. */}}
{{- define "regatta.gate" -}}
{{- $gate := .gate -}}
{{- $config := include "regatta.givenConfig" .root | fromYaml -}}
{{- $on := dig "featureGates" $gate .default $config -}}
{{- range .root.Values.controllerManager.featureGates -}}
{{- if eq .name $gate -}}
{{- $on = .enabled -}}
{{- end -}}
{{- end -}}
{{- if $on -}}true{{- end -}}
{{- end -}}

{{/* "true" when the cluster may be a hub. */}}
{{- define "regatta.multiKueue" -}}
{{- include "regatta.gate" (dict "root" . "gate" "MultiKueue" "default" true) -}}
{{- end -}}

{{/* "true" when workers may come from ClusterProfiles. */}}
{{- define "regatta.clusterProfiles" -}}
{{- if include "regatta.multiKueue" . -}}
{{- include "regatta.gate" (dict "root" . "gate" "MultiKueueClusterProfile" "default" false) -}}
{{- end -}}
{{- end -}}

{{/* multiKueue.managedClusters of the Configuration, or of the values, as YAML; empty: there are no such workers. */}}
{{- define "regatta.managedClusters" -}}
{{- $config := include "regatta.givenConfig" . | fromYaml -}}
{{- $multi := default dict $config.multiKueue -}}
{{- if hasKey $multi "managedClusters" -}}
{{- merge (default dict $multi.managedClusters | deepCopy) (dict "accounts" "Use") | toYaml -}}
{{- else if .Values.managedClusters.enabled -}}
{{- merge (default dict .Values.managedClusters.settings | deepCopy) (dict "accounts" "Use") | toYaml -}}
{{- end -}}
{{- end -}}

{{/* Where the Lease is. */}}
{{- define "regatta.leaseNamespace" -}}
{{- $config := include "regatta.givenConfig" . | fromYaml -}}
{{- dig "leaderElection" "resourceNamespace" "" $config | default (include "regatta.systemNamespace" .) -}}
{{- end -}}

{{/* The port of an address like ":8081"; empty when it is switched off. */}}
{{- define "regatta.port" -}}
{{- $port := .address | toString | splitList ":" | last -}}
{{- if ne $port "0" -}}{{ $port }}{{- end -}}
{{- end -}}

{{- define "regatta.healthPort" -}}
{{- $config := include "regatta.givenConfig" . | fromYaml -}}
{{- include "regatta.port" (dict "address" (dig "health" "healthProbeBindAddress" ":8081" $config)) -}}
{{- end -}}

{{- define "regatta.metricsPort" -}}
{{- $config := include "regatta.givenConfig" . | fromYaml -}}
{{- include "regatta.port" (dict "address" (dig "metrics" "bindAddress" ":8443" $config)) -}}
{{- end -}}

{{/* Something is served that needs a certificate of the webhooks' Secret. */}}
{{- define "regatta.webhooks" -}}
{{- if or .Values.enableWebhooks .Values.enableConversion -}}true{{- end -}}
{{- end -}}

{{- define "regatta.certificates" -}}
{{- if or .Values.enableWebhooks .Values.enableConversion .Values.enableVisibility -}}true{{- end -}}
{{- end -}}

{{/* The values name Kueue's own image, as a values file of its chart may. */}}
{{- define "regatta.imageOfKueue" -}}
{{- if regexMatch "(^|/)kueue/kueue$" (.Values.controllerManager.manager.image.repository | toString) -}}true{{- end -}}
{{- end -}}

{{- define "regatta.image" -}}
{{- $image := .Values.controllerManager.manager.image -}}
{{- if include "regatta.imageOfKueue" . -}}
registry.example/regatta:{{ .Chart.AppVersion }}
{{- else if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The annotation that has cert-manager write its CA into an object. */}}
{{- define "regatta.injectCA" -}}
{{- if .root.Values.enableCertManager }}
annotations:
  cert-manager.io/inject-ca-from: {{ .root.Release.Namespace }}/{{ include "regatta.fullname" .root }}-{{ .certificate }}
{{- end }}
{{- end -}}

{{- define "regatta.issuer" -}}
{{- if .Values.certManager.issuerRef -}}
{{ toYaml .Values.certManager.issuerRef }}
{{- else -}}
kind: Issuer
name: {{ include "regatta.fullname" . }}-selfsigned-issuer
{{- end -}}
{{- end -}}
