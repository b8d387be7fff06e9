#include "tests/sim/federation.h"

#include "lib/net/pki.h"
#include "tests/sim/chaos.h"
#include "tests/sim/cluster.h"
#include "tests/sim/history.h"
#include "tests/sim/invariant.h"
#include "tests/sim/kinds.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

Json priority_class(const char* name, int value) {
  Json out = make_object("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", name);
  out["value"] = value;
  return out;
}

struct Federation {
  Federation(const SimOptions& given)
      : options(given),
        scenario(draw_scenario(given)),
        world(given.seed),
        network(world.executor()),
        history(world, given.keep_history),
        around{world,
               network,
               history,
               given.tampering,
               {},
               scenario.has(Trouble::job_kinds),
               scenario.has(Trouble::pods),
               scenario.has(Trouble::newer_objects),
               given.log_of},
        script(world.executor()) {
    // One authority serves all histories: no key of it is ever used.
    static const std::string authority = [] {
      sim::World then(1);
      auto made = net::CertificateAuthority::create("sim", then.now(), 24h * 3650);
      return made ? made->certificate_pem() : std::string();
    }();
    ca = authority;
    for (const std::string& name : scenario.hubs) add(name, true);
    for (const std::string& name : scenario.workers) add(name, false);
    expect();
    invariants = all_invariants(history, expected);
    watch();
    ChaosDeps deps{around, scenario, hubs(), workers(), ca, {}, script};
    deps.start = [this](SimCluster* cluster, std::size_t slot) { start(cluster, slot); };
    chaos = std::make_unique<Chaos>(std::move(deps));
  }

  void add(const std::string& name, bool hub) {
    auto cluster =
        std::make_unique<SimCluster>(around, name, !hub, scenario.clock_offsets.at(name));
    for (const char* suffix : {".sim", "-b.sim"}) around.hosts[name + suffix] = cluster.get();
    history.follow(name, cluster->server().store(), hub);
    if (!hub) {
      for (const std::string& from : scenario.hubs) {
        history.follow_link(from, name, cluster->shared_link(from));
      }
    }
    history.follow_link(name, name, cluster->own_link);
    (hub ? hub_list : worker_list).push_back(std::move(cluster));
  }

  std::vector<SimCluster*> hubs() { return pointers(hub_list); }
  std::vector<SimCluster*> workers() { return pointers(worker_list); }
  static std::vector<SimCluster*> pointers(const std::vector<std::unique_ptr<SimCluster>>& list) {
    std::vector<SimCluster*> out;
    for (const auto& one : list) out.push_back(one.get());
    return out;
  }

  void expect() {
    expected.worker_lost_timeout = scenario.worker_lost_timeout;
    // A watch that fell silent is dead after three minutes.
    expected.sees_within = 4min;
    expected.pools = scenario.has(Trouble::job_kinds);
    expected.refusals = scenario.has(Trouble::refusals) || scenario.has(Trouble::lasting_refusals);
    expected.fenced = scenario.has(Trouble::standby) || scenario.has(Trouble::pauses);
    expected.garbled = scenario.garbled;
    for (const std::string& name : {scenario.liar, scenario.garbled}) {
      if (!name.empty()) expected.lying.insert(name);
    }
    if (scenario.has(Trouble::byzantine_keeps)) {
      expected.keeping = {scenario.liar};
      expected.repents = !scenario.has(Trouble::byzantine);
    }
    for (const auto& [hub, list] : scenario.jobs) {
      for (const JobSpec& job : list) {
        expected.outcomes[title_of(job)] = job.fails ? "Failed" : "Complete";
      }
    }
    for (const std::string& name : scenario.hubs) expected.cpus[name] = scenario.hub_cpus;
    for (const std::string& name : scenario.workers) expected.cpus[name] = scenario.worker_cpus;
  }

  void watch() {
    history.on_change = [this](const Changed& c) {
      for (const auto& invariant : invariants) invariant->changed(c);
    };
    history.on_sent = [this](const Sent& sent) {
      for (const auto& invariant : invariants) invariant->sent(sent);
    };
    history.on_run_over = [this](const Run& run) {
      for (const auto& invariant : invariants) invariant->run_over(run);
    };
  }

  ManagerPlan hub_plan(const std::string& hub) const {
    ManagerPlan plan;
    manager::CoreConfig& core = plan.core;
    core.origin = scenario.origins.at(hub);
    core.dispatch.plan.nomination.dispatcher = placement::dispatcher_of(scenario.dispatcher);
    core.dispatch.plan.nomination.step_size = 1;
    core.dispatch.plan.nomination.round = scenario.round;
    core.dispatch.plan.worker_lost_timeout = scenario.worker_lost_timeout;
    core.dispatch.plan.give_up_after = scenario.give_up_after;
    core.dispatch.plan.attempts_max = scenario.attempts_max;
    core.dispatch.plan.head_start = scenario.head_start;
    core.dispatch.gc_interval = scenario.gc_interval;
    core.dispatch.plan.preemption_gates = scenario.gates;
    core.dispatch.plan.between_gates = 10s;
    core.dispatch.planner = options.planner;
    core.scheduler.admission.reactivation_delay = 200ms;
    if (scenario.has(Trouble::standby) || scenario.has(Trouble::pauses)) {
      kube::LeaderElectionOptions election;
      election.lease = api::ObjectKey("kueue-system", "c1f6bfd2.kueue.x-k8s.io");
      plan.election = election;
      plan.deaf = scenario.has(Trouble::standby) && scenario.has(Trouble::deaf_standby);
    }
    return plan;
  }

  ManagerPlan worker_plan() const {
    ManagerPlan plan;
    plan.core.scheduler.admission.preemption_gates = scenario.gates;
    plan.core.workloads.lifecycle.preemption_gates = scenario.gates;
    plan.core.multikueue = false;
    plan.core.scheduler.admission.reactivation_delay = 200ms;
    return plan;
  }

  static jobs::JobKinds all_kinds() {
    std::vector<std::string> frameworks;
    for (const KindOfJob& kind : kinds_of_jobs()) frameworks.push_back(kind.framework);
    return jobs::enabled_kinds(frameworks);
  }

  void start(SimCluster* cluster, std::size_t slot) {
    if (cluster->manager_alive(slot)) return;
    const bool hub = scenario.origins.contains(cluster->name());
    ManagerPlan plan = hub ? hub_plan(cluster->name()) : worker_plan();
    if (scenario.has(Trouble::job_kinds)) plan.core.kinds = all_kinds();
    if (options.manager) options.manager(&plan, hub);
    cluster->start_manager(slot, std::move(plan));
  }

  Task<> set_up_hub(SimCluster* hub) {
    QueueOptions queue;
    queue.cpus = scenario.hub_cpus;
    queue.checks = {"multikueue"};
    queue.preempting = scenario.has(Trouble::preemption);
    if (scenario.has(Trouble::job_kinds)) queue.pool = hub->name();
    if (scenario.has(Trouble::other_checks)) queue.checks.push_back("other");
    std::vector<Json> objects = make_queues(queue);
    for (const char* name : multikueue_checks) objects.push_back(multikueue_check(name));
    if (scenario.has(Trouble::other_checks)) {
      objects.push_back(make_check("other", "simulation/other"));
    }
    objects.push_back(priority_class("important", 1000));
    objects.push_back(priority_class("ordinary", 0));
    std::vector<std::string> named = scenario.workers;
    named.resize(std::min<std::size_t>(named.size(), 20));  // the API allows no more
    Json config = make_kueue("MultiKueueConfig", "all", {{"clusters", named}});
    if (scenario.large()) config["metadata"]["annotations"][select_clusters] = "fleet=simulation";
    objects.push_back(std::move(config));
    for (const std::string& worker : scenario.workers) {
      objects.push_back(make_secret(worker, worker + ".sim", ca, 0));
      objects.push_back(make_cluster(worker));
    }
    co_await hub->set_up(std::move(objects));
    if (scenario.has(Trouble::other_checks)) {
      const Json active = {{"status",
                            {{"conditions",
                              {{{"type", "Active"},
                                {"status", "True"},
                                {"reason", "Active"},
                                {"message", ""},
                                {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}}}};
      const api::ObjectKey key("other");
      co_await hub->edit(api::AdmissionCheck::resource, key, active, true);
    }
  }

  Task<> set_up() {
    for (SimCluster* hub : hubs()) co_await set_up_hub(hub);
    for (SimCluster* worker : workers()) {
      QueueOptions queue;
      queue.cpus = scenario.worker_cpus;
      queue.preempting = scenario.gates;
      if (scenario.has(Trouble::job_kinds)) queue.pool = worker->name();
      queue.with_namespace = !scenario.has(Trouble::namespaces) || worker != workers()[1];
      co_await worker->set_up(make_queues(queue));
    }
    if (scenario.has(Trouble::job_kinds)) {
      for (SimCluster* hub : hubs()) co_await hub->set_up(runtimes_of_kinds());
      for (SimCluster* worker : workers()) co_await worker->set_up(runtimes_of_kinds());
    }
    ready = true;
  }

  Task<> submit_jobs(SimCluster* hub) {
    for (const JobSpec& job : scenario.jobs.at(hub->name())) {
      co_await world.sleep_for(job.after);
      co_await hub->apply(job_of(job));
    }
    ++submitted;
  }

  void look() {
    ++result.steps;
    // Links change when time passes.
    const SteadyPoint now = world.steady();
    if (!scenario.large() || std::exchange(looked_at, now) != now) history.look();
    for (const auto& invariant : invariants) invariant->stepped();
    if (options.on_look && result.steps % options.steps_between_looks == 0) {
      options.on_look(*hub_list.front(), world.now());
    }
  }

  bool over() {
    look();
    if (!history.violations().empty()) return true;
    // Whether all of it has ended takes long to find out where there is much.
    if (scenario.large() && world.steady() < next_look_at_all) return false;
    next_look_at_all = world.steady() + 5s;
    if (scenario.large() && options.on_progress) {
      options.on_progress(world.steady() - began, jobs_ended(history) + result.removed);
    }
    if (submitted < hub_list.size() || (options.faults && !chaos->calm())) return false;
    return every_job_ended(history) && workers_clean(history, expected);
  }

  /// Every version of every object would be kept: a gigabyte for fifty workers.
  Task<> forget_history() {
    for (;;) {
      for (SimCluster* worker : workers()) {
        worker->server().compact();
        co_await world.sleep_for(Duration(10s) / std::int64_t(workers().size()));
      }
      for (SimCluster* hub : hubs()) hub->server().compact();
    }
  }

  /// Users of a large fleet remove each job soon after its end, as a TTL would. Otherwise they
  /// would take most of the memory.
  Task<> remove_ended_jobs(SimCluster* hub) {
    std::set<std::string> ended;  // uids, of those that the last look has seen
    for (;;) {
      co_await world.sleep_for(10s);
      std::vector<apiserver::StoredPtr> old;
      std::set<std::string> young;
      history.each_job(hub->name(), [&](const apiserver::StoredPtr& job) {
        const std::string uid = uid_of(job->value());
        if (ended.contains(uid)) old.push_back(job);
        if (!outcome_of(job->value()).empty()) young.insert(uid);
      });
      ended = std::move(young);
      for (const apiserver::StoredPtr& job : old) {
        const api::ResourceInfo kind = kind_of(job->value()).resource;
        co_await hub->remove(kind, api::ObjectKey(job->ns(), job->name()));
        ++result.removed;
      }
    }
  }

  void start_all() {
    for (SimCluster* hub : hubs()) {
      hub->start_infrastructure();
      start(hub, 0);
      if (scenario.has(Trouble::standby)) start(hub, 1);
    }
    for (SimCluster* worker : workers()) {
      if (worker->name() == scenario.liar) continue;
      worker->start_infrastructure();
      start(worker, 0);
    }
  }

  void run() {
    script.spawn("set up", set_up());
    world.run_for(10min, [this] { return ready; });
    start_all();
    began = world.steady();
    for (SimCluster* hub : hubs()) script.spawn("jobs", submit_jobs(hub));
    if (scenario.large()) {
      script.spawn("compaction", forget_history());
      for (SimCluster* hub : hubs()) script.spawn("removals", remove_ended_jobs(hub));
    }
    if (options.faults) chaos->start();
    result.bound = options.give_up.value_or(scenario.progress_bound());
    world.run_for(result.bound, [this] { return over(); });
    // What waits for a time of day waits longer where the clock was set back.
    if (const Duration set_back = chaos->counts().set_back; set_back > Duration(0) && !over()) {
      result.bound += set_back;
      world.run_for(set_back, [this] { return over(); });
    }
    result.took = world.steady() - began;
    for (const auto& invariant : invariants) invariant->at_bound();
    if (history.violations().empty()) {
      // Everything that is still under way must leave the stores as they are.
      world.run_for(30s, [this] {
        look();
        return false;
      });
      // A silent watch is only detected after some minutes. It may hide what came late, too.
      world.run_for(7min, [this] {
        look();
        return queues_empty(history, expected) && workers_clean(history, expected);
      });
      for (const auto& invariant : invariants) invariant->at_rest();
    }
    report();
    shut_down();
  }

  void report() {
    result.pods = history.pods();
    result.finished = jobs_ended(history) + result.removed;
    result.crashes = chaos->counts().crashes;
    result.deeds = chaos->counts().deeds;
    result.partitions = chaos->counts().partitions;
    result.violations = history.violations();
    result.history = history.text();
    for (const Trouble trouble : scenario.troubles) {
      result.troubles += (result.troubles.empty() ? "" : " ") + std::string(name_of(trouble));
    }
  }

  void shut_down() {
    script.stop();
    for (SimCluster* hub : hubs()) hub->crash_all();
    for (SimCluster* worker : workers()) worker->crash_all();
    for (SimCluster* hub : hubs()) hub->stop_infrastructure();
    for (SimCluster* worker : workers()) worker->stop_infrastructure();
    network.stop();
    world.settle();
  }

  SimOptions options;
  SimResult result;
  Scenario scenario;
  sim::World world;
  TaskScope network;
  History history;
  Surroundings around;
  std::vector<std::unique_ptr<SimCluster>> hub_list, worker_list;
  std::string ca;
  Expectations expected;
  Invariants invariants;
  std::unique_ptr<Chaos> chaos;
  bool ready = false;
  SteadyPoint began{}, looked_at{}, next_look_at_all{};
  std::size_t submitted = 0;
  TaskScope script;
};

}  // namespace

SimResult run_federation(const SimOptions& options) {
  Federation federation(options);
  federation.run();
  return std::move(federation.result);
}

}  // namespace regatta::simtest
