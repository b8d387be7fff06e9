/// The part of State that reads Workloads.

#include "admission/state.h"
#include "lib/api/names.h"
#include "lib/api/quota.h"

#include <algorithm>
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

/// Whether the priority comes from a WorkloadPriorityClass, which may change while the workload
/// runs.
bool has_class(const api::Workload& workload) {
  const auto& ref = workload.spec.priority_class_ref;
  return ref && ref->kind == api::priority::workload_kind;
}

/// Whether pods were reclaimed since the shape was made.
bool asks_for_less(const api::Workload& workload, const Shape& shape) {
  const auto& pod_sets = workload.spec.pod_sets;
  for (std::size_t i = 0; i < pod_sets.size() && i < shape.pod_sets.size(); ++i) {
    if (shape.pod_sets[i].count > count_after_reclaim(workload, pod_sets[i])) return true;
  }
  return false;
}

}  // namespace

void State::upsert(const api::Workload& workload, TimePoint now) {
  const api::ObjectKey key = workload.metadata.key();
  WorkloadTable& workloads = books_.workloads;
  WorkloadId id = workloads.find(key);
  if (id != no_id && workloads[id].uid != workload.metadata.uid) {
    erase_workload(key, now);
    id = no_id;
  }
  if (id == no_id) {
    id = workloads.insert(key);
    workloads[id].uid = workload.metadata.uid;
  }
  const bool holds = api::holds_quota(workload);
  const WorkloadEntry& entry = workloads[id];
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

/// Reads everything but the reservation.
void State::read_spec(WorkloadId id, const api::Workload& workload) {
  WorkloadEntry& entry = books_.workloads[id];
  const api::Conditions& conditions = workload.status.conditions;
  const LocalQueueId local_queue =
      books_.queues.local_queue_id({workload.metadata.ns, workload.spec.queue_name});
  if (entry.local_queue != local_queue) {
    if (entry.local_queue != no_id) books_.queues.local(entry.local_queue).members.erase(id);
    books_.queues.local(local_queue).members.insert(id);
    entry.local_queue = local_queue;
  }
  entry.shape = books_.objects.shape_of(workload);
  entry.full_counts = full_counts(workload);
  entry.priority = workload.spec.priority.value_or(0);
  entry.wake_digest = wake_digest(workload);
  entry.gated = has_closed_gate(workload);
  entry.order_time = queue_order_time(workload, config());
  entry.generation = workload.metadata.generation;
  entry.admissible = is_admissible(workload);
  entry.failed_checks = has_failed_check(workload);
  entry.evicted = api::is_true(conditions, api::conditions::evicted);
  entry.requeued_false = api::is_false(conditions, api::conditions::requeued);
  entry.requeue_at.reset();
  if (workload.status.requeue_state) entry.requeue_at = workload.status.requeue_state->requeue_at;
}

/// Whether everything on which the workload's place in the queue depends is unchanged.
bool State::reads_the_same(const WorkloadEntry& entry, const api::Workload& workload,
                           TimePoint now) {
  return books_.objects.shape_of(workload) == entry.shape &&
         entry.priority == workload.spec.priority.value_or(0) &&
         entry.wake_digest == wake_digest(workload) &&
         books_.queues.local(entry.local_queue).key.name == workload.spec.queue_name &&
         backoff_over(entry, now);
}

void State::update_pending(WorkloadId id, const api::Workload& workload, TimePoint now) {
  WorkloadEntry& entry = books_.workloads[id];
  if (entry.reservation != nullptr) {
    const QueueId queue = entry.reservation->queue;
    end_reservation(id);
    read_spec(id, workload);
    books_.pending.enqueue(id, now);
    reactivate_after(id, queue, now);
    return;
  }
  // Most updates of a queued workload change nothing that matters here: it keeps its place, and a
  // parked workload must not get a new turn because of them.
  const bool queued = entry.pending_class != nullptr && is_admissible(workload);
  if (queued && reads_the_same(entry, workload, now)) {
    entry.failed_checks = has_failed_check(workload);
    entry.generation = workload.metadata.generation;
    entry.full_counts = full_counts(workload);
    return;
  }
  const QueueInfo* queue = books_.queues.queue_for(entry);
  const bool sticky = queue != nullptr && queue->pending.sticky() == id;
  books_.pending.dequeue(id);
  read_spec(id, workload);
  books_.pending.enqueue(id, now);
  const bool same_queue = books_.queues.queue_for(entry) == queue;
  if (sticky && same_queue && entry.pending_class != nullptr) books_.pending.make_sticky(id);
}

void State::update_reserved(WorkloadId id, const api::Workload& workload, TimePoint now) {
  WorkloadEntry& entry = books_.workloads[id];
  const bool held = entry.reservation != nullptr;
  const LocalQueueId payer = entry.local_queue;
  auto penalty = held ? std::exchange(entry.reservation->penalty, nullptr) : nullptr;
  // With another priority the workload may be a target.
  const bool wakes =
      held && (asks_for_less(workload, *entry.shape) ||
               (has_class(workload) && entry.priority != workload.spec.priority.value_or(0)));
  std::vector<Reclaimed> former;
  if (held) {
    for (const PodSetReservation& one : entry.reservation->pod_sets) {
      former.push_back(one.reclaimed);
    }
    books_.usage.release(id);
  } else {
    books_.pending.dequeue(id);
  }
  read_spec(id, workload);
  entry.progress.reset();
  auto reservation = books_.objects.read_reservation(workload, *entry.shape, former);
  const std::string& cluster_queue = workload.status.admission->cluster_queue;
  const QueueInfo* queue = books_.queues.find(cluster_queue);
  if (queue == nullptr) {
    books_.usage.reserve_orphan(id, cluster_queue, std::move(reservation));
    books_.places.drop(id);
    keep_decided_places(id);
    if (penalty) books_.history.discharge(payer, *penalty);
    return;
  }
  reservation->queue = queue->id;
  if (wakes) reactivate_after(id, queue->id, now);
  books_.usage.reserve(id, std::move(reservation));
  if (penalty && entry.reservation->admitted) {
    books_.history.settle_charge(payer, *penalty, now);
  } else {
    entry.reservation->penalty = std::move(penalty);
  }
  keep_decided_places(id);
  books_.places.read(id, workload, now);
}

void State::note_recount(const api::Workload& workload, TimePoint now) {
  const WorkloadId id = books_.workloads.find(workload.metadata.key());
  if (id == no_id || books_.workloads[id].reservation == nullptr) return;
  bool known = true;
  for (PodSetReservation& one : books_.workloads[id].reservation->pod_sets) {
    known = known && one.reclaimed.of == one.reclaimed.size;
    one.reclaimed.of = one.reclaimed.size;
  }
  if (known) return;
  update_reserved(id, workload, now);
  reactivate_after(id, books_.workloads[id].reservation->queue, now);
}

/// What was read may be older than the write of what was decided on.
void State::keep_decided_places(WorkloadId id) {
  const PlacesDecision* decision = books_.places.decision(id);
  if (decision != nullptr) books_.usage.move_pods(id, decision->places);
}

void State::end_reservation(WorkloadId id) {
  books_.places.forget(id);
  books_.usage.release(id);
}

void State::erase_workload(const api::ObjectKey& key, TimePoint now) {
  const WorkloadId id = books_.workloads.find(key);
  if (id == no_id) return;
  const WorkloadEntry& entry = books_.workloads[id];
  if (entry.reservation != nullptr) {
    const QueueId queue = entry.reservation->queue;
    end_reservation(id);
    reactivate_after(id, queue, now);
  } else {
    const QueueInfo* queue = books_.queues.queue_for(entry);
    books_.pending.dequeue(id);
    if (queue != nullptr && entry.was_queued) request_reactivation(queue->name, now);
  }
  if (entry.local_queue != no_id) books_.queues.local(entry.local_queue).members.erase(id);
  books_.workloads.erase(id);
}

/// Requests reactivation after the workload gave back quota of the ClusterQueue.
void State::reactivate_after(WorkloadId id, QueueId queue, TimePoint now) {
  if (queue == no_id) return;
  if (!config().reactivate_on_any_release && !books_.workloads[id].was_queued) return;
  request_reactivation(books_.queues.queue(queue).name, now);
}

void State::forget(const api::ObjectKey& key, const std::string& uid, TimePoint now) {
  const WorkloadId id = books_.workloads.find(key);
  if (id == no_id) return;
  const WorkloadEntry& entry = books_.workloads[id];
  if (entry.uid != uid) return;
  if (entry.reservation == nullptr || !entry.reservation->assumed) return;
  books_.usage.release(id);
  books_.pending.enqueue(id, now);
}

void State::give_up_places(const api::Workload& workload, std::uint64_t decision, TimePoint now) {
  const WorkloadId id = books_.workloads.find(workload.metadata.key());
  if (id == no_id) return;
  const bool given_up = books_.places.give_up(id, decision);
  upsert(workload, now);
  const Reservation* held = books_.workloads[id].reservation.get();
  if (given_up && held != nullptr) reactivate_after(id, held->queue, now);
}

void State::settle_places(const api::Workload& workload, std::uint64_t decision, TimePoint now) {
  const WorkloadId id = books_.workloads.find(workload.metadata.key());
  if (id == no_id) return;
  books_.places.settle(id, decision);
  upsert(workload, now);
}

void State::set_aside(const api::ObjectKey& key, const std::string& uid, TimePoint now) {
  const WorkloadId id = books_.workloads.find(key);
  if (id == no_id) return;
  WorkloadEntry& entry = books_.workloads[id];
  if (entry.uid != uid || entry.reservation == nullptr || !entry.reservation->assumed) return;
  const QueueId queue = entry.reservation->queue;
  entry.refused = true;
  forget(key, uid, now);
  reactivate_after(id, queue, now);
}

void State::take_back(const api::ObjectKey& key, const std::string& uid, TimePoint now) {
  const WorkloadId id = books_.workloads.find(key);
  if (id == no_id || books_.workloads[id].uid != uid) return;
  WorkloadEntry& entry = books_.workloads[id];
  entry.refused = false;
  if (entry.place != Place::delayed) return;
  books_.pending.dequeue(id);
  books_.pending.enqueue(id, now);
}

}  // namespace regatta::admission
