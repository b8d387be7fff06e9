/// Cost of admission, in CPU time: what a cycle costs, what reading an object costs, and how both
/// grow with what waits. Usage: regatta_admission_bench [queues workloads]...

#include "admission/cycle.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/resource.h>

namespace regatta::admission {
namespace {

constexpr TimePoint start{std::chrono::hours(24 * 365)};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

long peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

api::PodTemplate pod_template(int cpus) {
  Json pod;
  pod["spec"]["containers"][0]["name"] = "c";
  pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpus;
  return *api::PodTemplate::from(pod);
}

void finish(State& state, api::Workload object, const AdmittedWorkload& decision, TimePoint now) {
  object.status.admission = decision.admission;
  for (const auto type : {api::conditions::quota_reserved, api::conditions::admitted}) {
    api::Condition condition;
    condition.type = type;
    condition.status = api::ConditionStatus::True;
    api::set_condition(&object.status.conditions, condition, now);
  }
  state.upsert(object, now);
  state.erase_workload(decision.key, now);
}

/// Queues of 20 CPUs that may borrow, in cohorts of 100; small, medium and large jobs mixed; every
/// job ends right after its admission was read back.
void run(int queues, int workloads, bool fair) {
  Config config;
  if (fair) config.fair_sharing.emplace();
  State state(config);
  api::Namespace ns;
  ns.metadata.name = "ns";
  state.upsert(ns);
  api::ResourceFlavor flavor;
  flavor.metadata.name = "default";
  state.upsert(flavor);
  for (int i = 0; i < queues; ++i) {
    api::ClusterQueue queue;
    queue.metadata.name = "cq" + std::to_string(i);
    queue.spec.namespace_selector.emplace();
    queue.spec.cohort_name = "cohort" + std::to_string(i / 100);
    queue.spec.resource_groups = {
        {{"cpu"}, {{"default", {{"cpu", api::Quantity(20), api::Quantity(100), {}}}}}}};
    state.upsert(queue, start);
    api::LocalQueue local;
    local.metadata.ns = "ns";
    local.metadata.name = "lq" + std::to_string(i);
    local.spec.cluster_queue = queue.metadata.name;
    state.upsert(local, start);
  }
  const std::vector<api::PodTemplate> templates{pod_template(1), pod_template(5), pod_template(20)};
  const auto make = [&](int i) {
    api::Workload object;
    object.metadata.ns = "ns";
    object.metadata.name = "job-" + std::to_string(i) + "-abcde";
    object.metadata.uid = "00000000-0000-4000-8000-" + std::to_string(100000000000 + i);
    object.metadata.creation_timestamp = start + std::chrono::milliseconds(i);
    object.spec.queue_name = "lq" + std::to_string(i % queues);
    const int kind = i % 10 < 7 ? 0 : i % 10 < 9 ? 1 : 2;
    object.spec.priority = kind * 50;
    object.spec.pod_sets.emplace_back().pod_template = templates[static_cast<std::size_t>(kind)];
    return object;
  };
  const long before_mb = peak_mb();
  const double load_start = cpu_seconds();
  for (int i = 0; i < workloads; ++i) state.upsert(make(i), start);
  const double load = cpu_seconds() - load_start;
  const long loaded_mb = peak_mb();
  double cycles = 0;
  int count = 0;
  std::size_t admitted = 0;
  TimePoint now = start;
  const double total_start = cpu_seconds();
  while (state.has_heads() && count < 3000) {
    now += std::chrono::seconds(2);
    const double cycle_start = cpu_seconds();
    state.flush(now);
    const CycleResult result = run_cycle(state, now);
    cycles += cpu_seconds() - cycle_start;
    ++count;
    admitted += result.admitted.size();
    for (const auto& decision : result.admitted) {
      const int i = std::atoi(decision.key.name.c_str() + 4);
      finish(state, make(i), decision, now);
    }
    state.take_changes();
  }
  const double total = cpu_seconds() - total_start;
  std::printf(
      "%6d queues %8d workloads %s: %7.0f admissions per CPU-second in cycles (%7.0f with reading "
      "and ending), %5d cycles of %8.1f us, load %4.1f us each, +%ld MB\n",
      queues, workloads, fair ? "fair     " : "classical", static_cast<double>(admitted) / cycles,
      static_cast<double>(admitted) / total, count, cycles / count * 1e6, load / workloads * 1e6,
      loaded_mb - before_mb);
}

/// Full queues of small jobs, then one large urgent job in each: one cycle that preempts them all.
void run_preemption(int queues) {
  State state;
  api::Namespace ns;
  ns.metadata.name = "ns";
  state.upsert(ns);
  api::ResourceFlavor flavor;
  flavor.metadata.name = "default";
  state.upsert(flavor);
  const api::PodTemplate small = pod_template(1);
  const api::PodTemplate large = pod_template(20);
  const auto add = [&](int queue, int number, const api::PodTemplate& pod, int priority) {
    api::Workload object;
    object.metadata.ns = "ns";
    object.metadata.name = "job-" + std::to_string(queue) + "-" + std::to_string(number);
    object.metadata.uid = object.metadata.name;
    object.metadata.creation_timestamp = start + std::chrono::milliseconds(number);
    object.spec.queue_name = "lq" + std::to_string(queue);
    object.spec.priority = priority;
    object.spec.pod_sets.emplace_back().pod_template = pod;
    state.upsert(object, start);
  };
  for (int i = 0; i < queues; ++i) {
    api::ClusterQueue queue;
    queue.metadata.name = "cq" + std::to_string(i);
    queue.spec.namespace_selector.emplace();
    queue.spec.cohort_name = "cohort" + std::to_string(i / 100);
    queue.spec.preemption.within_cluster_queue = api::WithinQueuePolicy::LowerPriority;
    queue.spec.preemption.reclaim_within_cohort = api::ReclaimPolicy::Any;
    queue.spec.resource_groups = {{{"cpu"}, {{"default", {{"cpu", api::Quantity(20), {}, {}}}}}}};
    state.upsert(queue, start);
    api::LocalQueue local;
    local.metadata.ns = "ns";
    local.metadata.name = "lq" + std::to_string(i);
    local.spec.cluster_queue = queue.metadata.name;
    state.upsert(local, start);
    for (int job = 0; job < 20; ++job) add(i, job, small, 0);
  }
  while (state.has_heads()) run_cycle(state, start);
  for (int i = 0; i < queues; ++i) add(i, 99, large, 10);
  const double before = cpu_seconds();
  const CycleResult result = run_cycle(state, start + std::chrono::seconds(1));
  const double preempting = cpu_seconds() - before;
  for (const auto& decision : result.preempted) state.forget(decision.key, start);
  const double again = cpu_seconds();
  std::size_t admitted = 0;
  admitted += run_cycle(state, start + std::chrono::seconds(2)).admitted.size();
  const double total = preempting + cpu_seconds() - again;
  std::printf("%6d preemptors, %zu victims, %zu admitted: %.0f admissions per CPU-second\n", queues,
              result.preempted.size(), admitted, static_cast<double>(admitted) / total);
}

}  // namespace
}  // namespace regatta::admission

int main(int argc, char** argv) {
  using regatta::admission::run;
  if (argc == 2) {
    regatta::admission::run_preemption(std::atoi(argv[1]));
    return 0;
  }
  if (argc >= 3) {
    run(std::atoi(argv[1]), std::atoi(argv[2]), argc > 3);
    return 0;
  }
  regatta::admission::run_preemption(1000);
  run(30, 15000, false);
  run(1000, 50000, false);
  run(1000, 50000, true);
  run(10, 1000, false);
  run(10, 1000000, false);
  run(10000, 100000, false);
}
