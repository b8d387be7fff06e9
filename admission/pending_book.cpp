#include "admission/pending_book.h"

#include "lib/base/check.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regatta::admission {

void PendingBook::count_pending(const WorkloadEntry& entry, int delta) {
  LocalQueueInfo& queue = queues_.local(entry.local_queue);
  queue.pending = static_cast<std::size_t>(static_cast<std::int64_t>(queue.pending) + delta);
  queues_.touch(entry.local_queue);
}

void PendingBook::enqueue(WorkloadId id, TimePoint now) {
  WorkloadEntry& entry = workloads_[id];
  QueueInfo* queue = queues_.queue_for(entry);
  if (queue == nullptr || !entry.admissible) return;
  const bool alike = config_.equivalence_hashing &&
                     queue->spec.queueing_strategy == api::QueueingStrategy::BestEffortFIFO &&
                     queue->pending.parked_alike(entry);
  if (!backoff_over(entry, now)) {
    queue->pending.delay(id);
  } else if (alike) {
    entry.parked_unseen = true;
    queue->pending.park(id);
  } else {
    queue->pending.push(id);
  }
  entry.was_queued = true;
  count_pending(entry, 1);
  queues_.touch(*queue);
  refresh_ready(queue);
}

void PendingBook::dequeue(WorkloadId id) {
  WorkloadEntry& entry = workloads_[id];
  if (entry.place != Place::queued && entry.place != Place::delayed) return;
  QueueInfo* queue = queues_.queue_for(entry);
  REGATTA_CHECK(queue != nullptr, entry.key.str() + " is queued, and its LocalQueue leads nowhere");
  queue->pending.erase(id);
  count_pending(entry, -1);
  queues_.touch(*queue);
  refresh_ready(queue);
}

void PendingBook::reroute(LocalQueueId id, TimePoint now) {
  LocalQueueInfo& queue = queues_.local(id);
  const QueueId target = queues_.target_of(queue);
  if (target == queue.queue) return;
  std::vector<WorkloadId> moving;
  for (const WorkloadId member : queue.members) {
    if (workloads_[member].reservation == nullptr) moving.push_back(member);
  }
  for (const WorkloadId member : moving) dequeue(member);
  queue.queue = target;
  for (const WorkloadId member : moving) enqueue(member, now);
  queues_.touch(id);
}

void PendingBook::refresh_ready(QueueInfo* queue) {
  const bool ready = queue->active && queue->pending.waiting() > 0;
  if (queue->ready == ready) return;
  queue->ready = ready;
  ready ? ++ready_count_ : --ready_count_;
  if (ranks_stale_) return;
  ready ? ready_.insert(queue->rank) : ready_.erase(queue->rank);
}

/// Runs when the order is needed, not whenever a ClusterQueue comes: loading many must not be
/// quadratic.
void PendingBook::rank_queues() {
  if (!std::exchange(ranks_stale_, false)) return;
  queues_by_rank_.clear();
  ready_.clear();
  for (const auto& [name, id] : queues_.by_name()) {
    QueueInfo& queue = queues_.queue(id);
    queue.rank = static_cast<std::uint32_t>(queues_by_rank_.size());
    queues_by_rank_.push_back(id);
    if (queue.ready) ready_.insert(queue.rank);
  }
}

std::vector<WorkloadId> PendingBook::pop_heads() {
  std::vector<WorkloadId> heads;
  if (ready_count_ == 0) return heads;
  ++cycle_;
  rank_queues();
  heads.reserve(ready_count_);
  std::vector<QueueId> queues;
  queues.reserve(ready_count_);
  ready_.for_each([&](std::uint32_t rank) { queues.push_back(queues_by_rank_[rank]); });
  for (const QueueId id : queues) {
    QueueInfo& queue = queues_.queue(id);
    const WorkloadId head = queue.pending.pop();
    heads.push_back(head);
    count_pending(workloads_[head], -1);
    queues_.touch(queue);
    refresh_ready(&queue);
  }
  return heads;
}

void PendingBook::requeue(WorkloadId id, bool immediate, bool park_all_alike, TimePoint now,
                          std::string_view why) {
  WorkloadEntry& entry = workloads_[id];
  QueueInfo* queue = queues_.queue_for(entry);
  entry.place = Place::nowhere;
  entry.parked_unseen = false;
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
  queues_.touch(*queue);
  refresh_ready(queue);
}

void PendingBook::make_sticky(WorkloadId id) {
  if (QueueInfo* queue = queues_.queue_for(workloads_[id]); queue != nullptr)
    queue->pending.set_sticky(id);
}

void PendingBook::drop_sticky(WorkloadId id, QueueId queue) {
  PendingQueue& pending = queues_.queue(queue).pending;
  if (pending.sticky() == id) pending.clear_sticky();
}

bool PendingBook::passes_namespace(const QueueInfo& queue, LocalQueueId id) const {
  const api::StringMap* labels = objects_.namespace_labels(queues_.local(id).key.ns);
  return labels != nullptr && queue.namespaces && queue.namespaces->matches(*labels);
}

void PendingBook::reactivate_at(NodeId node, TimePoint when) {
  queues_.reactivations().request(node, when);
}

void PendingBook::reactivate_all(TimePoint when) {
  for (const auto& [name, id] : queues_.by_name()) {
    if (queues_.queue(id).active) reactivate_at(queues_.queue(id).node, when);
  }
}

void PendingBook::reactivate_users(const std::vector<FlavorId>& flavors, TimePoint when) {
  if (flavors.empty()) return;
  for (const auto& [name, id] : queues_.by_name()) {
    for (const QueueInfo::Group& group : queues_.queue(id).groups) {
      const auto& used = group.flavors;
      const bool uses = std::any_of(used.begin(), used.end(), [&](FlavorId flavor) {
        return std::find(flavors.begin(), flavors.end(), flavor) != flavors.end();
      });
      if (uses) reactivate_at(queues_.queue(id).node, when);
    }
  }
}

void PendingBook::reactivate_matching(const api::StringMap& labels, TimePoint when) {
  for (const auto& [name, id] : queues_.by_name()) {
    const QueueInfo& queue = queues_.queue(id);
    if (queue.namespaces && queue.namespaces->matches(labels)) reactivate_at(queue.node, when);
  }
}

void PendingBook::flush(TimePoint now) {
  std::set<NodeId> roots;
  for (const NodeId id : queues_.reactivations().take_due(now)) {
    const QuotaNode& node = queues_.settled_forest().node(id);
    roots.insert(node.cyclic ? id : node.root);
  }
  for (const NodeId root : roots) reactivate_tree(root, now);
}

void PendingBook::reactivate_tree(NodeId root, TimePoint now) {
  const QuotaForest& forest = queues_.settled_forest();
  std::vector<NodeId> nodes = forest.queues_of_tree(root);
  if (forest.node(root).cyclic && forest.node(root).is_queue) nodes.push_back(root);
  for (const NodeId node : nodes) {
    QueueInfo& queue = queues_.queue(queues_.queue_of_node(node));
    const auto passes = [&](LocalQueueId id) { return passes_namespace(queue, id); };
    if (queue.pending.reactivate(passes, now)) refresh_ready(&queue);
  }
}

}  // namespace regatta::admission
