#include "manager/placement_run.h"

#include "kubeconfig/connection.h"
#include "lib/kube/lease.h"
#include "lib/net/http_server.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/process.h"
#include "manager/core_config.h"
#include "manager/endpoint.h"
#include "manager/managed_cluster_rules.h"
#include "manager/placement_hub.h"
#include "manager/probes.h"
#include "manager/version.h"

#include <utility>

namespace regatta::manager {
namespace {

constexpr Duration shutdown_max = std::chrono::seconds(5);
constexpr int log_lines_per_minute = 60;

kube::ClientConfig client_config() {
  kube::ClientConfig client;
  client.user_agent = "regatta-placement/" + std::string(version);
  client.field_manager = "kueue-admission";
  return client;
}

kube::ClientConfig worker_client_config() {
  kube::ClientConfig client = client_config();
  client.field_manager = "regatta-placement";
  return client;
}

PlacementHubConfig hub_config(const PlacementOptions& options, const std::string& identity) {
  PlacementHubConfig config;
  config.system_namespace = options.system_namespace;
  config.instance = identity;
  config.placement.every_workload = options.every_workload;
  config.placement.choose.at_once = static_cast<std::size_t>(options.at_once);
  config.placement.ledger.in_flight_max = static_cast<std::size_t>(options.in_flight_max);
  return config;
}

/// Null without a configuration file. `invalid` when it says nothing of ManagedClusters.
Result<std::optional<placement::ManagedClusterRules>> managed_clusters_of(
    const PlacementOptions& options, const std::string& identity, const Log& log) {
  if (options.config_file.empty()) return std::optional<placement::ManagedClusterRules>();
  const auto read = read_configuration(options.config_file, "", options.system_namespace);
  if (!read) return read.error();
  log_warnings(*read, log);
  const auto core = core_config(*read, identity);
  if (!core) return core.error();
  if (!core->managed_clusters) {
    return Error(Errc::invalid, options.config_file + " has no multiKueue.managedClusters");
  }
  return std::optional(
      complete(*core->managed_clusters, core->kinds.dispatched(), options.system_namespace));
}

kube::LeaderElectionOptions election_of(const PlacementOptions& options,
                                        const std::string& identity) {
  kube::LeaderElectionOptions election;
  election.lease = {options.system_namespace, options.lease};
  election.identity = identity;
  return election;
}

int refuse(const Log& log, std::string_view what, const Error& error) {
  log.error(what, {{"error", error.what()}});
  return 1;
}

/// Ends when this replica cannot lead: another one may.
Task<> lead(PlacementHub& hub, Clock& clock, Status* ended) {
  *ended = co_await hub.take_over();
  if (*ended) co_await clock.sleep_until(SteadyPoint::max());
}

Task<> work(PlacementHub& hub, kube::LeaderElector& elector, bool elect, Clock& clock,
            Status* ended) {
  Task<> syncing = hub.sync();
  if (!co_await elector.unless_rejected(std::move(syncing), ended)) co_return;
  if (!elect) {
    hub.start();
    co_await elector.until_rejected(ended);
    co_return;
  }
  Status led = ok();
  const auto leading = [&] { return lead(hub, clock, &led); };
  const Status held = co_await elector.run(leading);
  *ended = held ? led : held;
}

Task<> release(kube::LeaderElector& elector, Clock& clock) {
  if (!elector.is_leader()) co_return;
  Task<Status> releasing = elector.release();
  (void)co_await with_deadline(clock, clock.steady() + shutdown_max, std::move(releasing));
}

Task<int> place(PlacementOptions options) {
  const Executor executor = co_await asio::this_coro::executor;
  SystemClock clock;
  const Log log(limit_lines(make_stderr_sink(options.log_format, options.log_level), clock,
                            log_lines_per_minute),
                "placement");
  Rng rng = Rng::from_system();
  std::string ns;
  auto endpoint = find_own_cluster(options.kubeconfig, &ns);
  if (!endpoint) co_return refuse(log, "no hub", endpoint.error());
  if (options.system_namespace.empty()) {
    options.system_namespace = ns.empty() ? "kueue-system" : ns;
  }
  const std::string identity = "regatta-placement_" + rng.uuid();
  auto managed_clusters = managed_clusters_of(options, identity, log);
  if (!managed_clusters) {
    co_return refuse(log, "cannot use the configuration", managed_clusters.error());
  }
  kube::Leadership leadership(clock);
  // Renewals of the Lease have a connection of their own, so that nothing holds them up.
  auto for_lease = kubeconfig::Connection::create(executor, clock, rng, *endpoint, client_config());
  if (!for_lease) co_return refuse(log, "cannot connect", for_lease.error());
  kube::ClientConfig config = client_config(), for_workers_config = worker_client_config();
  if (options.leader_elect) config.write_gate = for_workers_config.write_gate = &leadership;
  log.info(
      "starting",
      {{"version", version}, {"cluster", endpoint->url}, {"namespace", options.system_namespace}});
  auto for_workers =
      kubeconfig::Connection::create(executor, clock, rng, *endpoint, for_workers_config);
  if (!for_workers) co_return refuse(log, "cannot connect", for_workers.error());
  auto connection =
      kubeconfig::Connection::create(executor, clock, rng, std::move(*endpoint), config);
  if (!connection) co_return refuse(log, "cannot connect", connection.error());
  TaskScope scope(executor);
  kube::LeaderElector elector((*for_lease)->client(), clock, rng, log.named("leader-election"),
                              election_of(options, identity), leadership);
  PlacementHubConfig of_hub = hub_config(options, identity);
  of_hub.managed_clusters = std::move(*managed_clusters);
  PlacementHub hub({(*connection)->client(), (*for_workers)->client(), clock, rng, scope, log},
                   std::move(of_hub));
  TextPages pages;
  add_probe_pages(&pages, HealthConfig(), [&hub] {
    return hub.synced() ? std::string() : std::string("the caches are being filled");
  });
  auto probes = serve_pages(options.probe_address, "--health-probe-bind-address", scope, clock,
                            log.named("pages"), pages);
  if (!probes) co_return refuse(log, "cannot serve probes", probes.error());
  Status ended = ok();
  Task<> working = work(hub, elector, options.leader_elect, clock, &ended);
  const bool failed = co_await until_signalled(std::move(working));
  if (failed) log.error("cannot go on", {{"error", ended.error().what()}});
  log.info("shutting down");
  co_await release(elector, clock);  // before requests are cut off
  scope.stop();
  co_await scope.join();
  co_return failed ? 1 : 0;
}

}  // namespace

int run_placement(PlacementOptions options) {
  if (!options.core_dumps) keep_memory_private();
  return run_process([&] { return place(options); });
}

}  // namespace regatta::manager
