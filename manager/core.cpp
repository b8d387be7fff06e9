#include "manager/core.h"

#include "jobs/read_job.h"
#include "manager/managed_cluster_rules.h"

namespace regatta::manager {
namespace {

constexpr double normal_events_per_second = 25;

kube::EventRecorderOptions event_options(const CoreConfig& config) {
  kube::EventRecorderOptions options;
  options.component = "regatta";
  options.instance = config.instance;
  options.normal_per_second = normal_events_per_second;
  return options;
}

clusters::LocalClusterDeps local_deps(const CoreDeps& deps, const CoreConfig& config,
                                      kube::EventRecorder& events) {
  return {deps.client,
          events,
          deps.clock,
          deps.rng,
          deps.scope.executor(),
          deps.log,
          config.system_namespace,
          config.kinds,
          config.topology,
          config.multikueue};
}

kube::InformerDeps informer_deps(const CoreDeps& deps) {
  return {deps.client, deps.clock, deps.rng, deps.scope.executor(), deps.log};
}

clusters::RemoteClusterDeps remote_deps(const CoreDeps& deps, const CoreConfig& config,
                                        const net::SendGate* gate) {
  return {deps.clock,
          deps.rng,
          deps.scope.executor(),
          deps.log,
          config.origin,
          config.kinds.dispatched(),
          config.on_remote_request,
          config.worker_limits,
          gate};
}

std::optional<clusters::ProfileSource> profile_source(const CoreDeps& deps,
                                                      const CoreConfig& config) {
  if (!config.multikueue || !config.plugins) return std::nullopt;
  kube::InformerDeps informer = informer_deps(deps);
  informer.log = deps.log.named("informer.clusterprofiles");
  return clusters::ProfileSource{std::move(informer), *config.plugins};
}

/// Nothing had to be waited for.
Task<Status> done() {
  co_return ok();
}

std::unique_ptr<controllers::ManagedClusterController> managed_clusters(
    clusters::LocalCluster& local, clusters::Fleet& fleet, const CoreDeps& deps,
    const CoreConfig& config) {
  if (!config.multikueue || !config.managed_clusters) return nullptr;
  const auto is_connected = [&fleet](const std::string& name) {
    const auto* member = fleet.find(name);
    return member && member->ready();
  };
  const auto is_told = [&fleet](const std::string& name) {
    return fleet.told(name, api::managed_clusters::credentials_lacking);
  };
  const auto tell = [&fleet](const std::string& name, std::optional<clusters::Notice> notice) {
    fleet.tell(name, api::managed_clusters::credentials_lacking, std::move(notice));
    return done();
  };
  auto made = std::make_unique<controllers::ManagedClusterController>(
      controllers::ManagedClusterDeps{
          local.secrets, local.multikueue_clusters, local.workloads, informer_deps(deps),
          local.events, deps.scope, [&local] { return local.uid(); }, is_connected, is_told, tell},
      complete(*config.managed_clusters, config.kinds.dispatched(), config.system_namespace));
  fleet.on_connection([look = made.get()](const std::string& name) { look->look(name); });
  return made;
}

controllers::PlacementDeps placement_deps(clusters::LocalCluster& local, const CoreDeps& deps) {
  const auto job_annotations = [&local](const api::Workload& workload) {
    const jobs::JobPtr job = jobs::owner_of(local.objects(), workload);
    return job ? job->metadata().annotations : api::StringMap();
  };
  const auto write_workload = [&local](api::ObjectKey key,
                                       clusters::Wanted<api::WorkloadStatus> wanted) {
    return local.update_status(std::move(key), std::move(wanted));
  };
  const auto write_check = [&local](api::AdmissionCheck before, api::AdmissionCheck after) {
    return local.write_status(local.checks, std::move(before), std::move(after));
  };
  return {local.workloads,
          local.local_queues,
          local.cluster_queues,
          local.checks,
          local.multikueue_clusters,
          local.selection,
          informer_deps(deps),
          local.events,
          deps.scope,
          deps.log.named("placement"),
          local.system_namespace,
          job_annotations,
          write_workload,
          write_check};
}

}  // namespace

Core::Core(CoreDeps deps, CoreConfig config)
    : deps_(deps),
      config_(std::move(config)),
      events_(deps.client, deps.clock, deps.rng, deps.scope.executor(), deps.log.named("events"),
              event_options(config_)),
      local_(local_deps(deps_, config_, events_)),
      worker_gate_(deps.write_gate),
      fleet_(local_, deps.connector, deps.scope, remote_deps(deps_, config_, &worker_gate_),
             profile_source(deps_, config_)),
      dispatcher_({local_, fleet_, deps.scope},
                  [this] {
                    controllers::DispatcherConfig c = config_.dispatch;
                    c.origin = config_.origin;
                    c.on_stopped = [this](const api::ObjectKey& key) { jobs_.look(key); };
                    return c;
                  }()),
      scheduler_(local_, deps.scope,
                 [this] {
                   controllers::SchedulerConfig c = config_.scheduler;
                   if (config_.multikueue) {
                     c.nominate_first = [this](const api::Workload& workload,
                                               api::WorkloadStatus* reserved) {
                       dispatcher_.nominate_first(workload, reserved);
                     };
                   }
                   return c;
                 }()),
      workloads_(local_, scheduler_, deps.rng, deps.scope, config_.workloads),
      queues_(local_, scheduler_, deps.scope, config_.status_batch),
      unsupported_(local_, config_.quota_automation),
      checks_(local_, deps.scope, config_.dispatch.plan.nomination.dispatcher),
      quota_(local_, fleet_, deps.scope,
             {config_.quota_automation, config_.dispatch.plan.worker_lost_timeout}),
      provide_(local_, fleet_, deps.scope, config_.origin),
      managed_clusters_(managed_clusters(local_, fleet_, deps_, config_)),
      provisioning_(local_, informer_deps(deps_), deps.scope, config_.provisioning),
      placement_(placement_deps(local_, deps_), config_.placement),
      elastic_(local_, informer_deps(deps_), deps.scope),
      ungater_(local_, deps.scope, config_.ungater),
      nodes_(local_, deps.scope, config_.nodes),
      jobs_(local_, deps.scope, [this] {
        controllers::JobReconcilerConfig c = config_.jobs;
        // Tests give an answer that is wrong, to show that a check notices.
        if (config_.multikueue && !c.may_run_on_worker) {
          c.may_run_on_worker = [this](const api::ObjectKey& key) {
            return dispatcher_.may_still_run(key);
          };
        }
        return c;
      }()) {}

Task<> Core::sync() {
  local_.start(deps_.scope);
  co_await local_.wait_synced();
  synced_ = true;
}

Task<Status> Core::take_over() {
  const Status caught_up = co_await local_.catch_up();
  if (!caught_up) co_return caught_up.error().within("taking over");
  start();
  co_return ok();
}

void Core::start() {
  deps_.scope.spawn("events", events_.run());
  scheduler_.start();
  workloads_.start();
  queues_.start();
  unsupported_.start();
  ungater_.start();
  nodes_.start();
  provisioning_.start();
  if (config_.jobs.policy.elastic) elastic_.start();
  jobs_.start();
  if (!config_.multikueue) return;
  fleet_.start();
  checks_.start();
  quota_.start();
  provide_.start();
  if (managed_clusters_) managed_clusters_->start();
  placement_.start();
  dispatcher_.start();
}

bool Core::idle() const {
  return synced_ && scheduler_.idle() && workloads_.idle() && queues_.idle() && ungater_.idle() &&
         nodes_.idle() && jobs_.idle() && fleet_.idle() && checks_.idle() && provisioning_.idle() &&
         (!managed_clusters_ || managed_clusters_->idle()) && placement_.idle() && quota_.idle() &&
         provide_.idle() && elastic_.idle() && dispatcher_.idle();
}

}  // namespace regatta::manager
