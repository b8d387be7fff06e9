#include "placement/room.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace regatta::placement {
namespace {

/// What earlier pod sets and workloads take of quotas of one queue. There are few, and they are
/// told apart by their addresses: this is asked for each worker of a fleet.
class Spent {
 public:
  std::int64_t of(const QuotaFacts& quota) const {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const auto& entry) { return entry.first == &quota; });
    return found == all_.end() ? 0 : found->second;
  }
  std::int64_t& operator[](const QuotaFacts& quota) {
    for (auto& [known, sum] : all_) {
      if (known == &quota) return sum;
    }
    return all_.emplace_back(&quota, 0).second;
  }

 private:
  std::vector<std::pair<const QuotaFacts*, std::int64_t>> all_;
};

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

std::int64_t below(const std::map<std::int32_t, std::int64_t>& amounts, std::int32_t priority) {
  std::int64_t sum = 0;
  for (const auto& [of, amount] : amounts) {
    if (of < priority) sum = plus(sum, amount);
  }
  return sum;
}

RoomKind room_in(const QuotaFacts& quota, std::int64_t amount, std::int64_t taken,
                 std::int32_t priority, const RoomLimits& limits) {
  const std::int64_t reach = plus(quota.nominal, quota.borrowable);
  const std::int64_t own = std::min(quota.nominal, reach);
  const std::int64_t ceiling = limits.may_borrow ? reach : own;
  const std::int64_t others = plus(quota.used, taken);
  const std::int64_t needed = plus(others, amount);
  if (needed <= own) return RoomKind::free;
  if (needed <= ceiling) return RoomKind::borrows;
  const std::int64_t left = minus(others, below(quota.preemptable, priority));
  if (limits.may_preempt && plus(left, amount) <= ceiling) return RoomKind::preempts;
  const std::optional<std::int64_t> most = limits.may_borrow ? quota.most : quota.nominal;
  return most && amount > *most ? RoomKind::never : RoomKind::full;
}

/// The worst of what the resources of a pod set find in one flavor.
RoomKind room_in(const FlavorFacts& flavor, const Amounts& asked, const Spent& taken,
                 std::int32_t priority, const RoomLimits& limits) {
  RoomKind worst = RoomKind::free;
  for (const auto& [resource, amount] : asked) {
    const auto quota = flavor.resources.find(resource);
    if (quota == flavor.resources.end()) continue;  // of another group
    const RoomKind found =
        room_in(quota->second, amount, taken.of(quota->second), priority, limits);
    worst = std::max(worst, found);
  }
  return worst;
}

bool covered(const QueueFacts& queue, const std::string& resource) {
  return std::any_of(queue.groups.begin(), queue.groups.end(), [&](const auto& group) {
    return std::any_of(group.begin(), group.end(), [&](const FlavorFacts& flavor) {
      return flavor.resources.contains(resource);
    });
  });
}

void take(const FlavorFacts& flavor, const Amounts& asked, Spent* taken) {
  for (const auto& [resource, amount] : asked) {
    const auto quota = flavor.resources.find(resource);
    if (quota == flavor.resources.end()) continue;
    std::int64_t& sum = (*taken)[quota->second];
    sum = plus(sum, amount);
  }
}

/// Which flavors the workloads ahead will get is not known: they fill one after the other, and the
/// last one gets the rest.
Spent taken_by(const Amounts& ahead, const QueueFacts& queue) {
  Spent taken;
  for (const auto& group : queue.groups) {
    for (const auto& [resource, amount] : ahead) {
      std::int64_t rest = amount;
      for (const FlavorFacts& flavor : group) {
        const auto quota = flavor.resources.find(resource);
        if (quota == flavor.resources.end()) continue;
        const std::int64_t ceiling = plus(quota->second.nominal, quota->second.borrowable);
        const std::int64_t headroom = std::max<std::int64_t>(0, minus(ceiling, quota->second.used));
        const std::int64_t part = &flavor == &group.back() ? rest : std::min(rest, headroom);
        taken[quota->second] = part;
        rest -= part;
      }
    }
  }
  return taken;
}

}  // namespace

RoomKind room_in(const QueueFacts& queue, const std::vector<Amounts>& pod_sets,
                 std::int32_t priority, const Amounts& ahead, const RoomLimits& limits) {
  Spent taken = taken_by(ahead, queue);
  RoomKind worst = RoomKind::free;
  for (const Amounts& asked : pod_sets) {
    for (const auto& [resource, amount] : asked) {
      if (amount > 0 && !covered(queue, resource)) return RoomKind::never;
    }
    for (const auto& group : queue.groups) {
      if (group.empty()) continue;
      const FlavorFacts* best = nullptr;
      RoomKind kind = RoomKind::never;
      for (const FlavorFacts& flavor : group) {
        const RoomKind found = room_in(flavor, asked, taken, priority, limits);
        if (best && found >= kind) continue;
        best = &flavor;
        kind = found;
      }
      take(*best, asked, &taken);
      worst = std::max(worst, kind);
    }
  }
  return worst;
}

}  // namespace regatta::placement
