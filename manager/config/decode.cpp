#include "lib/base/duration.h"
#include "lib/base/json_access.h"
#include "manager/config/configuration.h"
#include "manager/config/selectors.h"

#include <nlohmann/json.hpp>

namespace regatta::manager {
namespace {

// What check_rules() has accepted fits its type.

Duration duration_at(const Json& parent, std::string_view name) {
  const auto length = parse_go_duration(text_at(parent, name));
  return length ? std::chrono::duration_cast<Duration>(*length) : Duration(0);
}

std::optional<Duration> given_duration(const Json& parent, std::string_view name) {
  if (!member(parent, name)) return std::nullopt;
  return duration_at(parent, name);
}

std::vector<std::string> texts_at(const Json& parent, std::string_view name) {
  return list_or_empty(parent, name).get<std::vector<std::string>>();
}

std::optional<api::LabelSelector> given_selector(const Json& parent, std::string_view name) {
  const Json* given = object_at(parent, name);
  if (!given) return std::nullopt;
  return selector_of(*given);
}

void set_number(const Json& parent, std::string_view name, std::int64_t* out) {
  *out = integer_at(parent, name).value_or(*out);
}

LeaderElectionConfig election_of(const Json& c) {
  const Json& given = at_or_null(c, "leaderElection");
  LeaderElectionConfig out;
  out.leader_elect = true_at(given, "leaderElect");
  out.lease_duration = duration_at(given, "leaseDuration");
  out.renew_deadline = duration_at(given, "renewDeadline");
  out.retry_period = duration_at(given, "retryPeriod");
  out.resource_name = text_at(given, "resourceName");
  out.resource_namespace = text_at(given, "resourceNamespace");
  if (out.resource_namespace.empty()) out.resource_namespace = text_at(c, "namespace");
  return out;
}

std::vector<CustomMetricLabel> custom_labels_of(const Json& metrics) {
  std::vector<CustomMetricLabel> out;
  for (const Json& given : list_or_empty(metrics, "customLabels")) {
    const std::string& kind = text_at(given, "sourceKind");
    CustomMetricLabel& label = out.emplace_back();
    label.name = text_at(given, "name");
    if (kind == "LocalQueue") label.source_kind = MetricSource::LocalQueue;
    if (kind == "Cohort") label.source_kind = MetricSource::Cohort;
    if (kind == "Workload") label.source_kind = MetricSource::Workload;
    label.source_label_key = text_at(given, "sourceLabelKey");
    label.source_annotation_key = text_at(given, "sourceAnnotationKey");
    label.tracked_values = texts_at(given, "trackedValues");
  }
  return out;
}

MetricsConfig metrics_of(const Json& given, const FeatureGates& gates) {
  MetricsConfig out;
  out.bind_address = text_at(given, "bindAddress");
  const Json* secure = member(given, "secureServing");
  out.secure_serving = !secure || true_at(given, "secureServing");
  const std::string& folder = text_at(given, "certDir");
  if (!folder.empty()) out.cert_dir = folder;
  out.enable_cluster_queue_resources = true_at(given, "enableClusterQueueResources");
  if (gates.enabled("CustomMetricLabels")) out.custom_labels = custom_labels_of(given);
  const Json& local = at_or_null(given, "localQueueMetrics");
  out.local_queue_metrics.enable = true_at(local, "enable");
  out.local_queue_metrics.local_queue_selector = given_selector(local, "localQueueSelector");
  return out;
}

HealthConfig health_of(const Json& given) {
  HealthConfig out;
  for (const auto& [name, field] :
       {std::pair("healthProbeBindAddress", &out.health_probe_bind_address),
        std::pair("readinessEndpointName", &out.readiness_endpoint_name),
        std::pair("livenessEndpointName", &out.liveness_endpoint_name)}) {
    const std::string& text = text_at(given, name);
    if (!text.empty()) *field = text;
  }
  return out;
}

WebhookConfig webhook_of(const Json& given) {
  WebhookConfig out;
  set_number(given, "port", &out.port);
  if (out.port == 0) out.port = WebhookConfig().port;  // as upstream
  out.host = text_at(given, "host");
  out.cert_dir = text_at(given, "certDir");
  out.client_ca_name = text_at(given, "clientCAName");
  return out;
}

VisibilityServerConfig visibility_of(const Json& given) {
  VisibilityServerConfig out;
  out.bind_address = text_at(given, "bindAddress");
  set_number(given, "bindPort", &out.bind_port);
  return out;
}

InternalCertManagement certificates_of(const Json& given) {
  InternalCertManagement out;
  out.enable = true_at(given, "enable");
  out.webhook_service_name = text_at(given, "webhookServiceName");
  out.webhook_secret_name = text_at(given, "webhookSecretName");
  out.valid_for = given_duration(given, "validFor").value_or(out.valid_for);
  return out;
}

WaitForPodsReady wait_of(const Json& given) {
  WaitForPodsReady out;
  out.timeout = duration_at(given, "timeout");
  out.recovery_timeout = given_duration(given, "recoveryTimeout");
  out.block_admission = true_at(given, "blockAdmission");
  const Json& requeuing = at_or_null(given, "requeuingStrategy");
  if (text_at(requeuing, "timestamp") == "Creation") {
    out.requeuing_strategy.timestamp = RequeuingTimestamp::Creation;
  }
  out.requeuing_strategy.backoff_limit_count = integer_at(requeuing, "backoffLimitCount");
  set_number(requeuing, "backoffBaseSeconds", &out.requeuing_strategy.backoff_base_seconds);
  set_number(requeuing, "backoffMaxSeconds", &out.requeuing_strategy.backoff_max_seconds);
  return out;
}

std::vector<api::ExecPlugin> plugins_of(const Json& profile) {
  std::vector<api::ExecPlugin> out;
  for (const char* list : {"accessProviders", "credentialsProviders"}) {
    for (const Json& given : list_or_empty(profile, list)) {
      const Json& exec = at_or_null(given, "execConfig");
      api::ExecPlugin& plugin = out.emplace_back();
      plugin.provider = text_at(given, "name");
      plugin.command = text_at(exec, "command");
      plugin.args = texts_at(exec, "args");
      for (const Json& one : list_or_empty(exec, "env")) {
        plugin.env.emplace_back(text_at(one, "name"), text_at(one, "value"));
      }
      plugin.api_version = text_at(exec, "apiVersion");
      plugin.provide_cluster_info = true_at(exec, "provideClusterInfo");
    }
  }
  return out;
}

ManagedClustersConfiguration managed_clusters_of(const Json& given) {
  ManagedClustersConfiguration out;
  for (const auto& [name, field] :
       {std::pair("accounts", &out.accounts), std::pair("connection", &out.connection),
        std::pair("account", &out.account), std::pair("proxyURL", &out.proxy_url),
        std::pair("proxyCAConfigMap", &out.proxy_ca_config_map)}) {
    const std::string& text = text_at(given, name);
    if (!text.empty()) *field = text;
  }
  while (out.proxy_url.ends_with('/')) out.proxy_url.pop_back();
  out.token_validity = given_duration(given, "tokenValidity").value_or(out.token_validity);
  out.selector = given_selector(given, "selector");
  return out;
}

MultiKueueConfiguration multi_kueue_of(const Json& given) {
  MultiKueueConfiguration out;
  out.gc_interval = duration_at(given, "gcInterval");
  out.origin = text_at(given, "origin");
  out.worker_lost_timeout = duration_at(given, "workerLostTimeout");
  out.dispatcher_name = text_at(given, "dispatcherName");
  for (const Json& one : list_or_empty(given, "externalFrameworks")) {
    out.external_frameworks.push_back(text_at(one, "name"));
  }
  set_number(at_or_null(given, "incrementalDispatcherConfig"), "stepSize",
             &out.incremental_step_size);
  out.dispatch_timeout = duration_at(given, "dispatchTimeout");
  set_number(given, "dispatchAttempts", &out.dispatch_attempts);
  out.plugins = plugins_of(at_or_null(given, "clusterProfile"));
  const Json& limits = at_or_null(given, "workerLimits");
  set_number(limits, "objects", &out.worker_limits.objects);
  set_number(limits, "bytes", &out.worker_limits.bytes);
  set_number(limits, "pages", &out.worker_limits.pages);
  const Json& brake = at_or_null(given, "removalBrake");
  set_number(brake, "sharePercent", &out.brake_share_percent);
  set_number(brake, "atLeast", &out.brake_at_least);
  if (const Json* clusters = object_at(given, "managedClusters")) {
    out.managed_clusters = managed_clusters_of(*clusters);
  }
  return out;
}

AdmissionFairSharing admission_fair_sharing_of(const Json& given) {
  AdmissionFairSharing out;
  out.usage_half_life_time = duration_at(given, "usageHalfLifeTime");
  out.usage_sampling_interval = duration_at(given, "usageSamplingInterval");
  for (const auto& [resource, weight] : object_or_empty(given, {"resourceWeights"}).items()) {
    out.resource_weights[resource] = weight.get<double>();
  }
  return out;
}

ResourcesConfig resources_of(const Json& given) {
  ResourcesConfig out;
  if (text_at(given, "quotaCheckStrategy") == "IgnoreUndeclared") {
    out.quota_check_strategy = QuotaCheckStrategy::IgnoreUndeclared;
  }
  out.exclude_resource_prefixes = texts_at(given, "excludeResourcePrefixes");
  for (const Json& one : list_or_empty(given, "transformations")) {
    ResourceTransformation& read = out.transformations.emplace_back();
    read.input = text_at(one, "input");
    if (text_at(one, "strategy") == "Replace") read.strategy = TransformationStrategy::Replace;
    read.multiply_by = text_at(one, "multiplyBy");
    for (const auto& [resource, amount] : object_or_empty(one, {"outputs"}).items()) {
      read.outputs[resource] = api::Quantity::parse(amount.get_ref<const std::string&>()).value();
    }
  }
  return out;
}

}  // namespace

Configuration decode_configuration(const Json& c, const FeatureGates& gates) {
  Configuration out;
  out.gates = gates;
  out.ns = text_at(c, "namespace");
  out.leader_election = election_of(c);
  out.metrics = metrics_of(at_or_null(c, "metrics"), gates);
  out.health = health_of(at_or_null(c, "health"));
  out.webhook = webhook_of(at_or_null(c, "webhook"));
  out.visibility_server = visibility_of(at_or_null(c, "visibilityServer"));
  out.internal_cert_management = certificates_of(at_or_null(c, "internalCertManagement"));
  for (const auto& [kind, workers] :
       object_or_empty(c, {"controller", "groupKindConcurrency"}).items()) {
    out.controller.group_kind_concurrency[kind] = workers.get<int>();
  }
  out.manage_jobs_without_queue_name = true_at(c, "manageJobsWithoutQueueName");
  out.managed_jobs_namespace_selector = given_selector(c, "managedJobsNamespaceSelector");
  const Json* wait = object_at(c, "waitForPodsReady");
  const bool waits = wait && !gates.enabled("DisableWaitForPodsReady");
  out.wait_for_pods_ready.reset();
  if (waits) out.wait_for_pods_ready = wait_of(*wait);
  const Json& client = at_or_null(c, "clientConnection");
  out.client_connection.qps = client.at("qps").get<double>();
  set_number(client, "burst", &out.client_connection.burst);
  const Json& integrations = at_or_null(c, "integrations");
  out.integrations.frameworks = texts_at(integrations, "frameworks");
  out.integrations.label_keys_to_copy = texts_at(integrations, "labelKeysToCopy");
  out.integrations.external_frameworks = texts_at(integrations, "externalFrameworks");
  const Json& described = list_or_empty(integrations, "describedKinds");
  out.integrations.described_kinds.assign(described.begin(), described.end());
  out.multi_kueue = multi_kueue_of(at_or_null(c, "multiKueue"));
  if (const Json* sharing = object_at(c, "fairSharing")) {
    out.fair_sharing = FairSharing{texts_at(*sharing, "preemptionStrategies")};
  }
  if (const Json* sharing = object_at(c, "admissionFairSharing")) {
    out.admission_fair_sharing = admission_fair_sharing_of(*sharing);
  }
  out.resources = resources_of(at_or_null(c, "resources"));
  const Json& retention = object_or_empty(c, {"objectRetentionPolicies", "workloads"});
  out.workload_retention.after_finished = given_duration(retention, "afterFinished");
  out.workload_retention.after_deactivated_by_kueue =
      given_duration(retention, "afterDeactivatedByKueue");
  return out;
}

}  // namespace regatta::manager
