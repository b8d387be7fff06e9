#include "admission/state.h"
#include "lib/api/names.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace regatta::admission {
namespace {

void mix(std::size_t* digest, std::size_t value) {
  *digest ^= value + 0x9e3779b97f4a7c15ULL + (*digest << 6U) + (*digest >> 2U);
}

void mix_condition(std::size_t* digest, const api::Condition* condition) {
  if (condition == nullptr) return mix(digest, 0);
  mix(digest, static_cast<std::size_t>(condition->status) + 1);
  mix(digest, std::hash<std::string>()(condition->reason));
  mix(digest, std::hash<std::string>()(condition->message));
  mix(digest, static_cast<std::size_t>(condition->last_transition_time.time_since_epoch().count()));
}

/// A gate is closed until its state says otherwise.
bool has_closed_gate(const api::Workload& workload) {
  const auto& states = workload.status.preemption_gates;
  const auto open = [&](const std::string& name) {
    return std::any_of(states.begin(), states.end(), [&](const auto& state) {
      return state.name == name && state.position == "Open";
    });
  };
  const auto& names = workload.spec.preemption_gates;
  return !std::all_of(names.begin(), names.end(), open);
}

std::size_t wake_digest(const api::Workload& workload) {
  const api::Conditions& conditions = workload.status.conditions;
  std::size_t digest = has_closed_gate(workload) ? 1 : 0;
  mix_condition(&digest, api::find_condition(conditions, api::conditions::evicted));
  mix_condition(&digest, api::find_condition(conditions, api::conditions::requeued));
  return digest;
}

bool holds_quota(const api::Workload& workload) {
  const api::Conditions& conditions = workload.status.conditions;
  return api::is_true(conditions, api::conditions::quota_reserved) &&
         workload.status.admission.has_value() &&
         !api::is_true(conditions, api::conditions::finished);
}

bool has_failed_check(const api::Workload& workload) {
  const auto& checks = workload.status.admission_checks;
  return std::any_of(checks.begin(), checks.end(), [](const auto& check) {
    return check.state == api::CheckState::Retry || check.state == api::CheckState::Rejected;
  });
}

std::unique_ptr<const std::vector<std::int32_t>> full_counts(const api::Workload& workload) {
  const auto& pod_sets = workload.spec.pod_sets;
  const auto shrinks = [](const api::PodSet& pod_set) { return pod_set.min_count.has_value(); };
  if (workload.status.reclaimable_pods.empty()) return nullptr;
  if (std::none_of(pod_sets.begin(), pod_sets.end(), shrinks)) return nullptr;
  auto counts = std::make_unique<std::vector<std::int32_t>>();
  for (const api::PodSet& pod_set : pod_sets) counts->push_back(pod_set.count);
  return counts;
}

bool backoff_over(const WorkloadEntry& entry, TimePoint now) {
  return !entry.requeued_false && (!entry.requeue_at || *entry.requeue_at <= now);
}

}  // namespace

LocalQueueId State::local_queue_id(const api::ObjectKey& key) {
  const auto [it, added] =
      local_queue_ids_.try_emplace(key, static_cast<LocalQueueId>(local_queues_.size()));
  if (added) local_queues_.emplace_back().key = key;
  return it->second;
}

QueueInfo* State::queue_for(const WorkloadEntry& entry) {
  if (entry.local_queue == no_id) return nullptr;
  const QueueId id = local_queues_[entry.local_queue].queue;
  return id == no_id ? nullptr : queues_[id].get();
}

void State::count_pending(const WorkloadEntry& entry, int delta) {
  LocalQueueInfo& queue = local_queues_[entry.local_queue];
  queue.pending = static_cast<std::size_t>(static_cast<std::int64_t>(queue.pending) + delta);
  touch(entry.local_queue);
}

/// Queues a workload that has no reservation, where its backoff and its likes say.
void State::enqueue(WorkloadId id, TimePoint now) {
  WorkloadEntry& entry = workloads_[id];
  QueueInfo* queue = queue_for(entry);
  if (queue == nullptr || !entry.admissible) return;
  const bool alike = config_.equivalence_hashing &&
                     queue->spec.queueing_strategy == api::QueueingStrategy::BestEffortFIFO &&
                     queue->pending.parked_alike(entry);
  if (!backoff_over(entry, now)) {
    queue->pending.delay(id);
  } else if (alike) {
    queue->pending.park(id);
  } else {
    queue->pending.push(id);
  }
  entry.was_queued = true;
  count_pending(entry, 1);
  touch(*queue);
  refresh_ready(queue);
}

void State::dequeue(WorkloadId id) {
  WorkloadEntry& entry = workloads_[id];
  if (entry.place != Place::queued && entry.place != Place::delayed) return;
  QueueInfo* queue = queue_for(entry);
  assert(queue != nullptr);
  queue->pending.erase(id);
  count_pending(entry, -1);
  touch(*queue);
  refresh_ready(queue);
}

void State::upsert(const api::Workload& workload, TimePoint now) {
  const api::ObjectKey key = workload.metadata.key();
  WorkloadId id = workloads_.find(key);
  if (id != no_id && workloads_[id].uid != workload.metadata.uid) {
    erase_workload(key, now);
    id = no_id;
  }
  if (id == no_id) {
    id = workloads_.insert(key);
    workloads_[id].uid = workload.metadata.uid;
  }
  const bool holds = holds_quota(workload);
  WorkloadEntry& entry = workloads_[id];
  const bool assumed = entry.reservation != nullptr && entry.reservation->assumed;
  if (assumed && !holds && is_admissible(workload)) {
    return;  // an older reading: the reservation is on its way to the API
  }
  if (holds) {
    update_reserved(id, workload, now);
  } else {
    update_pending(id, workload, now);
  }
}

/// Takes over everything but the reservation. Returns whether something changed that may make a
/// parked workload admissible.
bool State::read_spec(WorkloadId id, const api::Workload& workload) {
  WorkloadEntry& entry = workloads_[id];
  const api::Conditions& conditions = workload.status.conditions;
  ShapePtr shape = shapes_.intern(workload, config_, pod_defaults_, &names_);
  const std::int64_t priority = workload.spec.priority.value_or(0);
  const std::size_t digest = wake_digest(workload);
  const LocalQueueId local_queue = local_queue_id({workload.metadata.ns, workload.spec.queue_name});
  const bool changed = entry.shape != shape || entry.priority != priority ||
                       entry.wake_digest != digest || entry.local_queue != local_queue;
  if (entry.local_queue != local_queue) {
    if (entry.local_queue != no_id) local_queues_[entry.local_queue].members.erase(id);
    local_queues_[local_queue].members.insert(id);
    entry.local_queue = local_queue;
  }
  entry.shape = std::move(shape);
  entry.full_counts = full_counts(workload);
  entry.priority = priority;
  entry.wake_digest = digest;
  entry.gated = has_closed_gate(workload);
  entry.order_time = queue_order_time(workload, config_);
  entry.generation = workload.metadata.generation;
  entry.admissible = is_admissible(workload);
  entry.failed_checks = has_failed_check(workload);
  entry.evicted = api::is_true(conditions, api::conditions::evicted);
  entry.requeued_false = api::is_false(conditions, api::conditions::requeued);
  entry.requeue_at.reset();
  if (workload.status.requeue_state) entry.requeue_at = workload.status.requeue_state->requeue_at;
  return changed;
}

void State::update_pending(WorkloadId id, const api::Workload& workload, TimePoint now) {
  WorkloadEntry& entry = workloads_[id];
  if (entry.reservation != nullptr) {
    const QueueId queue = entry.reservation->queue;
    drop_places_task(id);
    release(id);
    read_spec(id, workload);
    enqueue(id, now);
    reactivate_after(id, queue, now);
    return;
  }
  // Most updates of a queued workload change nothing that matters here: it keeps its place, and a
  // parked one must not get a new turn for those.
  if (entry.pending_class != nullptr && is_admissible(workload)) {
    const ShapePtr shape = shapes_.intern(workload, config_, pod_defaults_, &names_);
    const bool same = shape == entry.shape &&
                      entry.priority == workload.spec.priority.value_or(0) &&
                      entry.wake_digest == wake_digest(workload) &&
                      local_queues_[entry.local_queue].key.name == workload.spec.queue_name &&
                      backoff_over(entry, now);
    if (same) {
      entry.failed_checks = has_failed_check(workload);
      entry.generation = workload.metadata.generation;
      entry.full_counts = full_counts(workload);
      return;
    }
  }
  const QueueInfo* queue = queue_for(entry);
  const bool sticky = queue != nullptr && queue->pending.sticky() == id;
  dequeue(id);
  read_spec(id, workload);
  enqueue(id, now);
  if (sticky && queue_for(entry) == queue && entry.pending_class != nullptr) make_sticky(id);
}

void State::update_reserved(WorkloadId id, const api::Workload& workload, TimePoint now) {
  WorkloadEntry& entry = workloads_[id];
  const bool held = entry.reservation != nullptr;
  const LocalQueueId payer = entry.local_queue;
  auto penalty = held ? std::exchange(entry.reservation->penalty, nullptr) : nullptr;
  bool freed = false;
  if (held) {
    for (std::size_t i = 0; i < workload.spec.pod_sets.size() && !freed; ++i) {
      freed =
          i < entry.shape->pod_sets.size() &&
          entry.shape->pod_sets[i].count > count_after_reclaim(workload, workload.spec.pod_sets[i]);
    }
    release(id);
  } else {
    dequeue(id);
  }
  read_spec(id, workload);
  entry.progress.reset();
  auto reservation = read_reservation(workload, *entry.shape);
  if (reservation->queue == no_id) {
    orphans_[workload.status.admission->cluster_queue].insert(id);
    entry.reservation = std::move(reservation);
    entry.place = Place::reserved;
    drop_places_task(id);
    if (penalty) discharge(payer, *penalty);
    return;
  }
  if (freed) reactivate_after(id, reservation->queue, now);
  reserve(id, std::move(reservation));
  if (penalty && entry.reservation->admitted) {
    settle_charge(payer, *penalty, now);
  } else {
    entry.reservation->penalty = std::move(penalty);
  }
  read_places_task(id, workload, now);
}

void State::erase_workload(const api::ObjectKey& key, TimePoint now) {
  const WorkloadId id = workloads_.find(key);
  if (id == no_id) return;
  WorkloadEntry& entry = workloads_[id];
  if (entry.reservation != nullptr) {
    const QueueId queue = entry.reservation->queue;
    drop_places_task(id);
    release(id);
    reactivate_after(id, queue, now);
  } else {
    const QueueInfo* queue = queue_for(entry);
    dequeue(id);
    if (queue != nullptr && entry.was_queued) request_reactivation(queue->name, now);
  }
  if (entry.local_queue != no_id) local_queues_[entry.local_queue].members.erase(id);
  workloads_.erase(id);
}

/// The workload gave back quota of the ClusterQueue.
void State::reactivate_after(WorkloadId id, QueueId queue, TimePoint now) {
  if (queue == no_id) return;
  if (!config_.reactivate_on_any_release && !workloads_[id].was_queued) return;
  request_reactivation(queues_[queue]->name, now);
}

void State::forget(const api::ObjectKey& key, TimePoint now) {
  const WorkloadId id = workloads_.find(key);
  if (id == no_id) return;
  const WorkloadEntry& entry = workloads_[id];
  if (entry.reservation == nullptr || !entry.reservation->assumed) return;
  release(id);
  enqueue(id, now);
}

std::unique_ptr<Reservation> State::read_reservation(const api::Workload& workload,
                                                     const Shape& shape) {
  const api::Admission& admission = *workload.status.admission;
  auto reservation = std::make_unique<Reservation>();
  if (const auto it = queue_ids_.find(admission.cluster_queue); it != queue_ids_.end()) {
    reservation->queue = it->second;
  }
  const auto* reserved =
      api::find_condition(workload.status.conditions, api::conditions::quota_reserved);
  reservation->reserved_at = reserved->last_transition_time;
  reservation->admitted = api::is_true(workload.status.conditions, api::conditions::admitted);
  reservation->evicted = api::is_true(workload.status.conditions, api::conditions::evicted);
  reservation->pods_ready = api::is_true(workload.status.conditions, api::conditions::pods_ready);
  for (const api::PodSetAssignment& assignment : admission.pod_set_assignments) {
    PodSetReservation& pod_set = reservation->pod_sets.emplace_back();
    pod_set.name = assignment.name;
    pod_set.count = assignment.count.value_or(1);
    std::int32_t held = pod_set.count;
    for (std::size_t i = 0; i < workload.spec.pod_sets.size(); ++i) {
      const api::PodSet& wanted = workload.spec.pod_sets[i];
      if (wanted.name != pod_set.name) continue;
      if (!assignment.count) pod_set.count = held = wanted.count;
      read_places(assignment, shape.pod_sets[i].pods, &pod_set);
      held = std::min(held, count_after_reclaim(workload, wanted));
    }
    for (const auto& [resource, quantity] : assignment.resource_usage) {
      Amount amount = api::resource_amount(resource, quantity);
      if (held != pod_set.count && pod_set.count > 0) {
        amount = times(amount / pod_set.count, held);
      }
      const ResourceId id = names_.resources.intern(resource);
      pod_set.usage.push_back({id, amount});
      const auto flavor = assignment.flavors.find(resource);
      if (flavor == assignment.flavors.end()) continue;
      pod_set.flavors.push_back({id, names_.flavors.intern(flavor->second)});
    }
  }
  reservation->usage = usage_of_pod_sets(reservation->pod_sets, &names_);
  return reservation;
}

std::vector<FrAmount> usage_of_pod_sets(const std::vector<PodSetReservation>& pod_sets,
                                        Names* names) {
  std::vector<FrAmount> usage;
  for (const PodSetReservation& pod_set : pod_sets) {
    for (const ResourceFlavorChoice& choice : pod_set.flavors) {
      for (const ResourceAmount& used : pod_set.usage) {
        if (used.resource != choice.resource) continue;
        add_amount(&usage, names->pair(choice.flavor, choice.resource), used.amount);
      }
    }
  }
  return usage;
}

void State::reserve(WorkloadId id, std::unique_ptr<Reservation> reservation) {
  WorkloadEntry& entry = workloads_[id];
  QueueInfo& queue = *queues_[reservation->queue];
  forest().add_usage(queue.node, reservation->usage);
  count_places(*reservation, true);
  entry.position = static_cast<std::uint32_t>(queue.reserved.size());
  queue.reserved.push_back(id);
  LocalQueueInfo& local = local_queues_[entry.local_queue];
  ++local.reserving;
  if (reservation->admitted) {
    ++queue.admitted;
    ++local.admitted;
    count_in_use(&local, *reservation, 1);
  }
  if (!reservation->pods_ready) ++not_ready_;
  entry.place = Place::reserved;
  entry.reservation = std::move(reservation);
  entry.reservation->serial = ++last_serial_;
  queue.victims.added(workloads_, id);
  touch(queue);
  touch(entry.local_queue);
}

void State::release(WorkloadId id) {
  WorkloadEntry& entry = workloads_[id];
  const auto reservation = std::move(entry.reservation);
  entry.place = Place::nowhere;
  if (reservation->penalty) discharge(entry.local_queue, *reservation->penalty);
  if (reservation->queue == no_id) {
    for (auto& [name, ids] : orphans_) ids.erase(id);
    return;
  }
  QueueInfo& queue = *queues_[reservation->queue];
  forest().remove_usage(queue.node, reservation->usage);
  count_places(*reservation, false);
  forest_.bump_generation(queue.node);
  const WorkloadId last = queue.reserved.back();
  queue.reserved[entry.position] = last;
  workloads_[last].position = entry.position;
  queue.reserved.pop_back();
  queue.victims.removed(reservation->serial);
  if (!reservation->pods_ready) --not_ready_;
  LocalQueueInfo& local = local_queues_[entry.local_queue];
  --local.reserving;
  if (reservation->admitted) {
    --queue.admitted;
    --local.admitted;
    count_in_use(&local, *reservation, -1);
  }
  touch(queue);
  touch(entry.local_queue);
}

void State::assume(WorkloadId id, std::unique_ptr<Reservation> reservation) {
  reservation->assumed = true;
  workloads_[id].progress.reset();
  PendingQueue& pending = queues_[reservation->queue]->pending;
  if (pending.sticky() == id) pending.clear_sticky();
  reserve(id, std::move(reservation));
  charge(id);
}

std::vector<WorkloadId> State::pop_heads() {
  std::vector<WorkloadId> heads;
  if (ready_count_ == 0) return heads;
  ++cycle_;
  rank_queues();
  heads.reserve(ready_count_);
  std::vector<QueueId> queues;
  queues.reserve(ready_count_);
  ready_.for_each([&](std::uint32_t rank) { queues.push_back(queues_by_rank_[rank]); });
  for (const QueueId id : queues) {
    QueueInfo& queue = *queues_[id];
    const WorkloadId head = queue.pending.pop();
    heads.push_back(head);
    count_pending(workloads_[head], -1);
    touch(queue);
    refresh_ready(&queue);
  }
  return heads;
}

std::string State::bypassed(const api::ObjectKey& key) const {
  const WorkloadId id = workloads_.find(key);
  if (id == no_id || !is_parked(workloads_[id])) return {};
  const WorkloadEntry& entry = workloads_[id];
  const QueueId queue = local_queues_[entry.local_queue].queue;
  if (queue == no_id) return {};
  const PendingQueue& pending = queues_[queue]->pending;
  const api::ObjectKey* first = pending.parked_by(entry);
  if (first == nullptr || *first == key) return {};
  return std::string(pending.parked_for(entry));
}

void State::requeue(WorkloadId id, bool immediate, bool park_all_alike, TimePoint now,
                    std::string_view why) {
  WorkloadEntry& entry = workloads_[id];
  QueueInfo* queue = queue_for(entry);
  entry.place = Place::nowhere;
  if (queue == nullptr || !entry.admissible) return;
  const bool pending_flavors = entry.progress != nullptr && entry.progress->pending_flavors();
  if (!backoff_over(entry, now)) {
    queue->pending.delay(id);
  } else if (immediate || pending_flavors) {
    queue->pending.push(id);
  } else {
    queue->pending.park(id);
    const bool best_effort = queue->spec.queueing_strategy == api::QueueingStrategy::BestEffortFIFO;
    if (park_all_alike && config_.equivalence_hashing && best_effort) {
      queue->pending.park_alike(entry, why);
    }
  }
  count_pending(entry, 1);
  touch(*queue);
  refresh_ready(queue);
}

WorkloadId State::replaced_by(WorkloadId id) const {
  const WorkloadEntry& entry = workloads_[id];
  if (entry.shape->replaces.name.empty() || entry.local_queue == no_id) return no_id;
  const WorkloadId replaced = workloads_.find(entry.shape->replaces);
  if (replaced == no_id || workloads_[replaced].reservation == nullptr) return no_id;
  const QueueId queue = workloads_[replaced].reservation->queue;
  return queue != no_id && queue == local_queues_[entry.local_queue].queue ? replaced : no_id;
}

void State::make_sticky(WorkloadId id) {
  if (QueueInfo* queue = queue_for(workloads_[id]); queue != nullptr) queue->pending.set_sticky(id);
}

bool State::passes_namespace(const QueueInfo& queue, LocalQueueId id) const {
  const api::StringMap* labels = namespace_labels(local_queues_[id].key.ns);
  return labels != nullptr && queue.namespaces && queue.namespaces->matches(*labels);
}

void State::request_reactivation(const std::string& cluster_queue, TimePoint now) {
  const QueueInfo* queue = find_queue(cluster_queue);
  if (queue == nullptr) return;
  reactivate_at(queue->node, now + config_.reactivation_delay);
}

std::optional<TimePoint> State::next_flush() const {
  std::optional<TimePoint> next;
  for (const auto& [node, due] : reactivations_) {
    if (!next || due < *next) next = due;
  }
  for (const auto& [id, task] : places_tasks_) {
    if (!task.ready && (!next || task.due < *next)) next = task.due;
  }
  return next;
}

void State::flush(TimePoint now) {
  flush_places(now);
  std::set<NodeId> roots;
  for (auto it = reactivations_.begin(); it != reactivations_.end();) {
    if (it->second > now) {
      ++it;
      continue;
    }
    const QuotaNode& node = forest().node(it->first);
    roots.insert(node.cyclic ? it->first : node.root);
    it = reactivations_.erase(it);
  }
  for (const NodeId root : roots) reactivate_tree(root, now);
}

void State::reactivate_tree(NodeId root, TimePoint now) {
  std::vector<NodeId> nodes = forest().queues_of_tree(root);
  if (forest_.node(root).cyclic && forest_.node(root).is_queue) nodes.push_back(root);
  for (const NodeId node : nodes) {
    QueueInfo& queue = *queues_[node_queue_[node]];
    const auto passes = [&](LocalQueueId id) { return passes_namespace(queue, id); };
    if (queue.pending.reactivate(passes, now)) refresh_ready(&queue);
  }
}

}  // namespace regatta::admission
