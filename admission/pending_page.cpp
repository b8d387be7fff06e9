#include "admission/pending_page.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace regatta::admission {
namespace {

/// What orders a workload, copied: comparing must not chase pointers.
struct Rank {
  std::uint32_t turn = 0;  ///< of its LocalQueue and stickiness
  WorkloadId id = no_id;
  LocalQueueId local_queue = no_id;
  std::int64_t descending_priority = 0;
  TimePoint time{};
};

class Pager {
 public:
  Pager(const StatusReader& reader, const QueueInfo& queue, std::size_t* comparisons)
      : reader_(reader), queue_(queue), comparisons_(comparisons) {
    read_turns();
    const std::vector<WorkloadId> ids = reader.pending_ids(queue);
    ranks_.reserve(ids.size());
    for (const WorkloadId id : ids) ranks_.push_back(rank_of(id));
  }

  std::vector<PendingPlace> of_cluster_queue(PageRequest request) {
    const auto [first, last] = select(ranks_.begin(), ranks_.end(), request);
    std::vector<std::size_t> seen(reader_.local_queue_count());
    for (auto it = ranks_.begin(); it != first; ++it) ++seen[it->local_queue];
    std::vector<PendingPlace> page;
    for (auto it = first; it != last; ++it) {
      const auto place = static_cast<std::size_t>(it - ranks_.begin());
      page.push_back({it->id, place, seen[it->local_queue]++});
    }
    return page;
  }

  std::vector<PendingPlace> of_local_queue(LocalQueueId local, PageRequest request) {
    const auto others = std::partition(ranks_.begin(), ranks_.end(),
                                       [&](const Rank& rank) { return rank.local_queue == local; });
    const auto [first, last] = select(ranks_.begin(), others, request);
    std::vector<std::size_t> before(static_cast<std::size_t>(last - first) + 1);
    for (auto it = others; it != ranks_.end() && first != last; ++it) {
      if (!this->before(*it, *(last - 1))) continue;  // most stand behind the page
      ++before[static_cast<std::size_t>(std::upper_bound(first, last, *it, less()) - first)];
    }
    std::vector<PendingPlace> page;
    std::size_t ahead = 0;
    for (auto it = first; it != last; ++it) {
      ahead += before[page.size()];
      const auto place = static_cast<std::size_t>(it - ranks_.begin());
      page.push_back({it->id, place + ahead, place});
    }
    return page;
  }

 private:
  using Iterator = std::vector<Rank>::iterator;

  struct Less {
    const Pager* pager;
    bool operator()(const Rank& a, const Rank& b) const { return pager->before(a, b); }
  };
  Less less() const { return {this}; }

  /// Puts the page in order, what comes before it to the left, and the rest to the right.
  std::pair<Iterator, Iterator> select(Iterator begin, Iterator end, PageRequest request) {
    const auto size = static_cast<std::size_t>(end - begin);
    const std::size_t offset = std::min(request.offset, size);
    const std::size_t count = std::min(request.limit, size - offset);
    const Iterator first = begin + static_cast<std::ptrdiff_t>(offset);
    const Iterator last = first + static_cast<std::ptrdiff_t>(count);
    if (first == last) return {first, last};
    if (first != begin) std::nth_element(begin, first, end, less());
    if (last != end) std::nth_element(first, last, end, less());
    std::sort(first, last, less());
    return {first, last};
  }

  /// With usage, the LocalQueue with the least of it has the first turn.
  void read_turns() {
    const PendingQueue::Usage* usage = queue_.pending.usage();
    if (usage == nullptr) return;
    std::vector<std::pair<double, LocalQueueId>> used;
    for (LocalQueueId id = 0; id < reader_.local_queue_count(); ++id) {
      used.emplace_back((*usage)(id), id);
    }
    std::sort(used.begin(), used.end());
    turns_.resize(used.size());
    std::uint32_t turn = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (i > 0 && used[i].first != used[i - 1].first) ++turn;
      turns_[used[i].second] = turn;
    }
  }

  Rank rank_of(WorkloadId id) const {
    const WorkloadEntry& entry = reader_.workloads()[id];
    const std::uint32_t turn = turns_.empty() ? 0 : turns_[entry.local_queue];
    const bool first = queue_.pending.sticky() == id;
    return {2 * turn + (first ? 0u : 1u), id, entry.local_queue, -entry.priority, entry.order_time};
  }

  bool before(const Rank& a, const Rank& b) const {
    if (comparisons_ != nullptr) ++*comparisons_;
    const auto key = [](const Rank& rank) {
      return std::tie(rank.turn, rank.descending_priority, rank.time);
    };
    if (key(a) != key(b)) return key(a) < key(b);
    const WorkloadEntry& left = reader_.workloads()[a.id];
    const WorkloadEntry& right = reader_.workloads()[b.id];
    return std::tie(left.uid, left.key) < std::tie(right.uid, right.key);
  }

  const StatusReader& reader_;
  const QueueInfo& queue_;
  std::size_t* comparisons_;
  std::vector<std::uint32_t> turns_;  ///< by LocalQueue; empty when usage does not matter
  std::vector<Rank> ranks_;
};

}  // namespace

std::vector<PendingPlace> page_of(const StatusReader& reader, const QueueInfo& queue,
                                  PageRequest request, std::size_t* comparisons) {
  return Pager(reader, queue, comparisons).of_cluster_queue(request);
}

std::vector<PendingPlace> page_of(const StatusReader& reader, const QueueInfo& queue,
                                  LocalQueueId local, PageRequest request,
                                  std::size_t* comparisons) {
  return Pager(reader, queue, comparisons).of_local_queue(local, request);
}

}  // namespace regatta::admission
