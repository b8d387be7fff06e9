#include "tests/sim/federation.h"

#include "kubeconfig/validate.h"
#include "lib/base/base64.h"
#include "lib/net/pki.h"
#include "tests/sim/checks.h"
#include "tests/sim/cluster.h"

#include <nlohmann/json.hpp>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

const std::string team = "team";

/// Kubeconfigs name hosts "<cluster>.sim"; each leads to the server of that cluster.
class SimConnector final : public clusters::Connector {
 public:
  explicit SimConnector(sim::World& world) : world_(world) {}
  void add(SimCluster& cluster) { clusters_[cluster.name() + ".sim"] = &cluster; }
  std::function<void(const SimCluster&, const net::HttpRequest&)> on_request;

  std::variant<clusters::WorkerConnection, clusters::ConnectFailure> connect(
      std::string_view kubeconfig) override {
    const kubeconfig::Verdict verdict = kubeconfig::from_bytes(kubeconfig);
    if (!verdict.endpoint) {
      return clusters::ConnectFailure{std::string(verdict.reason), verdict.message};
    }
    SimCluster& cluster = *clusters_.at(verdict.endpoint->host);
    clusters::WorkerConnection connection;
    auto sender = std::make_shared<LinkSender>(world_, world_.rng, cluster.server(), "multikueue",
                                               cluster.hub_link);
    sender->on_request = [this, &cluster](const net::HttpRequest& request) {
      if (on_request) on_request(cluster, request);
    };
    connection.sender = std::move(sender);
    connection.server = verdict.endpoint->url;
    return connection;
  }

  std::variant<std::string, clusters::ConnectFailure> read_path(const std::string&) override {
    return clusters::ConnectFailure{"BadKubeConfig", "no paths here"};
  }

 private:
  sim::World& world_;
  std::map<std::string, SimCluster*> clusters_;
};

Json object(const char* api_version, const char* kind, const std::string& name,
            const std::string& ns = "") {
  Json metadata = {{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json kueue(const char* kind, const std::string& name, Json spec, const std::string& ns = "") {
  Json out = object("kueue.x-k8s.io/v1beta2", kind, name, ns);
  if (!spec.is_null()) out["spec"] = std::move(spec);
  return out;
}

std::vector<Json> queues(int cpus, bool hub, bool preempting = false) {
  Json spec = {
      {"namespaceSelector", Json::object()},
      {"resourceGroups",
       {{{"coveredResources", {"cpu"}},
         {"flavors",
          {{{"name", "default"}, {"resources", {{{"name", "cpu"}, {"nominalQuota", cpus}}}}}}}}}}};
  if (preempting) spec["preemption"] = {{"withinClusterQueue", "LowerOrNewerEqualPriority"}};
  if (hub) {
    spec["admissionChecksStrategy"] = {{"admissionChecks", {{{"name", "multikueue"}}}}};
  }
  return {object("v1", "Namespace", team), object("v1", "Namespace", "kueue-system"),
          kueue("ResourceFlavor", "default", Json::object()),
          kueue("ClusterQueue", "cq", std::move(spec)),
          kueue("LocalQueue", "default", {{"clusterQueue", "cq"}}, team)};
}

std::string kubeconfig_of(const std::string& cluster, const std::string& ca, int generation) {
  kubeconfig::Endpoint endpoint;
  endpoint.url = "https://" + cluster + ".sim:6443";
  endpoint.host = cluster + ".sim";
  endpoint.port = 6443;
  endpoint.ca_pem = ca;
  endpoint.bearer_token = "token-" + std::to_string(generation);
  return kubeconfig::write(endpoint, cluster);
}

Json secret_of(const std::string& cluster, const std::string& ca, int generation) {
  Json out = object("v1", "Secret", cluster + "-kubeconfig", "kueue-system");
  out["data"] = {{"kubeconfig", base64_encode(kubeconfig_of(cluster, ca, generation))}};
  return out;
}

struct Federation {
  Federation(const SimOptions& options)
      : options(options),
        world(options.seed),
        connector(world),
        hub(world, "hub", false),
        chaos_rng(options.seed * 0x9E3779B97F4A7C15ull + 1),
        script(world.executor()) {
    auto ca_made = net::CertificateAuthority::create("sim", world.now(), 24h * 365);
    ca = ca_made ? ca_made->certificate_pem() : "";
    for (int i = 0; i < options.workers; ++i) {
      workers.push_back(std::make_unique<SimCluster>(world, std::string(1, char('a' + i)), true));
      connector.add(*workers.back());
    }
    std::vector<SimCluster*> all;
    for (const auto& worker : workers) all.push_back(worker.get());
    checks = std::make_unique<Checks>(world, hub, all, options.keep_history);
    connector.on_request = [this](const SimCluster& cluster, const net::HttpRequest& request) {
      checks->requested(cluster, request);
    };
    choose_configuration();
    mend_links();
  }

  void choose_configuration() {
    const char* const names[] = {"kueue.x-k8s.io/multikueue-dispatcher-all-at-once",
                                 "kueue.x-k8s.io/multikueue-dispatcher-incremental"};
    std::string name = options.dispatcher;
    if (name.empty()) name = names[chaos_rng.chance(0.3) ? 1 : 0];
    core.dispatch.plan.nomination.dispatcher = placement::dispatcher_of(name);
    core.dispatch.plan.nomination.step_size = 1;
    core.dispatch.plan.nomination.round = 20s;
    core.dispatch.plan.worker_lost_timeout = 15s;
    core.dispatch.plan.head_start = Duration(chaos_rng.chance(0.5) ? 30 : 0);
    core.dispatch.gc_interval = 20s;
    core.dispatch.plan.preemption_gates = gated();
    core.dispatch.plan.between_gates = 10s;
    core.dispatch.planner = options.planner;
    core.scheduler.admission.reactivation_delay = 200ms;
  }

  /// Workers preempt, but only one at a time for each workload.
  bool gated() const { return options.seed % 3 == 0; }

  manager::CoreConfig worker_config() const {
    manager::CoreConfig config;
    config.scheduler.admission.preemption_gates = gated();
    config.workloads.lifecycle.preemption_gates = gated();
    config.multikueue = false;
    config.scheduler.admission.reactivation_delay = 200ms;
    return config;
  }

  Task<> set_up() {
    std::vector<Json> on_hub = queues(14, true);
    Json names = Json::array();
    for (const auto& worker : workers) names.push_back(worker->name());
    on_hub.push_back(
        kueue("AdmissionCheck", "multikueue",
              {{"controllerName", "kueue.x-k8s.io/multikueue"},
               {"parameters",
                {{"apiGroup", "kueue.x-k8s.io"}, {"kind", "MultiKueueConfig"}, {"name", "all"}}}}));
    on_hub.push_back(kueue("MultiKueueConfig", "all", {{"clusters", names}}));
    for (const auto& worker : workers) {
      on_hub.push_back(secret_of(worker->name(), ca, 0));
      on_hub.push_back(kueue(
          "MultiKueueCluster", worker->name(),
          {{"clusterSource", {{"kubeConfig", {{"location", worker->name() + "-kubeconfig"}}}}}}));
    }
    co_await hub.set_up(std::move(on_hub));
    for (const auto& worker : workers) co_await worker->set_up(queues(6, false, gated()));
    ready = true;
  }

  Task<> submit_jobs() {
    for (int i = 0; i < options.jobs; ++i) {
      co_await world.sleep_for(Duration(chaos_rng.between(0, 4000)));
      Json job = object("batch/v1", "Job", "job-" + std::to_string(i), team);
      job["metadata"]["labels"] = {{"kueue.x-k8s.io/queue-name", "default"}};
      const std::int64_t millis = chaos_rng.between(500, 15000);
      job["metadata"]["annotations"] = {
          {"sandbox.regatta.dev/run-seconds", std::to_string(double(millis) / 1000)}};
      const int pods = int(chaos_rng.between(1, 3));
      job["spec"] = {{"suspend", true},
                     {"managedBy", "kueue.x-k8s.io/multikueue"},
                     {"parallelism", pods},
                     {"completions", pods},
                     {"template",
                      {{"spec",
                        {{"restartPolicy", "Never"},
                         {"containers",
                          {{{"name", "c"},
                            {"image", "i"},
                            {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}}}};
      co_await hub.apply(std::move(job));
    }
    submitted = true;
  }

  // --- faults ---

  void break_link(kube::NetworkFaults* faults) {
    const auto some = [&](double most) {
      return chaos_rng.chance(0.5) ? 0 : chaos_rng.unit() * most;
    };
    faults->drop_before = some(0.15);
    faults->lose_reply = some(0.15);
    faults->hang_reply = some(0.03);
    faults->conflict = some(0.1);
    faults->gone = some(0.1);
    faults->too_many = some(0.1);
    faults->server_error = some(0.1);
    faults->cut_watch = some(0.1);
    faults->half_open_watch = some(0.01);
    faults->gone_in_watch = some(0.05);
    faults->delay_min = Duration(0);
    faults->delay_max = Duration(chaos_rng.between(5, 400));
  }

  /// A link without faults still takes a few milliseconds, so that requests can overtake each
  /// other.
  static kube::NetworkFaults sound_link() {
    kube::NetworkFaults faults;
    faults.delay_min = Duration(1);
    faults.delay_max = Duration(15);
    return faults;
  }

  void mend_links() {
    *hub.own_link = sound_link();
    for (const auto& worker : workers) {
      const bool partitioned = worker->hub_link->partitioned;
      *worker->hub_link = sound_link();
      worker->hub_link->partitioned = partitioned;  // the fault ends by itself
      *worker->own_link = sound_link();
    }
  }

  Task<> partition(SimCluster* worker) {
    ++result.partitions;
    worker->hub_link->partitioned = true;
    co_await world.sleep_for(Duration(chaos_rng.between(500, 40000)));
    worker->hub_link->partitioned = false;
  }

  Task<> crash(SimCluster* cluster) {
    if (!cluster->manager_alive()) co_return;
    ++result.crashes;
    cluster->crash_manager();
    co_await world.sleep_for(Duration(chaos_rng.between(10, 8000)));
    if (cluster->has_standby() && cluster->standby_synced()) {
      cluster->promote_standby();
    } else {
      start(cluster);
    }
    if (cluster == &hub && standbys) {
      cluster->stop_standby();
      cluster->start_standby(core, connector);
    }
  }

  void start(SimCluster* cluster) {
    cluster->start_manager(cluster == &hub ? core : worker_config(), connector);
  }

  Task<> rotate(SimCluster* worker, int generation) {
    const Json patch = {{"data", secret_of(worker->name(), ca, generation)["data"]}};
    const auto done = co_await hub.admin().patch_raw(
        api::Secret::resource, {"kueue-system", worker->name() + "-kubeconfig"},
        kube::PatchType::merge, dump_json(patch));
    (void)done;
  }

  Task<> delete_a_job() {
    const std::string name = "job-" + std::to_string(chaos_rng.between(0, options.jobs - 1));
    kube::DeleteOptions how;
    how.propagation_policy = "Background";
    const Status done = co_await hub.admin().remove<api::Job>({team, name}, how);
    (void)done;
  }

  /// A user of the worker deletes objects that the hub created there.
  Task<> vandalise(SimCluster* worker) {
    const bool job = chaos_rng.chance(0.5);
    const apiserver::Shelf* shelf =
        worker->server().store().find_shelf(job ? "jobs.batch" : "workloads.kueue.x-k8s.io");
    if (!shelf || shelf->objects().empty()) co_return;
    auto chosen = shelf->objects().begin();
    std::advance(chosen, chaos_rng.between(0, std::int64_t(shelf->objects().size()) - 1));
    const api::ObjectKey key(chosen->second->ns(), chosen->second->name());
    kube::DeleteOptions how;
    how.propagation_policy = "Background";
    const api::ResourceInfo resource = job ? api::Job::resource : api::Workload::resource;
    const Status done = co_await worker->admin().remove(resource, key, how);
    (void)done;
  }

  SimCluster* any_worker() {
    return workers[std::size_t(chaos_rng.between(0, options.workers - 1))].get();
  }

  Task<> chaos() {
    const TimePoint end = world.now() + options.faults_end;
    // The kinds of faults in this history.
    const bool crashes = chaos_rng.chance(0.7), partitions = chaos_rng.chance(0.7),
               noise = chaos_rng.chance(0.7), deletions = chaos_rng.chance(0.4),
               vandals = chaos_rng.chance(0.3);
    int generation = 0;
    while (world.now() < end) {
      co_await world.sleep_for(Duration(chaos_rng.between(200, 5000)));
      const auto dice = chaos_rng.between(0, 9);
      if (dice <= 1 && crashes) script.spawn("crash hub", crash(&hub));
      if (dice == 2 && crashes) script.spawn("crash worker", crash(any_worker()));
      if (dice >= 3 && dice <= 4 && partitions) script.spawn("partition", partition(any_worker()));
      if (dice == 5 && noise) break_link(any_worker()->hub_link.get());
      if (dice == 6 && noise) break_link(hub.own_link.get());
      if (dice == 7 && noise) break_link(any_worker()->own_link.get());
      if (dice == 8 && deletions) co_await delete_a_job();
      if (vandals && chaos_rng.chance(0.15)) co_await vandalise(any_worker());
      if (dice == 9) {
        if (chaos_rng.chance(0.5)) {
          any_worker()->server().compact();
        } else {
          co_await rotate(any_worker(), ++generation);
        }
      }
    }
    mend_links();
    calm = true;
  }

  void run() {
    script.spawn("set up", set_up());
    world.run_for(10s, [this] { return ready; });
    hub.start_infrastructure();
    start(&hub);
    if (standbys) hub.start_standby(core, connector);
    for (const auto& worker : workers) {
      worker->start_infrastructure();
      start(worker.get());
    }
    const TimePoint begin = world.now();
    script.spawn("jobs", submit_jobs());
    if (options.faults) {
      script.spawn("chaos", chaos());
    } else {
      calm = true;
    }
    const auto step = [this] {
      ++result.steps;
      checks->step();
      if (options.on_look && result.steps % options.steps_between_looks == 0) {
        options.on_look(hub, world.now());
      }
      return !checks->violations().empty() ||
             (calm && submitted && checks->every_job_ended() && checks->workers_clean());
    };
    world.run_for(options.give_up, step);
    if (checks->violations().empty()) {
      // Everything that is still under way must leave the stores as they are.
      world.run_for(30s, [this] {
        checks->step();
        return false;
      });
      // A silent watch is only detected after some minutes.
      world.run_for(6min, [this] {
        checks->step();
        return checks->queues_empty();
      });
      checks->at_rest();
    }
    result.took = world.now() - begin;
    result.finished = checks->jobs_ended();
    result.violations = checks->violations();
    result.history = checks->history();
    shut_down();
  }

  void shut_down() {
    script.stop();
    hub.crash_manager();
    hub.stop_standby();
    for (const auto& worker : workers) worker->crash_manager();
    hub.stop_infrastructure();
    for (const auto& worker : workers) worker->stop_infrastructure();
    world.settle();
  }

  SimOptions options;
  SimResult result;
  sim::World world;
  SimConnector connector;
  SimCluster hub;
  std::vector<std::unique_ptr<SimCluster>> workers;
  manager::CoreConfig core;
  std::string ca;
  Rng chaos_rng;
  std::unique_ptr<Checks> checks;
  bool ready = false, submitted = false, calm = false;
  const bool standbys = options.seed % 2 == 0;  ///< a standby takes over when the hub crashes
  TaskScope script;
};

}  // namespace

SimResult run_federation(const SimOptions& options) {
  Federation federation(options);
  federation.run();
  return std::move(federation.result);
}

}  // namespace regatta::simtest
