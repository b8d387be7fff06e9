#include "admission/usage_book.h"

#include "lib/base/check.h"

#include <utility>

namespace regatta::admission {

void UsageBook::reserve(WorkloadId id, std::unique_ptr<Reservation> reservation) {
  WorkloadEntry& entry = workloads_[id];
  REGATTA_CHECK(entry.reservation == nullptr, entry.key.str() + " holds a reservation already");
  QueueInfo& queue = queues_.queue(reservation->queue);
  queues_.settled_forest().add_usage(queue.node, reservation->usage);
  count_places(*reservation, true);
  entry.position = static_cast<std::uint32_t>(queue.reserved.size());
  queue.reserved.push_back(id);
  LocalQueueInfo& local = queues_.local(entry.local_queue);
  ++local.reserving;
  if (reservation->admitted) {
    ++queue.admitted;
    ++local.admitted;
    history_.count_in_use(&local, *reservation, 1);
  }
  if (!reservation->pods_ready) ++not_ready_;
  entry.place = Place::reserved;
  entry.reservation = std::move(reservation);
  entry.reservation->serial = ++last_serial_;
  queue.victims.added(workloads_, id);
  queues_.touch(queue);
  queues_.touch(entry.local_queue);
}

void UsageBook::release(WorkloadId id) {
  WorkloadEntry& entry = workloads_[id];
  REGATTA_CHECK(entry.reservation != nullptr, entry.key.str() + " holds no reservation");
  const auto reservation = std::move(entry.reservation);
  entry.place = Place::nowhere;
  if (reservation->penalty) history_.discharge(entry.local_queue, *reservation->penalty);
  if (reservation->queue == no_id) {
    count_places(*reservation, false);
    for (auto& [name, ids] : orphans_) ids.erase(id);
    return;
  }
  QueueInfo& queue = queues_.queue(reservation->queue);
  QuotaForest& forest = queues_.settled_forest();
  forest.remove_usage(queue.node, reservation->usage);
  count_places(*reservation, false);
  forest.bump_generation(queue.node);
  drop_from_list(&entry, &queue);
  queue.victims.removed(reservation->serial);
  if (!reservation->pods_ready) --not_ready_;
  LocalQueueInfo& local = queues_.local(entry.local_queue);
  --local.reserving;
  if (reservation->admitted) {
    --queue.admitted;
    --local.admitted;
    history_.count_in_use(&local, *reservation, -1);
  }
  queues_.touch(queue);
  queues_.touch(entry.local_queue);
}

void UsageBook::drop_from_list(WorkloadEntry* entry, QueueInfo* queue) {
  REGATTA_CHECK(entry->position < queue->reserved.size() &&
                    &workloads_[queue->reserved[entry->position]] == entry,
                entry->key.str() + " is not listed in ClusterQueue " + queue->name);
  const WorkloadId last = queue->reserved.back();
  queue->reserved[entry->position] = last;
  workloads_[last].position = entry->position;
  queue->reserved.pop_back();
}

void UsageBook::reserve_orphan(WorkloadId id, const std::string& cluster_queue,
                               std::unique_ptr<Reservation> reservation) {
  REGATTA_CHECK(workloads_[id].reservation == nullptr,
                workloads_[id].key.str() + " holds a reservation already");
  orphans_[cluster_queue].insert(id);
  count_places(*reservation, true);
  workloads_[id].reservation = std::move(reservation);
  workloads_[id].place = Place::reserved;
}

void UsageBook::adopt(const QueueInfo& queue) {
  const auto it = orphans_.find(queue.name);
  if (it == orphans_.end()) return;
  const std::set<WorkloadId> ids = std::move(it->second);
  orphans_.erase(it);
  for (const WorkloadId id : ids) {
    auto reservation = std::move(workloads_[id].reservation);
    count_places(*reservation, false);
    reservation->queue = queue.id;
    reserve(id, std::move(reservation));
  }
}

void UsageBook::orphan(const QueueInfo& queue) {
  for (const WorkloadId id : std::vector<WorkloadId>(queue.reserved)) {
    auto reservation = std::make_unique<Reservation>(*workloads_[id].reservation);
    release(id);
    reservation->queue = no_id;
    reserve_orphan(id, queue.name, std::move(reservation));
  }
}

void UsageBook::count_places(const Reservation& reservation, bool add) {
  for (const PodSetReservation& pod_set : reservation.pod_sets) {
    for (const PodPlaces& places : pod_set.places) {
      add ? topologies_.add(places) : topologies_.remove(places);
    }
  }
}

void UsageBook::move_pods(WorkloadId id, const std::vector<PodSetPlaces>& places) {
  Reservation& held = *workloads_[id].reservation;
  count_places(held, false);
  for (const PodSetPlaces& one : places) {
    if (one.pod_set >= held.pod_sets.size()) continue;  // another admission by now
    PodSetReservation& pod_set = held.pod_sets[one.pod_set];
    if (!pod_set.delayed_topology.empty()) pod_set.delayed_topology = "Ready";
    pod_set.places = {one.places};
  }
  count_places(held, true);
}

}  // namespace regatta::admission
