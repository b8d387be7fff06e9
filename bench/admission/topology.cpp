#include "bench/admission/cases.h"
#include "bench/admission/measure.h"
#include "bench/admission/world.h"
#include "lib/api/names.h"

#include <array>
#include <deque>

namespace regatta::admission::bench {
namespace {

constexpr const char* block = "cloud.example/block";
constexpr const char* rack = "cloud.example/rack";
constexpr int nodes_per_rack = 64;
constexpr int racks_per_block = 10;
constexpr int cycles_of_a_job = 20;

api::Node node(int number) {
  api::Node out;
  const int in_rack = number / nodes_per_rack;
  out.metadata.name = "pool-" + std::to_string(number % 4) + "-node-" + std::to_string(number);
  out.metadata.labels = {{"pool", "tas"},
                         {block, "block-" + std::to_string(in_rack / racks_per_block)},
                         {rack, "rack-" + std::to_string(in_rack)},
                         {std::string(api::labels::hostname), out.metadata.name}};
  out.status.allocatable = {{"cpu", api::Quantity(96)},
                            {"memory", *api::Quantity::parse("256Gi")},
                            {"pods", api::Quantity(110)}};
  api::StatusCondition ready;
  ready.type = "Ready";
  ready.status = api::ConditionStatus::True;
  out.status.conditions = {ready};
  return out;
}

void add_nodes(State* state, int count) {
  api::Topology topology;
  topology.metadata.name = "default";
  topology.spec.levels = {block, rack, std::string(api::labels::hostname)};
  state->upsert(topology);
  api::ResourceFlavor flavor;
  flavor.metadata.name = "default";
  flavor.spec.node_labels = {{"pool", "tas"}};
  flavor.spec.topology_name = "default";
  state->upsert(flavor);
  for (int i = 0; i < count; ++i) state->upsert(node(i), start);
}

/// Gangs of 4, 8 and 16 pods; one rack required, one rack preferred, any nodes.
api::Workload gang(const World::Job& job) {
  api::Workload out = World::workload(job);
  api::PodSet& pods = out.spec.pod_sets.front();
  pods.count = job.priority == 0 ? 4 : job.priority == 50 ? 8 : 16;
  api::PodSetTopologyRequest& request = pods.topology_request.emplace();
  if (job.number % 3 == 0) request.required = rack;
  if (job.number % 3 == 1) request.preferred = rack;
  if (job.number % 3 == 2) request.unconstrained = true;
  return out;
}

}  // namespace

void measure_topology(const TopologyFlow& flow, Report* report) {
  World world{Config{}};
  State& state = world.state();
  add_nodes(&state, flow.nodes);
  world.add_queues(flow.queues, [&](int i, api::ClusterQueue* queue) {
    queue->spec.cohort_name = "cohort" + std::to_string(i / 6);
    queue->spec.resource_groups = cpu_quota(flow.nodes * 96 / flow.queues, 10'000);
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
