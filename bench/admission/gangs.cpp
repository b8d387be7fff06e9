#include "bench/admission/gangs.h"

#include "lib/api/names.h"

namespace regatta::admission::bench {
namespace {

constexpr const char* block = "cloud.example/block";
constexpr const char* rack = "cloud.example/rack";
constexpr int nodes_per_rack = 64;
constexpr int racks_per_block = 10;

api::Node node(int number) {
  api::Node out;
  const int in_rack = number / nodes_per_rack;
  out.metadata.name = "pool-" + std::to_string(number % 4) + "-node-" + std::to_string(number);
  out.metadata.labels = {{"pool", "tas"},
                         {block, "block-" + std::to_string(in_rack / racks_per_block)},
                         {rack, "rack-" + std::to_string(in_rack)},
                         {std::string(api::labels::hostname), out.metadata.name}};
  out.status.allocatable = {{"cpu", api::Quantity(cpus_per_node)},
                            {"memory", *api::Quantity::parse("256Gi")},
                            {"pods", api::Quantity(110)}};
  api::StatusCondition ready;
  ready.type = "Ready";
  ready.status = api::ConditionStatus::True;
  out.status.conditions = {ready};
  return out;
}

}  // namespace

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

api::Workload gang(const World::Job& job, int pods) {
  api::Workload out = World::workload(job);
  api::PodSet& pod_set = out.spec.pod_sets.front();
  pod_set.count = pods;
  api::PodSetTopologyRequest& request = pod_set.topology_request.emplace();
  if (job.number % 3 == 0) request.required = rack;
  if (job.number % 3 == 1) request.preferred = rack;
  if (job.number % 3 == 2) request.unconstrained = true;
  return out;
}

}  // namespace regatta::admission::bench
