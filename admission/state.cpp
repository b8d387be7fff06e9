#include "admission/state.h"

#include <algorithm>
#include <utility>

namespace regatta::admission {
namespace {

/// Pods end all the time, so reactivations for the room they leave are batched for this long.
constexpr std::chrono::seconds pod_batch{10};

}  // namespace

State::State(Config config) : books_(std::move(config)) {}

StatusReader State::reader() {
  books_.queues.settled_forest();
  return StatusReader(books_);
}

void State::refresh_activity(QueueInfo* queue) {
  books_.queues.refresh_activity(queue);
  books_.pending.refresh_ready(queue);
}

void State::refresh_all_activity() {
  for (const auto& [name, id] : books_.queues.by_name()) {
    QueueInfo& queue = books_.queues.queue(id);
    const bool was_active = queue.active;
    refresh_activity(&queue);
    if (queue.active && !was_active) books_.pending.reactivate_at(queue.node, TimePoint{});
    books_.queues.touch(queue);
  }
}

void State::upsert(const api::Namespace& ns) {
  if (!books_.objects.upsert(ns)) return;
  // Parked workloads may pass with labels that match now.
  books_.pending.reactivate_matching(ns.metadata.labels, TimePoint{});
}

void State::erase_namespace(const std::string& name) {
  books_.objects.erase_namespace(name);
}

void State::upsert(const api::ResourceFlavor& flavor) {
  const bool changed = books_.objects.upsert(flavor);
  refresh_all_activity();
  if (!changed) return;
  const FlavorId id = books_.objects.flavor(flavor.metadata.name)->id;
  books_.pending.reactivate_users({id}, TimePoint{});
}

void State::erase_flavor(const std::string& name) {
  if (books_.objects.erase_flavor(name)) refresh_all_activity();
}

void State::upsert(const api::AdmissionCheck& check) {
  books_.objects.upsert(check);
  refresh_all_activity();
}

void State::erase_check(const std::string& name) {
  if (books_.objects.erase_check(name)) refresh_all_activity();
}

void State::upsert(const api::Topology& topology) {
  Topologies& topologies = books_.objects.topologies();
  const bool known = topologies.has_topology(topology.metadata.name);
  if (!topologies.set_topology(topology.metadata.name, topology.spec.levels)) return;
  if (known) {
    books_.pending.reactivate_all(TimePoint{});
  } else {
    refresh_all_activity();
  }
}

void State::erase_topology(const std::string& name) {
  if (books_.objects.topologies().erase_topology(name)) refresh_all_activity();
}

void State::upsert(const api::Node& node, TimePoint now) {
  if (!books_.objects.topologies().upsert(node)) return;
  books_.pending.reactivate_all(now + config().reactivation_delay);
}

void State::erase_node(const std::string& name, TimePoint now) {
  if (!books_.objects.topologies().erase_node(name)) return;
  books_.pending.reactivate_all(now + config().reactivation_delay);
}

void State::upsert(const api::Pod& pod, TimePoint now) {
  books_.pending.reactivate_users(books_.objects.topologies().upsert(pod), now + pod_batch);
}

void State::upsert(const api::Pod& pod, const PodAmounts& takes, TimePoint now) {
  books_.pending.reactivate_users(books_.objects.topologies().upsert(pod, takes), now + pod_batch);
}

void State::erase_pod(const api::ObjectKey& key, TimePoint now) {
  books_.pending.reactivate_users(books_.objects.topologies().erase_pod(key), now + pod_batch);
}

void State::upsert(const api::Cohort& cohort, TimePoint now) {
  const NodeId node = books_.queues.upsert(cohort);
  if (node != no_node) books_.pending.reactivate_at(node, now + config().reactivation_delay);
}

void State::erase_cohort(const std::string& name, TimePoint) {
  books_.queues.erase_cohort(name);
}

void State::upsert(const api::ClusterQueue& object, TimePoint now) {
  QueueInfo* queue = books_.queues.find(object.metadata.name);
  const bool created = queue == nullptr;
  if (created) {
    queue = &books_.queues.add(object.metadata.name);
    books_.pending.queues_changed();
  }
  queue->deleting = object.metadata.deleting();
  if (created || queue->spec != object.spec) {
    books_.queues.set_spec(queue, object.spec);
    books_.pending.reactivate_at(queue->node, now + config().reactivation_delay);
  }
  books_.queues.touch(*queue);
  if (created) adopt(queue, now);
  refresh_activity(queue);
}

/// Takes over workloads that were read before their ClusterQueue.
void State::adopt(QueueInfo* queue, TimePoint now) {
  books_.usage.adopt(*queue);
  for (LocalQueueId id = 0; id < books_.queues.locals().size(); ++id) {
    const LocalQueueInfo& local = books_.queues.local(id);
    if (local.exists && local.spec.cluster_queue == queue->name) books_.pending.reroute(id, now);
  }
}

void State::erase_cluster_queue(const std::string& name, TimePoint now) {
  QueueInfo* queue = books_.queues.find(name);
  if (queue == nullptr) return;
  books_.usage.orphan(*queue);
  books_.queues.forget_name(*queue);
  books_.pending.queues_changed();
  queue->active = false;
  for (LocalQueueId id = 0; id < books_.queues.locals().size(); ++id) {
    if (books_.queues.local(id).queue == queue->id) books_.pending.reroute(id, now);
  }
  books_.pending.refresh_ready(queue);
  books_.queues.remove(queue);
}

void State::upsert(const api::LocalQueue& object, TimePoint now) {
  const LocalQueueId id = books_.queues.local_queue_id(object.metadata.key());
  LocalQueueInfo& queue = books_.queues.local(id);
  if (queue.exists && queue.spec == object.spec) return;
  queue.exists = true;
  queue.spec = object.spec;
  books_.history.read(&queue, object.status, now);
  books_.pending.reroute(id, now);
  books_.queues.touch(id);
}

void State::erase_local_queue(const api::ObjectKey& key) {
  const LocalQueueId id = books_.queues.find_local(key);
  if (id == no_id) return;
  LocalQueueInfo& queue = books_.queues.local(id);
  queue.exists = false;
  queue.history = {};  // a new LocalQueue of this name has used nothing
  books_.pending.reroute(id, TimePoint{});
}

State::Affected State::waiting_in_namespace(const std::string& ns) const {
  Affected affected;
  for (const LocalQueueInfo& local : books_.queues.locals()) {
    if (local.key.ns != ns) continue;
    for (const WorkloadId id : local.members) {
      if (books_.workloads[id].reservation == nullptr) affected.push_back(books_.workloads[id].key);
    }
  }
  return affected;
}

State::Affected State::waiting_with_class(const std::string& runtime_class) const {
  Affected affected;
  for (const LocalQueueInfo& local : books_.queues.locals()) {
    for (const WorkloadId id : local.members) {
      const WorkloadEntry& entry = books_.workloads[id];
      const auto& classes = entry.shape->runtime_classes;
      const bool named = std::find(classes.begin(), classes.end(), runtime_class) != classes.end();
      if (named && entry.reservation == nullptr) affected.push_back(entry.key);
    }
  }
  return affected;
}

State::Affected State::upsert(const api::LimitRange& range) {
  return books_.objects.pod_defaults().upsert(range) ? waiting_in_namespace(range.metadata.ns)
                                                     : Affected();
}

State::Affected State::erase_limit_range(const api::ObjectKey& key) {
  return books_.objects.pod_defaults().erase_limit_range(key) ? waiting_in_namespace(key.ns)
                                                              : Affected();
}

State::Affected State::upsert(const api::RuntimeClass& runtime_class) {
  if (!books_.objects.pod_defaults().upsert(runtime_class)) return {};
  return waiting_with_class(runtime_class.metadata.name);
}

State::Affected State::erase_runtime_class(const std::string& name) {
  return books_.objects.pod_defaults().erase_runtime_class(name) ? waiting_with_class(name)
                                                                 : Affected();
}

void State::request_reactivation(const std::string& cluster_queue, TimePoint now) {
  const QueueInfo* queue = books_.queues.find(cluster_queue);
  if (queue == nullptr) return;
  books_.pending.reactivate_at(queue->node, now + config().reactivation_delay);
}

PodAmounts State::taken_for_a_pod(const api::ObjectKey& workload,
                                  const std::string& pod_set) const {
  PodAmounts taken;
  const WorkloadId id = books_.workloads.find(workload);
  if (id == no_id || !books_.workloads[id].reservation) return taken;
  for (const PodSetReservation& set : books_.workloads[id].reservation->pod_sets) {
    if (set.name != pod_set || set.places.empty()) continue;
    for (const ResourceAmount& one : set.places.front().pods->requests) {
      taken.emplace(books_.names.resources.name(one.resource), one.amount);
    }
  }
  return taken;
}

std::optional<TimePoint> State::next_flush() const {
  const auto reactivation = books_.queues.reactivations().next();
  const auto places = books_.places.next();
  if (!reactivation || !places) return reactivation ? reactivation : places;
  return std::min(*reactivation, *places);
}

void State::flush(TimePoint now) {
  books_.places.flush(now);
  books_.pending.flush(now);
}

}  // namespace regatta::admission
