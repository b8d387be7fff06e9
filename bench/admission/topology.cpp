#include "bench/admission/cases.h"
#include "bench/admission/gangs.h"
#include "bench/admission/measure.h"

#include <array>
#include <deque>

namespace regatta::admission::bench {
namespace {

constexpr int cycles_of_a_job = 20;

/// A gang of 4, 8 or 16 pods.
api::Workload gang(const World::Job& job) {
  return gang(job, job.priority == 0 ? 4 : job.priority == 50 ? 8 : 16);
}

}  // namespace

void measure_topology(const TopologyFlow& flow, Report* report) {
  World world{Config{}};
  State& state = world.state();
  add_nodes(&state, flow.nodes);
  world.add_queues(flow.queues, [&](int i, api::ClusterQueue* queue) {
    queue->spec.cohort_name = "cohort" + std::to_string(i / 6);
    queue->spec.resource_groups = cpu_quota(flow.nodes * cpus_per_node / flow.queues, 10'000);
  });
  const std::array<api::PodTemplate, 3> pods{cpu_template(1), cpu_template(4), cpu_template(8)};
  const auto job = [&](int number) {
    const std::size_t kind = number % 10 < 7 ? 0 : number % 10 < 9 ? 1 : 2;
    return World::Job{number, number % flow.queues, &pods[kind], static_cast<int>(kind) * 50};
  };
  Meter all;
  all.start();
  for (int i = 0; i < flow.workloads; ++i) state.upsert(gang(job(i)), start);
  Meter cycles;
  int count = 0;
  std::size_t admitted = 0;
  std::deque<std::vector<api::ObjectKey>> running;
  for (TimePoint now = start; state.has_heads() && count < flow.workloads; ++count) {
    now += std::chrono::seconds(2);
    cycles.start();
    state.flush(now);
    const CycleResult result = run_cycle(state, now);
    cycles.stop();
    admitted += result.admitted.size();
    auto& started = running.emplace_back();
    for (const AdmittedWorkload& decision : result.admitted) {
      world.confirm(gang(job(World::number_of(decision.key))), decision, now);
      started.push_back(decision.key);
    }
    while (!running.empty() && (running.size() > cycles_of_a_job || !state.has_heads())) {
      for (const auto& key : running.front()) state.erase_workload(key, now);
      running.pop_front();
      state.flush(now + std::chrono::seconds(1));
    }
    state.take_changes();
  }
  all.stop();
  const auto done = static_cast<double>(admitted);
  report->add({flow.name,
               {{"admissions_per_cpu_second", done / cycles.seconds()},
                {"with_reading_and_ending", done / all.seconds()},
                {"cycles", static_cast<double>(count)},
                {"us_per_cycle", cycles.seconds() / count * 1e6, 1},
                {"peak_mb", peak_mb()}}});
}

}  // namespace regatta::admission::bench
