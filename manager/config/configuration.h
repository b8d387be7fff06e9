#pragma once

#include "lib/api/labels.h"
#include "lib/api/names.h"
#include "lib/api/quantity.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "manager/config/feature_gates.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The manager's configuration file: kind Configuration of config.kueue.x-k8s.io, v1beta2 and
/// v1beta1. The types are those of v1beta2, and the member initialisers are its defaults. Fields
/// that only v1beta1 has are converted on reading.
namespace regatta::manager {

struct WebhookConfig {
  int port = 9443;
  std::string host;
  std::string cert_dir = "/tmp/k8s-webhook-server/serving-certs";
};

struct LeaderElectionConfig {
  bool leader_elect = true;
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "c1f6bfd2.kueue.x-k8s.io";
  std::string resource_namespace;  ///< empty: the manager's namespace
};

/// The kind whose labels become labels of its series.
enum class MetricSource { ClusterQueue, LocalQueue, Cohort, Workload };

struct CustomMetricLabel {
  std::string name;
  MetricSource source_kind = MetricSource::ClusterQueue;
  std::string source_label_key;  ///< both keys empty: `name` is the key
  std::string source_annotation_key;
  std::vector<std::string> tracked_values;  ///< empty: every value is tracked
};

struct LocalQueueMetricsConfig {
  bool enable = false;
  std::optional<api::LabelSelector> local_queue_selector;
};

struct MetricsConfig {
  std::string bind_address = ":8443";
  bool enable_cluster_queue_resources = false;
  std::vector<CustomMetricLabel> custom_labels;
  std::optional<LocalQueueMetricsConfig> local_queue_metrics;
};

struct HealthConfig {
  std::string health_probe_bind_address = ":8081";
  std::string readiness_endpoint_name = "readyz";
  std::string liveness_endpoint_name = "healthz";
};

struct ControllerConfig {
  std::map<std::string, int> group_kind_concurrency;  ///< "Workload.kueue.x-k8s.io"
  Duration cache_sync_timeout = std::chrono::minutes(2);

  int concurrency(const std::string& group_kind) const {
    const auto it = group_kind_concurrency.find(group_kind);
    return it == group_kind_concurrency.end() ? 1 : it->second;
  }
};

struct TLSOptions {
  std::string min_version;
  std::vector<std::string> cipher_suites;
  std::vector<std::string> curve_preferences;
};

struct InternalCertManagement {
  bool enable = true;
  std::string webhook_service_name = "kueue-webhook-service";
  std::string webhook_secret_name = "kueue-webhook-server-cert";
};

enum class RequeuingTimestamp { Eviction, Creation };

struct RequeuingStrategy {
  RequeuingTimestamp timestamp = RequeuingTimestamp::Eviction;
  std::optional<std::int64_t> backoff_limit_count;  ///< unset: no limit
  std::int64_t backoff_base_seconds = 60;
  std::int64_t backoff_max_seconds = 3600;
};

struct WaitForPodsReady {
  Duration timeout = std::chrono::minutes(30);
  std::optional<Duration> recovery_timeout;  ///< set after reading; the default is `timeout`
  bool block_admission = false;
  RequeuingStrategy requeuing_strategy;
};

struct ClientConnection {
  double qps = 300;  ///< negative: no limit
  std::int64_t burst = 500;
};

struct PodOptions {
  std::optional<api::LabelSelector> namespace_selector;
  std::optional<api::LabelSelector> pod_selector;
};

struct Integrations {
  std::vector<std::string> frameworks{"batch/job"};
  std::vector<std::string> external_frameworks;  ///< "Kind.version.group"
  std::vector<std::string> label_keys_to_copy;
  std::optional<PodOptions> pod_options;  ///< v1beta1 only

  bool enabled(std::string_view framework) const;
};

struct ExecEnvVar {
  std::string name;
  std::string value;
};

/// How to run a credential plugin. Its environment may hold secrets: never logged.
struct ExecConfig {
  std::string command;
  std::vector<std::string> args;
  std::vector<ExecEnvVar> env;
  std::string api_version;
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string interactive_mode;
};

struct ClusterProfileAccessProvider {
  std::string name;
  ExecConfig exec_config;
};

struct ClusterProfileConfig {
  std::vector<ClusterProfileAccessProvider> access_providers;
};

/// How much of one kind a worker may make the hub keep: `objects` of it, `bytes` of their JSON, in
/// lists of at most `pages`.
struct WorkerLimits {
  std::int64_t objects = 100'000;
  std::int64_t bytes = 512 << 20;
  std::int64_t pages = 2'000;
};

struct MultiKueueConfiguration {
  Duration gc_interval = std::chrono::minutes(1);  ///< 0: no garbage collection
  std::string origin{api::default_origin};
  Duration worker_lost_timeout = std::chrono::minutes(15);
  std::string dispatcher_name{api::dispatchers::all_at_once};
  std::vector<std::string> external_frameworks;  ///< "Kind.version.group"
  std::optional<ClusterProfileConfig> cluster_profile;
  std::int64_t incremental_step_size = 3;
  WorkerLimits worker_limits;
  /// removalBrake: removals are held when more than this share of what runs on a worker, and at
  /// least so many workloads, have vanished from the hub.
  std::int64_t brake_share_percent = 50;
  std::int64_t brake_at_least = 10;
  Duration dispatch_timeout{0};        ///< not in Kueue; 0: none
  std::int64_t dispatch_attempts = 0;  ///< not in Kueue; 0: no limit
};

struct FairSharing {
  std::vector<std::string> preemption_strategies{"LessThanOrEqualToFinalShare",
                                                 "LessThanInitialShare"};
};

struct AdmissionFairSharing {
  Duration usage_half_life_time{0};
  Duration usage_sampling_interval = std::chrono::minutes(5);
  std::map<std::string, double> resource_weights;
};

enum class TransformationStrategy { Retain, Replace };

struct ResourceTransformation {
  std::string input;
  TransformationStrategy strategy = TransformationStrategy::Retain;
  std::string multiply_by;
  std::map<std::string, api::Quantity> outputs;
};

struct DeviceClassMapping {
  std::string name;
  std::vector<std::string> device_class_names;
};

enum class QuotaCheckStrategy { BlockUndeclared, IgnoreUndeclared };

struct ResourcesConfig {
  QuotaCheckStrategy quota_check_strategy = QuotaCheckStrategy::BlockUndeclared;
  std::vector<std::string> exclude_resource_prefixes;
  std::vector<ResourceTransformation> transformations;
  std::vector<DeviceClassMapping> device_class_mappings;
};

struct WorkloadRetention {
  std::optional<Duration> after_finished;
  std::optional<Duration> after_deactivated_by_kueue;
};

struct VisibilityServerConfig {
  std::string bind_address;
  int bind_port = 8082;
};

struct Configuration {
  std::string ns = "kueue-system";
  WebhookConfig webhook;
  LeaderElectionConfig leader_election;
  MetricsConfig metrics;
  HealthConfig health;
  std::string pprof_bind_address;
  ControllerConfig controller;
  TLSOptions tls;
  bool manage_jobs_without_queue_name = false;
  /// Unset until read: kubernetes.io/metadata.name NotIn [kube-system, <ns>].
  std::optional<api::LabelSelector> managed_jobs_namespace_selector;
  InternalCertManagement internal_cert_management;
  std::optional<WaitForPodsReady> wait_for_pods_ready = WaitForPodsReady();
  ClientConnection client_connection;
  Integrations integrations;
  MultiKueueConfiguration multi_kueue;
  std::optional<FairSharing> fair_sharing;
  std::optional<AdmissionFairSharing> admission_fair_sharing;
  ResourcesConfig resources;
  GateSettings feature_gates;  ///< as written in the file; `gates` is what counts
  WorkloadRetention workload_retention;
  VisibilityServerConfig visibility_server;
  FeatureGates gates;

  /// Remarks about accepted input, for the log.
  std::vector<std::string> warnings;
};

/// Every built-in integration, by its name in the file: "batch/job".
std::span<const std::string_view> all_frameworks();

/// Reads and checks a configuration file. The Error lists every problem, one a line, each with the
/// path of its field; unknown fields are problems. An empty text is the default configuration.
/// `flag_gates` come from --feature-gates and win over the file.
Result<Configuration> load_configuration(std::string_view text, const GateSettings& flag_gates = {},
                                         const std::string& default_namespace = "kueue-system");

/// For load_configuration: the problems of a configuration that has been read.
std::vector<std::string> validate(const Configuration& configuration);

struct ReadContext {
  bool v1beta1 = false;
  std::vector<std::string> problems;
};

/// For load_configuration: sets what the document contains in `configuration`.
void decode_configuration(const Json& document, ReadContext* context, Configuration* configuration);

}  // namespace regatta::manager
