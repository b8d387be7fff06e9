#pragma once

/// What a cycle and its parts may read of State, and the few changes they may make. While a
/// CycleAccess lives, State must get no objects, so the quota tree stays settled.

#include "admission/books.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission {

class State;

class CycleAccess {
 public:
  explicit CycleAccess(State& state);
  CycleAccess(const CycleAccess&) = delete;
  CycleAccess& operator=(const CycleAccess&) = delete;

  // Reading
  const Config& config() const { return books_.config; }
  Names& names() { return books_.names; }
  const Names& names() const { return books_.names; }
  const WorkloadTable& workloads() const { return books_.workloads; }
  const QueueInfo& queue(QueueId id) const { return books_.queues.queue(id); }
  const QueueInfo* find_queue(const std::string& name) const { return books_.queues.find(name); }
  QueueId queue_of_node(NodeId node) const { return books_.queues.queue_of_node(node); }
  const LocalQueueInfo& local_queue(LocalQueueId id) const { return books_.queues.local(id); }
  const FlavorInfo* flavor(FlavorId id) const { return books_.objects.flavor(id); }
  const api::StringMap* namespace_labels(const std::string& ns) const {
    return books_.objects.namespace_labels(ns);
  }
  bool uses_multikueue(const QueueInfo& queue) const {
    return books_.objects.uses_multikueue(queue.spec);
  }
  bool delays_topology(const QueueInfo& queue, FlavorId flavor, bool reserved) const {
    return books_.objects.delays_topology(queue.spec, flavor, reserved);
  }
  std::size_t not_ready() const { return books_.usage.not_ready(); }
  std::uint64_t cycle() const { return books_.pending.cycle(); }
  const PlacesTask& places_task(WorkloadId id) const { return books_.places.task(id); }
  /// The workload with quota in the same ClusterQueue that this workload replaces, or no_id.
  WorkloadId replaced_by(WorkloadId id) const;

  // What a trial changes and rolls back (trial.h)
  QuotaForest& forest() { return forest_; }
  const QuotaForest& forest() const { return forest_; }
  Topologies& topologies() { return books_.objects.topologies(); }
  const Topologies& topologies() const { return books_.objects.topologies(); }

  // Victims
  /// Workloads that hold quota in the ClusterQueue, in the order of preemption.
  VictimOrder::Sections victims_in(QueueId id) {
    QueueInfo& queue = books_.queues.queue(id);
    const PendingQueue::Usage* usage = queue.pending.usage();
    return queue.victims.sections(books_.workloads, queue.reserved,
                                  {usage, usage == nullptr ? 0 : books_.history.epoch()});
  }
  /// Workloads that the cycle preempts and that searches must regard as gone (leaving.h).
  const IdSet& asked() const { return books_.asked; }
  void ask(WorkloadId id) { books_.asked.insert(id); }
  void take_back_ask(WorkloadId id, QueueId queue) {
    books_.asked.erase(id);
    books_.queues.queue(queue).victims.forget_asked();
  }
  /// Lets searches in the ClusterQueue begin after the workloads asked so far.
  void skip_asked(QueueId queue) { books_.queues.queue(queue).victims.skip_asked(books_.asked); }

  // Where the search for flavors goes on. Without progress it starts with the first flavor.
  void set_progress(WorkloadId id, std::unique_ptr<ScanProgress> progress) {
    books_.workloads[id].progress = std::move(progress);
  }
  std::unique_ptr<ScanProgress> take_progress(WorkloadId id) {
    return std::move(books_.workloads[id].progress);
  }

  // The beginning of a cycle
  std::vector<WorkloadId> pop_heads() { return books_.pending.pop_heads(); }
  std::vector<WorkloadId> pop_second_passes() { return books_.places.pop(); }

  // Decisions of a cycle
  /// Records the reservation of a head and counts its usage.
  void assume(WorkloadId id, std::unique_ptr<Reservation> reservation);
  void requeue(WorkloadId id, bool immediate, bool park_all_alike, TimePoint now,
               std::string_view why) {
    books_.pending.requeue(id, immediate, park_all_alike, now, why);
  }
  void make_sticky(WorkloadId id) { books_.pending.make_sticky(id); }
  /// Both return the number of the decision, which State::settle_places() takes.
  std::uint64_t move_pods(WorkloadId id, std::vector<PodSetPlaces> places);
  std::uint64_t evict(WorkloadId id) { return books_.places.decide(id, {}); }
  void retry_places(WorkloadId id, TimePoint now) { books_.places.retry(id, now); }

 private:
  Books& books_;
  QuotaForest& forest_;
};

}  // namespace regatta::admission
