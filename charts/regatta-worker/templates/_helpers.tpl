{{- define "worker.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "worker.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ .Values.name }}
    namespace: {{ .Release.Namespace }}
{{- end -}}

{{/* The API group of a kind of jobs. */}}
{{- define "worker.group" -}}
{{- if eq . "statefulset" -}}apps
{{- else if contains "/" . -}}{{ splitList "/" . | first }}
{{- else if contains "." . -}}{{ (splitn "." 2 .)._1 }}
{{- else -}}""
{{- end -}}
{{- end -}}

{{/* Its plural. */}}
{{- define "worker.plural" -}}
{{- if contains "/" . -}}{{ splitList "/" . | last }}s
{{- else if contains "." . -}}{{ (splitn "." 2 .)._0 }}
{{- else -}}{{ . }}s
{{- end -}}
{{- end -}}

{{- define "worker.reads" -}}
{{- range .Values.frameworks }}
- apiGroups: [{{ include "worker.group" . }}]
  resources: [{{ include "worker.plural" . }}]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{- define "worker.writes" -}}
{{- $scaled := list "batch/job" "leaderworkerset.x-k8s.io/leaderworkerset" "ray.io/raycluster" }}
{{- range .Values.frameworks }}
- apiGroups: [{{ include "worker.group" . }}]
  resources: [{{ include "worker.plural" . }}]
  {{- /* Sizes follow those of the hub. */}}
  verbs: [create, delete{{ if has . $scaled }}, patch{{ end }}]
{{- end }}
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [create, delete, patch]
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads/status]
  verbs: [patch]
{{- end -}}
