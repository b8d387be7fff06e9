#pragma once

#include "admission/cycle_access.h"

#include <vector>

namespace regatta::admission {

/// A change of the live quota tree and the live topologies that is rolled back when the Trial ends:
/// usage is added, or workloads are removed. Nested rolls back a part earlier. A trial costs what
/// it changes, however large the tree is.
class Trial {
 public:
  explicit Trial(CycleAccess& access) : access_(access), mark_(access.forest().begin_trial()) {
    access.topologies().settle();
    places_mark_ = access.topologies().begin_trial();
  }
  ~Trial() { take_back(mark_, places_mark_); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  CycleAccess& access() { return access_; }
  const CycleAccess& access() const { return access_; }
  const QuotaForest& forest() const { return std::as_const(access_).forest(); }
  Topologies& topologies() { return access_.topologies(); }

  void add_usage(NodeId queue, std::span<const FrAmount> usage) {
    access_.forest().add_usage(queue, usage);
  }
  void remove_usage(NodeId queue, std::span<const FrAmount> usage) {
    access_.forest().remove_usage(queue, usage);
  }
  /// Removes a workload with a reservation, or puts it back.
  void remove(WorkloadId id, const Holding& held) {
    remove_usage(access_.queue(held.queue).node, held.usage);
    if (held.has_places) remove_places(id);
  }
  void restore(WorkloadId id, const Holding& held) {
    add_usage(access_.queue(held.queue).node, held.usage);
    if (held.has_places) restore_places(id);
  }
  void remove(WorkloadId id) { remove(id, holding_of(*access_.workloads()[id].reservation)); }
  void restore(WorkloadId id) { restore(id, holding_of(*access_.workloads()[id].reservation)); }
  /// Removes only the pods of the workload: its quota stays.
  void remove_places(WorkloadId id) {
    for (const PodSetReservation& pod_set : access_.workloads()[id].reservation->pod_sets) {
      for (const PodPlaces& places : pod_set.places) topologies().remove(places);
    }
  }
  void restore_places(WorkloadId id) {
    for (const PodSetReservation& pod_set : access_.workloads()[id].reservation->pod_sets) {
      for (const PodPlaces& places : pod_set.places) topologies().add(places);
    }
  }

  /// Rolls back, when it ends, what changed while it lived.
  class Nested {
   public:
    explicit Nested(Trial& trial)
        : trial_(trial),
          mark_(trial.access_.forest().begin_trial()),
          places_mark_(trial.topologies().begin_trial()) {}
    ~Nested() { trial_.take_back(mark_, places_mark_); }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Trial& trial_;
    std::size_t mark_;
    std::size_t places_mark_;
  };

 private:
  void take_back(std::size_t mark, std::size_t places) {
    access_.topologies().roll_back(places);
    access_.forest().roll_back(mark);
  }

  CycleAccess& access_;
  std::size_t mark_;
  std::size_t places_mark_ = 0;
};

}  // namespace regatta::admission
