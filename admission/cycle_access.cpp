#include "admission/cycle_access.h"

#include "admission/state.h"

namespace regatta::admission {

CycleAccess::CycleAccess(State& state)
    : books_(state.books_), forest_(state.books_.queues.settled_forest()) {}

WorkloadId CycleAccess::replaced_by(WorkloadId id) const {
  const WorkloadEntry& entry = workloads()[id];
  if (entry.shape->replaces.name.empty() || entry.local_queue == no_id) return no_id;
  const WorkloadId replaced = workloads().find(entry.shape->replaces);
  if (replaced == no_id || workloads()[replaced].reservation == nullptr) return no_id;
  const QueueId queue = workloads()[replaced].reservation->queue;
  return queue != no_id && queue == local_queue(entry.local_queue).queue ? replaced : no_id;
}

void CycleAccess::assume(WorkloadId id, std::unique_ptr<Reservation> reservation) {
  reservation->assumed = true;
  books_.workloads[id].progress.reset();
  books_.pending.drop_sticky(id, reservation->queue);
  books_.usage.reserve(id, std::move(reservation));
  books_.history.charge(id);
}

std::uint64_t CycleAccess::move_pods(WorkloadId id, std::vector<PodSetPlaces> places) {
  books_.usage.move_pods(id, places);
  return books_.places.decide(id, std::move(places));
}

}  // namespace regatta::admission
