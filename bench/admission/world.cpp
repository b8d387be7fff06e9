#include "bench/admission/world.h"

#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

namespace regatta::admission::bench {
namespace {

void set_true(api::Workload* object, std::string_view type, TimePoint now) {
  api::Condition condition;
  condition.type = type;
  condition.status = api::ConditionStatus::True;
  api::set_condition(&object->status.conditions, condition, now);
}

/// A UUID that differs from others in its first digits, as real ones do.
std::string uid_of(int number) {
  char start[16];
  std::snprintf(start, sizeof(start), "%08x", static_cast<unsigned>(number) * 2654435761U);
  return start + ("-0000-4000-8000-" + std::to_string(100000000000 + number));
}

}  // namespace

api::PodTemplate cpu_template(int cpus) {
  Json pod;
  pod["spec"]["containers"][0]["name"] = "c";
  pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpus;
  return *api::PodTemplate::from(pod);
}

std::vector<api::ResourceGroup> cpu_quota(int nominal, std::optional<int> borrowing_limit) {
  std::optional<api::Quantity> limit;
  if (borrowing_limit) limit = api::Quantity(*borrowing_limit);
  return {{{"cpu"}, {{"default", {{"cpu", api::Quantity(nominal), limit, {}}}}}}};
}

CycleResult measured_cycle(State& state, TimePoint now, Meter* meter) {
  meter->start();
  state.flush(now);
  CycleResult result = run_cycle(state, now);
  meter->stop();
  return result;
}

World::World(Config config) : state_(std::move(config)) {
  api::Namespace ns;
  ns.metadata.name = "ns";
  state_.upsert(ns);
  api::ResourceFlavor flavor;
  flavor.metadata.name = "default";
  state_.upsert(flavor);
}

void World::add_queues(int count, const std::function<void(int, api::ClusterQueue*)>& shape) {
  for (int i = 0; i < count; ++i) {
    api::ClusterQueue queue;
    queue.metadata.name = "cq" + std::to_string(i);
    queue.spec.namespace_selector.emplace();
    shape(i, &queue);
    state_.upsert(queue, start);
    api::LocalQueue local;
    local.metadata.ns = "ns";
    local.metadata.name = "lq" + std::to_string(i);
    local.spec.cluster_queue = queue.metadata.name;
    state_.upsert(local, start);
  }
}

api::Workload World::workload(const Job& job) {
  api::Workload object;
  object.metadata.ns = "ns";
  object.metadata.name = "job-" + std::to_string(job.number) + "-abcde";
  object.metadata.uid = uid_of(job.number);
  object.metadata.creation_timestamp = start + std::chrono::milliseconds(job.number);
  object.spec.queue_name = "lq" + std::to_string(job.queue);
  object.spec.priority = job.priority;
  object.spec.pod_sets.emplace_back().pod_template = *job.pods;
  return object;
}

int World::number_of(const api::ObjectKey& key) {
  return std::atoi(key.name.c_str() + 4);
}

void World::confirm(api::Workload object, const AdmittedWorkload& decision, TimePoint now) {
  object.status.admission = decision.admission;
  set_true(&object, api::conditions::quota_reserved, now);
  set_true(&object, api::conditions::admitted, now);
  state_.upsert(object, now);
}

void World::evict(api::Workload object, TimePoint now) {
  set_true(&object, api::conditions::evicted, now);
  state_.upsert(object, now);
}

}  // namespace regatta::admission::bench
