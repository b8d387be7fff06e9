#include "manager/run.h"

#include "clusters/kubeconfig_connector.h"
#include "kubeconfig/connection.h"
#include "lib/kube/lease.h"
#include "lib/net/http_server.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/process.h"
#include "lib/runtime/task_scope.h"
#include "manager/config/configuration.h"
#include "manager/core.h"
#include "manager/core_config.h"
#include "manager/endpoint.h"
#include "manager/kueue_leftovers.h"
#include "manager/metrics.h"
#include "manager/metrics_port.h"
#include "manager/probes.h"
#include "manager/version.h"
#include "manager/visibility_port.h"
#include "manager/webhooks/certificate_source.h"
#include "manager/webhooks/job_reviews.h"
#include "manager/webhooks/tls_port.h"
#include "webhooks/server/handler.h"

#include <unistd.h>
#include <utility>

namespace regatta::manager {
namespace {

/// Where kubeconfigs of workers may lie; empty when any path will do.
std::string allowed_prefix(const Configuration& config) {
  if (!config.gates.enabled("MultiKueueKubeConfigPathValidation")) return {};
  return std::string(kubeconfig::default_allowed_prefix);
}

constexpr Duration shutdown_max = std::chrono::seconds(5);
constexpr int log_lines_per_minute = 60;
constexpr std::size_t open_files_wanted = 4096;

kube::ClientConfig basic_client_config() {
  kube::ClientConfig client;
  client.user_agent = "regatta-manager/" + std::string(version);
  client.field_manager = "kueue";
  return client;
}

/// Questions whether a user may read something must not use up what the controllers may send.
kube::ClientConfig access_client_config() {
  kube::ClientConfig client = basic_client_config();
  client.qps = 20;
  client.burst = 50;
  client.timeout = std::chrono::seconds(10);
  return client;
}

kube::ClientConfig client_config(const Configuration& config, const kube::Leadership& leadership) {
  kube::ClientConfig client = basic_client_config();
  if (config.leader_election.leader_elect) client.write_gate = &leadership;
  if (config.client_connection.qps > 0) {
    client.qps = config.client_connection.qps;
    client.burst = std::max<int>(1, static_cast<int>(config.client_connection.burst));
  }
  return client;
}

std::string instance_name(Rng& rng) {
  std::string host(256, '\0');
  if (gethostname(host.data(), host.size() - 1) != 0) host = "regatta";
  host.resize(host.find('\0') == std::string::npos ? host.size() : host.find('\0'));
  return host + "_" + rng.uuid();
}

kube::LeaderElectionOptions election_of(const Configuration& config, const std::string& identity) {
  const LeaderElectionConfig& given = config.leader_election;
  kube::LeaderElectionOptions options;
  options.lease.ns = given.resource_namespace.empty() ? config.ns : given.resource_namespace;
  options.lease.name = given.resource_name;
  options.identity = identity;
  options.lease_duration = given.lease_duration;
  options.renew_deadline = given.renew_deadline;
  options.retry_period = given.retry_period;
  return options;
}

QueueGaugesConfig gauges_of(const Configuration& config) {
  QueueGaugesConfig out;
  out.role = config.leader_election.leader_elect ? "follower" : "standalone";
  out.resources = config.metrics.enable_cluster_queue_resources;
  out.custom_labels = config.metrics.custom_labels;
  out.cohort_info = config.gates.enabled("MetricsForCohorts");
  out.creation_latency = config.gates.enabled("MetricForWorkloadCreationLatency");
  const auto& local = config.metrics.local_queue_metrics;
  if (!local.enable || !config.gates.enabled("LocalQueueMetrics")) return out;
  const auto selector =
      api::Selector::from(local.local_queue_selector.value_or(api::LabelSelector()));
  if (selector) out.local_queues = *selector;
  return out;
}

webhooks::Gates webhook_gates(const FeatureGates& gates) {
  std::map<std::string, bool> names;
  for (const FeatureGateInfo& gate : all_feature_gates()) {
    names.emplace(gate.name, gates.enabled(gate.name));
  }
  return webhooks::gates_of(names);
}

CertificateSourceConfig certificates_of(const Configuration& config) {
  const InternalCertManagement& given = config.internal_cert_management;
  CertificateSourceConfig out;
  out.managed = given.enable;
  out.demanded = config.webhooks_demanded;
  out.secret = {config.ns, given.webhook_secret_name};
  out.service = given.webhook_service_name;
  out.valid_for = given.valid_for;
  out.folder = config.webhook.cert_dir;
  out.client_ca_name = config.webhook.client_ca_name;
  return out;
}

/// Kept apart because four clients are easily mixed up.
struct ManagerClients {
  kube::Client& common;
  kube::Client& lease;         ///< nothing else holds it up
  kube::Client& certificates;  ///< writes whether this replica leads or not
  kube::Client& access;        ///< asks what a user may read; replicas that do not lead ask, too
};

/// The process around the core: leader election, probes, and its end.
class Manager {
 public:
  Manager(Executor executor, Clock& clock, Rng& rng, Log log, Configuration config,
          ManagerClients clients, kube::Leadership& leadership)
      : clock_(clock),
        log_(std::move(log)),
        config_(std::move(config)),
        client_(clients.common),
        access_client_(clients.access),
        rng_(rng),
        instance_(instance_name(rng)),
        leadership_(leadership),
        elector_(clients.lease, clock, rng, log_.named("leader-election"),
                 election_of(config_, instance_), leadership),
        plugin_runner_(executor, clock),
        connector_(clusters::open_http_clients(executor, clock), files_, allowed_prefix(config_),
                   clusters::KubeconfigConnector::Plugins{plugin_runner_, clock}),
        metrics_(gauges_of(config_), std::string(version)),
        webhooks_(webhook_gates(config_.gates)),
        webhook_port_(scope_, clock, log_.named("webhooks"),
                      {"webhooks", "webhook.port", listening_host(config_.webhook.host),
                       static_cast<std::uint16_t>(config_.webhook.port)},
                      webhooks_, webhooks::webhook_server_options()),
        certificates_(clients.certificates, files_, clock, log_.named("webhooks"),
                      certificates_of(config_),
                      [this](const net::TlsServerOptions& tls) { return present(tls); }),
        scope_(executor) {}

  Task<int> run() {
    Status ended = prepare();
    bool failed = !ended;
    if (!failed) {
      Task<> work = manage(&ended);
      failed = co_await until_signalled(std::move(work));
    }
    if (failed) log_.error("cannot go on", {{"error", ended.error().what()}});
    log_.info("shutting down");
    co_await webhook_port_.drain(clock_.steady() + shutdown_max);
    co_await release();  // before requests are cut off
    scope_.stop();
    co_await scope_.join();
    co_return failed ? 1 : 0;
  }

 private:
  /// Opens the ports first, so that an error there ends the process at once.
  Status prepare() {
    auto core = core_config(config_, instance_);
    if (!core) return core.error();
    metrics_.hook_into(&*core);
    CoreDeps deps{client_, connector_, clock_, rng_, scope_, log_};
    if (config_.leader_election.leader_elect) deps.write_gate = &leadership_;
    jobs::JobWebhookConfig for_jobs{core->jobs, core->multikueue,
                                    config_.gates.enabled("LWSImmutableGroupSize"),
                                    config_.gates.enabled("ValidateRayAndSparkJobUpdates")};
    core_ = std::make_unique<Core>(std::move(deps), std::move(*core));
    add_job_webhooks(
        &webhooks_, {core_->local(), std::move(for_jobs), config_.gates.enabled("AdmissionGatedBy"),
                     [this] { return core_->synced(); }});
    metrics_.follow(*core_);
    add_probe_pages(&probes_, config_.health, [this] { return waits_for(); });
    add_metrics_page(&metrics_pages_, [this] { return metrics_text_.text(); });
    auto probing =
        serve_pages(config_.health.health_probe_bind_address, "health.healthProbeBindAddress",
                    scope_, clock_, log_.named("pages"), probes_);
    if (!probing) return probing.error();
    probe_server_ = std::move(*probing);
    auto metrics = make_metrics_port(
        config_, {scope_, clock_, log_.named("metrics"), access_client_, files_, metrics_pages_});
    if (!metrics) return metrics.error();
    metrics_port_ = std::move(*metrics);
    auto visibility = make_visibility_port(
        config_, {scope_, clock_, log_.named("visibility"), access_client_, files_, *core_});
    if (!visibility) return visibility.error();
    visibility_ = std::move(*visibility);
    // Before anything else is read: reading a Workload may need its conversion.
    scope_.spawn("certificates", certificates_.run());
    return ok();
  }

  /// A managed certificate is for the visibility API as well.
  Status present(const net::TlsServerOptions& tls) {
    const Status there = visibility_ ? visibility_->offer_managed(tls) : ok();
    return there ? webhook_port_.offer(tls) : there;
  }

  /// Empty when this replica is ready.
  std::string waits_for() const {
    if (!core_->synced()) return "the caches are being filled";
    return certificates_.waits_for();
  }

  /// Runs until cancelled, or until leadership is lost. A standby keeps its caches filled.
  Task<> manage(Status* ended) {
    Task<> syncing = core_->sync();
    if (!co_await elector_.unless_rejected(std::move(syncing), ended)) co_return;
    log_.info("caches are complete");
    scope_.spawn("leftovers of Kueue",
                 warn_of_kueue_leftovers(client_, log_,
                                         [this](std::string_view path) { return answers(path); }));
    if (!config_.leader_election.leader_elect) {
      core_->start();
      co_await elector_.until_rejected(ended);
      co_return;
    }
    Status led = ok();
    const auto leading = [this, &led] { return lead(&led); };
    const Status held = co_await elector_.run(leading);
    *ended = held ? led : held;
  }

  /// Ends when this replica cannot lead: another one may.
  Task<> lead(Status* ended) {
    metrics_.set_role("leader");
    *ended = co_await core_->take_over();
    if (*ended) co_await clock_.sleep_until(SteadyPoint::max());
  }

  /// Whether webhook calls of that path are answered here, as soon as there is a certificate.
  bool answers(std::string_view path) const {
    const bool off = !webhook_port_.open() && certificates_.waits_for().empty();
    return !off && webhooks_.answers(path);
  }

  Task<> release() {
    if (!elector_.is_leader()) co_return;
    Task<Status> releasing = elector_.release();
    const SteadyPoint deadline = clock_.steady() + shutdown_max;
    const Status released = co_await with_deadline(clock_, deadline, std::move(releasing));
    if (!released)
      log_.warning("the lease runs out by itself", {{"error", released.error().what()}});
  }

  Clock& clock_;
  Log log_;
  Configuration config_;
  kube::Client& client_;
  kube::Client& access_client_;
  Rng& rng_;
  std::string instance_;
  kube::Leadership& leadership_;
  kube::LeaderElector elector_;
  kubeconfig::SystemFiles files_;
  clusters::ProcessPluginRunner plugin_runner_;
  clusters::KubeconfigConnector connector_;
  Metrics metrics_;
  CachedText metrics_text_{clock_, [this] { return metrics_.text(); }};
  std::unique_ptr<Core> core_;
  TextPages probes_, metrics_pages_;
  webhooks::WebhookHandler webhooks_;
  TlsPort webhook_port_;
  CertificateSource certificates_;
  std::unique_ptr<net::HttpServer> probe_server_;
  std::unique_ptr<MetricsPort> metrics_port_;
  std::unique_ptr<VisibilityPort> visibility_;
  TaskScope scope_;
};

int refuse(const Log& log, std::string_view what, const Error& error) {
  log.error(what, {{"error", error.what()}});
  return 1;
}

Task<int> manage(ManagerOptions options) {
  const Executor executor = co_await asio::this_coro::executor;
  const std::size_t open_files = raise_open_files();
  SystemClock clock;
  const Log log(limit_lines(make_stderr_sink(options.log_format, options.log_level), clock,
                            log_lines_per_minute),
                "manager");
  if (open_files < open_files_wanted) {
    log.warning("the limit on open files is low: a hub needs about 40 for each worker",
                {{"limit", open_files}});
  }
  Rng rng = Rng::from_system();
  std::string ns;
  auto endpoint = find_own_cluster(options.kubeconfig, &ns);
  if (!endpoint) co_return refuse(log, "no cluster to manage", endpoint.error());
  auto config = read_configuration(options.config_file, options.feature_gates, ns);
  if (!config) co_return refuse(log, "cannot use the configuration", config.error());
  log_warnings(*config, log);
  const std::string server = endpoint->url;
  // Renewals of the Lease have a connection of their own, so that nothing holds them up.
  auto for_lease =
      kubeconfig::Connection::create(executor, clock, rng, *endpoint, basic_client_config());
  if (!for_lease) co_return refuse(log, "cannot connect", for_lease.error());
  auto for_certificates =
      kubeconfig::Connection::create(executor, clock, rng, *endpoint, basic_client_config());
  if (!for_certificates) co_return refuse(log, "cannot connect", for_certificates.error());
  auto for_access =
      kubeconfig::Connection::create(executor, clock, rng, *endpoint, access_client_config());
  if (!for_access) co_return refuse(log, "cannot connect", for_access.error());
  kube::Leadership leadership(clock);
  auto connection = kubeconfig::Connection::create(executor, clock, rng, std::move(*endpoint),
                                                   client_config(*config, leadership));
  if (!connection) co_return refuse(log, "cannot connect", connection.error());
  log.info("starting", {{"version", version}, {"cluster", server}, {"namespace", config->ns}});
  Manager manager(executor, clock, rng, log, std::move(*config),
                  {(*connection)->client(), (*for_lease)->client(), (*for_certificates)->client(),
                   (*for_access)->client()},
                  leadership);
  co_return co_await manager.run();
}

}  // namespace

int run_manager(ManagerOptions options) {
  die_with_parent(options.parent);
  if (!options.core_dumps) keep_memory_private();
  return run_process([&] { return manage(options); });
}

}  // namespace regatta::manager
