#include "admission/victim_order.h"

#include "admission/queues.h"

#include <algorithm>
#include <iterator>

namespace regatta::admission {
namespace {

std::uint64_t start_of(const std::string& uid) {
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < sizeof(start); ++i) {
    start = start << 8U | (i < uid.size() ? static_cast<unsigned char>(uid[i]) : 0U);
  }
  return start;
}

VictimKey key_of(const WorkloadTable& table, WorkloadId id, const VictimRanking& ranking) {
  const WorkloadEntry& entry = table[id];
  const Reservation& held = *entry.reservation;
  const double usage =
      ranking.usage == nullptr || !*ranking.usage ? 0 : (*ranking.usage)(entry.local_queue);
  return {entry.priority,  held.reserved_at, start_of(entry.uid), held.serial, usage, id,
          holding_of(held)};
}

}  // namespace

bool victim_before(const WorkloadTable& table, const VictimKey& a, const VictimKey& b) {
  if (a.held.evicted != b.held.evicted) return a.held.evicted;
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.reserved_at != b.reserved_at) return a.reserved_at > b.reserved_at;
  if (a.uid_start != b.uid_start) return a.uid_start < b.uid_start;
  if (a.id == b.id) return false;
  const WorkloadEntry& left = table[a.id];
  const WorkloadEntry& right = table[b.id];
  if (left.uid != right.uid) return left.uid < right.uid;
  return left.key < right.key;
}

void VictimOrder::added(const WorkloadTable& table, WorkloadId id) {
  if (!kept_) return;
  added_.push_back(key_of(table, id, ranking_));
  // There was no search for long: to make the list anew at the next one is cheaper.
  if (added_.size() <= sorted_.size() + 64) return;
  kept_ = false;
  sorted_ = {};
  added_ = {};
  gone_ = {};
}

void VictimOrder::removed(std::uint64_t serial) {
  if (kept_) gone_.push_back(serial);
}

void VictimOrder::rebuild(const WorkloadTable& table, const std::vector<WorkloadId>& all) {
  added_.clear();
  sorted_.clear();
  added_.reserve(all.size());
  for (const WorkloadId id : all) added_.push_back(key_of(table, id, ranking_));
  kept_ = true;
  gone_.clear();
  merge(table);
}

void VictimOrder::merge(const WorkloadTable& table) {
  const auto before = [&](const VictimKey& a, const VictimKey& b) {
    if (a.held.evicted == b.held.evicted && a.local_usage != b.local_usage) {
      return a.local_usage > b.local_usage;
    }
    return victim_before(table, a, b);
  };
  if (!gone_.empty()) {
    std::sort(gone_.begin(), gone_.end());
    const auto gone = [&](const VictimKey& key) {
      return std::binary_search(gone_.begin(), gone_.end(), key.serial);
    };
    std::erase_if(sorted_, gone);
    std::erase_if(added_, gone);
    gone_.clear();
  }
  std::sort(added_.begin(), added_.end(), before);
  if (sorted_.empty()) {
    sorted_.swap(added_);
  } else if (!added_.empty()) {
    std::vector<VictimKey> merged;
    merged.reserve(sorted_.size() + added_.size());
    std::merge(sorted_.begin(), sorted_.end(), added_.begin(), added_.end(),
               std::back_inserter(merged), before);
    sorted_ = std::move(merged);
  }
  added_.clear();
  const auto others = std::partition_point(sorted_.begin(), sorted_.end(),
                                           [](const VictimKey& key) { return key.held.evicted; });
  first_other_ = static_cast<std::size_t>(others - sorted_.begin());
  asked_ = {};
}

VictimOrder::Sections VictimOrder::sections(const WorkloadTable& table,
                                            const std::vector<WorkloadId>& all,
                                            VictimRanking ranking) {
  const bool other_ranking = ranking.usage != ranking_.usage || ranking.epoch != ranking_.epoch;
  ranking_ = ranking;
  if (!kept_ || other_ranking) {
    rebuild(table, all);
  } else if (!gone_.empty() || !added_.empty()) {
    merge(table);
  }
  const std::span<const VictimKey> keys(sorted_);
  return {keys.first(first_other_).subspan(asked_[0]),
          keys.subspan(first_other_).subspan(asked_[1]), ranking_.usage == nullptr};
}

void VictimOrder::skip_asked(const IdSet& asked) {
  if (!kept_ || !gone_.empty() || !added_.empty()) return;
  const auto skips = [&](std::size_t at) { return asked.contains(sorted_[at].id); };
  while (asked_[0] < first_other_ && skips(asked_[0])) ++asked_[0];
  while (first_other_ + asked_[1] < sorted_.size() && skips(first_other_ + asked_[1])) ++asked_[1];
}

}  // namespace regatta::admission
