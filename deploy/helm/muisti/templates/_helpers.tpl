{{- define "muisti.name" -}}
{{- if contains "muisti" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-muisti" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels by which services and policies find pods; the first argument names the part. */}}
{{- define "muisti.selector" -}}
{{- $part := index . 0 }}{{ $root := index . 1 -}}
app.kubernetes.io/name: {{ $part }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
{{- end }}

{{- define "muisti.labels" -}}
{{ include "muisti.selector" . }}
{{- $root := index . 1 }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}
