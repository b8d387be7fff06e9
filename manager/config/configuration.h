#pragma once

#include "lib/api/cluster_profile.h"
#include "lib/api/field_errors.h"
#include "lib/api/labels.h"
#include "lib/api/names.h"
#include "lib/api/quantity.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "manager/config/document.h"
#include "manager/config/feature_gates.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The manager's configuration file: kind Configuration of config.kueue.x-k8s.io, v1beta2 and
/// v1beta1. The types here are of v1beta2 and hold what has an effect in Regatta.
namespace regatta::manager {

struct LeaderElectionConfig {
  bool leader_elect = true;
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
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
  /// Not in Kueue. HTTPS, for clients that may get /metrics; otherwise HTTP, for all.
  bool secure_serving = true;
  /// Not in Kueue, which has that folder, too. With tls.crt and tls.key; without them the manager
  /// has a certificate of its own.
  std::string cert_dir = "/etc/kueue/metrics/certs";
  bool enable_cluster_queue_resources = false;
  std::vector<CustomMetricLabel> custom_labels;
  LocalQueueMetricsConfig local_queue_metrics;
};

struct HealthConfig {
  std::string health_probe_bind_address = ":8081";
  std::string readiness_endpoint_name = "readyz";
  std::string liveness_endpoint_name = "healthz";
};

struct WebhookConfig {
  std::int64_t port = 9443;
  std::string host;  ///< empty: every address
  std::string cert_dir = "/tmp/k8s-webhook-server/serving-certs";
  /// Not in Kueue. A file in cert_dir: authorities of which clients need a certificate; empty: they
  /// need none.
  std::string client_ca_name;
};

struct VisibilityServerConfig {
  std::string bind_address;  ///< empty: all
  std::int64_t bind_port = 8082;
};

struct InternalCertManagement {
  bool enable = true;
  std::string webhook_service_name = "kueue-webhook-service";
  std::string webhook_secret_name = "kueue-webhook-server-cert";
  Duration valid_for = std::chrono::hours(24 * 365);  ///< not in Kueue
};

struct ControllerConfig {
  std::map<std::string, int> group_kind_concurrency;  ///< "Workload.kueue.x-k8s.io"

  int concurrency(const std::string& group_kind) const {
    const auto it = group_kind_concurrency.find(group_kind);
    return it == group_kind_concurrency.end() ? 1 : it->second;
  }
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

/// Whether Regatta has the integration, which the configuration may name in any case.
bool has_framework(std::string_view framework);
/// The name under which `integrations.frameworks` lists a kind of `integrations.describedKinds`.
std::string described_framework(const Json& description);

/// The integration that a feature gate guards besides the list of frameworks.
inline constexpr std::string_view spark_framework = "sparkoperator.k8s.io/sparkapplication";
inline constexpr std::string_view spark_gate = "SparkApplicationIntegration";

struct Integrations {
  std::vector<std::string> frameworks{"batch/job"};
  std::vector<std::string> label_keys_to_copy;
  /// "Kind.version.group": kinds that other controllers manage as Regatta manages its own.
  std::vector<std::string> external_frameworks;
  /// Not in Kueue. Kinds that are described here, each as the file has it: jobs/described reads it.
  std::vector<Json> described_kinds;

  bool enabled(std::string_view framework) const;
};

/// How much a worker may make the hub keep: `objects`, `bytes` of their JSON, in lists of at most
/// `pages` of 500 objects; in smaller pages, of as many as that may hold.
struct WorkerLimits {
  std::int64_t objects = 100'000;
  std::int64_t bytes = 128 << 20;
  std::int64_t pages = 2'000;
};

/// Not in Kueue. Workers are made of the ManagedClusters of Open Cluster Management.
struct ManagedClustersConfiguration {
  std::string accounts = "Use";  ///< or Request: of whom accounts and rights are
  std::string connection = "Direct";
  std::string account = "multikueue";
  Duration token_validity = std::chrono::hours(8640);
  std::string proxy_url;
  std::string proxy_ca_config_map = "kube-root-ca.crt";
  std::optional<api::LabelSelector> selector;
};

struct MultiKueueConfiguration {
  Duration gc_interval = std::chrono::minutes(1);  ///< 0: no garbage collection
  std::string origin{api::default_origin};
  Duration worker_lost_timeout = std::chrono::minutes(15);
  std::string dispatcher_name{api::dispatchers::all_at_once};
  /// "Kind.version.group": kinds that other controllers manage, and that are sent to workers.
  std::vector<std::string> external_frameworks;
  std::int64_t incremental_step_size = 3;
  WorkerLimits worker_limits;
  std::vector<api::ExecPlugin> plugins;  ///< of clusterProfile, under either name
  /// removalBrake: removals are held when more than this share of what runs on a worker, and at
  /// least so many workloads, have vanished from the hub.
  std::int64_t brake_share_percent = 50;
  std::int64_t brake_at_least = 10;
  Duration dispatch_timeout{0};        ///< not in Kueue; 0: none
  std::int64_t dispatch_attempts = 0;  ///< not in Kueue; 0: no limit
  std::optional<ManagedClustersConfiguration> managed_clusters;
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

enum class QuotaCheckStrategy { BlockUndeclared, IgnoreUndeclared };

struct ResourcesConfig {
  QuotaCheckStrategy quota_check_strategy = QuotaCheckStrategy::BlockUndeclared;
  std::vector<std::string> exclude_resource_prefixes;
  std::vector<ResourceTransformation> transformations;
};

struct WorkloadRetention {
  std::optional<Duration> after_finished;
  std::optional<Duration> after_deactivated_by_kueue;
};

struct Configuration {
  std::string ns = "kueue-system";
  LeaderElectionConfig leader_election;
  MetricsConfig metrics;
  HealthConfig health;
  WebhookConfig webhook;
  VisibilityServerConfig visibility_server;
  InternalCertManagement internal_cert_management;
  /// The file says where the webhooks' certificate comes from. Without one the manager is not
  /// ready.
  bool webhooks_demanded = false;
  ControllerConfig controller;
  bool manage_jobs_without_queue_name = false;
  /// Unset until read: kubernetes.io/metadata.name NotIn [kube-system, <ns>].
  std::optional<api::LabelSelector> managed_jobs_namespace_selector;
  std::optional<WaitForPodsReady> wait_for_pods_ready = WaitForPodsReady();
  ClientConnection client_connection;
  Integrations integrations;
  MultiKueueConfiguration multi_kueue;
  std::optional<FairSharing> fair_sharing;
  std::optional<AdmissionFairSharing> admission_fair_sharing;
  ResourcesConfig resources;
  WorkloadRetention workload_retention;
  FeatureGates gates;

  /// Remarks about accepted input, for the log.
  std::vector<std::string> warnings;
};

/// A file that could be read, and what Kueue refuses of it.
struct CheckedConfiguration {
  ConfigDocument document;
  FeatureGates gates;
  api::FieldErrors gate_errors;  ///< when there are any, nothing else was checked
  api::FieldErrors errors;
  std::string hint;  ///< for a person: what an unknown gate may have meant
};

/// Reads and checks a configuration file as Kueue does. An Error when it cannot be read.
/// `feature_gates` is the value of --feature-gates; the file may set gates only without it.
Result<CheckedConfiguration> check_configuration(
    std::string_view text, std::string_view feature_gates = {},
    const std::string& default_namespace = "kueue-system");

/// What the manager runs with. The Error lists every problem, one a line, each with the path of its
/// field. An empty text is the default configuration.
Result<Configuration> load_configuration(std::string_view text, std::string_view feature_gates = {},
                                         const std::string& default_namespace = "kueue-system");

/// For load_configuration: a configuration in effect that has no errors, as types.
Configuration decode_configuration(const Json& effective, const FeatureGates& gates);

/// For load_configuration: what Kueue accepts, but a manager cannot run with.
std::vector<std::string> check_start(const Configuration& configuration);

}  // namespace regatta::manager
