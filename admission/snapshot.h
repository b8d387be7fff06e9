#pragma once

#include "admission/state.h"

#include <vector>

namespace regatta::admission {

/// What a cycle supposes about State: usage added, workloads gone. It works on the live quota tree
/// and takes everything back when it ends, in reverse order; Trial takes back a part earlier. Costs
/// what is supposed, however much is there.
class Snapshot {
 public:
  explicit Snapshot(State& state) : state_(state), mark_(state.forest().begin_trial()) {
    state.topologies().settle();
    places_mark_ = state.topologies().begin_trial();
  }
  ~Snapshot() { take_back(mark_, places_mark_, 0); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  State& state() { return state_; }
  const State& state() const { return state_; }
  const QuotaForest& forest() const { return state_.forest(); }
  Topologies& topologies() { return state_.topologies(); }

  void add_usage(NodeId queue, std::span<const FrAmount> usage) {
    state_.forest().add_usage(queue, usage);
  }
  void remove_usage(NodeId queue, std::span<const FrAmount> usage) {
    state_.forest().remove_usage(queue, usage);
  }
  /// A workload with a reservation disappears, or comes back.
  void remove(WorkloadId id) {
    Reservation& held = *state_.workloads()[id].reservation;
    remove_usage(state_.queue(held.queue).node, held.usage);
    for (const PodSetReservation& pod_set : held.pod_sets) {
      for (const PodPlaces& places : pod_set.places) topologies().remove(places);
    }
    flip(&held);
  }
  void restore(WorkloadId id) {
    Reservation& held = *state_.workloads()[id].reservation;
    add_usage(state_.queue(held.queue).node, held.usage);
    for (const PodSetReservation& pod_set : held.pod_sets) {
      for (const PodPlaces& places : pod_set.places) topologies().add(places);
    }
    flip(&held);
  }
  bool removed(WorkloadId id) const { return state_.workloads()[id].reservation->away; }
  /// It disappears, but neither its usage nor its places are taken away here.
  void hide(WorkloadId id) { flip(state_.workloads()[id].reservation.get()); }

  /// Takes back what was supposed while it lives.
  class Trial {
   public:
    explicit Trial(Snapshot& snapshot)
        : snapshot_(snapshot),
          mark_(snapshot.state_.forest().begin_trial()),
          places_mark_(snapshot.topologies().begin_trial()),
          flips_(snapshot.flips_.size()) {}
    ~Trial() { snapshot_.take_back(mark_, places_mark_, flips_); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

   private:
    Snapshot& snapshot_;
    std::size_t mark_;
    std::size_t places_mark_;
    std::size_t flips_;
  };

 private:
  void flip(Reservation* held) {
    held->away = !held->away;
    flips_.push_back(held);
  }
  void take_back(std::size_t mark, std::size_t places, std::size_t flips) {
    state_.topologies().roll_back(places);
    state_.forest().roll_back(mark);
    for (; flips_.size() > flips; flips_.pop_back()) flips_.back()->away = !flips_.back()->away;
  }

  State& state_;
  std::size_t mark_;
  std::size_t places_mark_ = 0;
  std::vector<Reservation*> flips_;  ///< whose `away` changed, in order
};

}  // namespace regatta::admission
