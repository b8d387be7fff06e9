#pragma once

#include "admission/state.h"

#include <unordered_set>

namespace regatta::admission {

/// What a cycle supposes about State: usage added, workloads gone. It works on the live quota tree
/// and takes everything back when it ends, in reverse order; Trial takes back a part earlier.
class Snapshot {
 public:
  explicit Snapshot(State& state) : state_(state), mark_(state.forest().begin_trial()) {}
  ~Snapshot() { state_.forest().roll_back(mark_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  State& state() { return state_; }
  const State& state() const { return state_; }
  const QuotaForest& forest() const { return state_.forest(); }

  void add_usage(NodeId queue, std::span<const FrAmount> usage) {
    state_.forest().add_usage(queue, usage);
  }
  void remove_usage(NodeId queue, std::span<const FrAmount> usage) {
    state_.forest().remove_usage(queue, usage);
  }
  /// A workload with a reservation disappears, or comes back.
  void remove(WorkloadId id) {
    const Reservation& held = *state_.workloads()[id].reservation;
    remove_usage(state_.queue(held.queue).node, held.usage);
    removed_.insert(id);
  }
  void restore(WorkloadId id) {
    const Reservation& held = *state_.workloads()[id].reservation;
    add_usage(state_.queue(held.queue).node, held.usage);
    removed_.erase(id);
  }
  bool removed(WorkloadId id) const { return !removed_.empty() && removed_.contains(id); }

  /// Takes back usage changed while it lives. Workloads it removed are restored by the caller or
  /// remembered here.
  class Trial {
   public:
    explicit Trial(Snapshot& snapshot)
        : snapshot_(snapshot),
          mark_(snapshot.state_.forest().begin_trial()),
          removed_(snapshot.removed_) {}
    ~Trial() {
      snapshot_.state_.forest().roll_back(mark_);
      snapshot_.removed_ = std::move(removed_);
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

   private:
    Snapshot& snapshot_;
    std::size_t mark_;
    std::unordered_set<WorkloadId> removed_;
  };

 private:
  State& state_;
  std::size_t mark_;
  std::unordered_set<WorkloadId> removed_;
};

}  // namespace regatta::admission
