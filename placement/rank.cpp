#include "placement/rank.h"

#include "lib/base/human.h"

#include <algorithm>
#include <limits>

namespace regatta::placement {
namespace {

constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();

struct Rated {
  const WorkerFacts* worker;
  RoomKind room;
  std::vector<std::int64_t> marks;  ///< the most important first; less is better
};

bool known(const WorkerFacts& worker, const RankPolicy& policy) {
  return worker.queue && worker.queue_age <= policy.stale_after;
}

RoomKind room_of(const WorkloadFacts& workload, const WorkerFacts& worker, const RankPolicy& policy,
                 const RoomLimits& limits) {
  if (!known(worker, policy)) return RoomKind::unknown;
  return room_in(*worker.queue, workload.pod_sets, workload.priority, worker.in_flight, limits);
}

/// Why the ways that the workload forbids itself rule this worker out; empty: they do not.
std::string forbidden(const WorkloadFacts& workload, const WorkerFacts& worker,
                      const RankPolicy& policy, RoomKind room) {
  const RoomLimits& limits = workload.affinity.limits;
  if (limits.may_borrow && limits.may_preempt) return {};
  const std::string must_not = limits.may_borrow    ? "must not preempt"
                               : limits.may_preempt ? "must not borrow"
                                                    : "must not borrow or preempt";
  if (room == RoomKind::unknown) {
    // It had the right room when it was nominated. A watch that breaks takes no copy away.
    const auto& nominated = workload.nominated;
    if (std::find(nominated.begin(), nominated.end(), worker.name) != nominated.end()) return {};
    return "may have no room of its own, which is not known, and the workload " + must_not;
  }
  if (room < RoomKind::full || room == room_of(workload, worker, policy, {})) return {};
  return "has no other room, and the workload " + must_not;
}

/// Why the worker may not have the workload; empty: it may.
std::string objection(const WorkloadFacts& workload, const WorkerFacts& worker,
                      const RankPolicy& policy, RoomKind room) {
  if (!worker.connected) return "is not connected";
  if (!workload.affinity.allows(worker.name, worker.labels)) {
    return "is not among the clusters that the workload asks for";
  }
  if (worker.kinds && !workload.kind.empty() && !worker.kinds->contains(workload.kind)) {
    return "does not serve " + workload.kind;
  }
  const auto refusal = workload.refusals.find(worker.name);
  if (refusal != workload.refusals.end() && refusal->second.ago < policy.refusal_counts_for) {
    return "refused it " + human_duration(refusal->second.ago) + " ago: " + refusal->second.why;
  }
  if (std::string why = forbidden(workload, worker, policy, room); !why.empty()) return why;
  if (room == RoomKind::never) return "can never have so much quota";
  return {};
}

std::int64_t ahead_of(std::int32_t priority, const WorkerFacts& worker) {
  std::int64_t ahead = 0;
  for (const auto& [of, count] : worker.queue->pending) {
    if (of >= priority) ahead += count;
  }
  return ahead;
}

void mark(Scorer scorer, const WorkloadFacts& workload, const RankPolicy& policy, Rated* rated) {
  const WorkerFacts& worker = *rated->worker;
  std::vector<std::int64_t>& marks = rated->marks;
  switch (scorer) {
    case Scorer::capacity:
      marks.push_back(static_cast<std::int64_t>(rated->room));
      return;
    case Scorer::cost:
      marks.push_back(worker.price.value_or(last));
      return;
    case Scorer::spread:
      marks.push_back(worker.workloads);
      return;
    case Scorer::locality:
      marks.push_back(workload.region.empty() || worker.region == workload.region ? 0 : 1);
      marks.push_back(worker.latency ? worker.latency->count() : last);
      return;
    case Scorer::wait:
      marks.push_back(known(worker, policy) ? ahead_of(workload.priority, worker) : last);
      marks.push_back(worker.admits_after ? worker.admits_after->count() : last);
      return;
  }
}

/// When the first refusal ceases to count.
void look_again_after_refusals(const WorkloadFacts& workload, const RankPolicy& policy,
                               const std::string& cluster, std::optional<Duration>* look_again) {
  const auto refusal = workload.refusals.find(cluster);
  if (refusal == workload.refusals.end()) return;
  const Duration left = policy.refusal_counts_for - refusal->second.ago;
  if (left > Duration(0)) *look_again = std::min(look_again->value_or(left), left);
}

}  // namespace

Ranking rank(const WorkloadFacts& workload, const std::vector<WorkerFacts>& workers,
             const RankPolicy& policy) {
  std::vector<Rated> able;
  std::map<std::string, std::string> why;
  for (const WorkerFacts& worker : workers) {
    const RoomKind room = room_of(workload, worker, policy, workload.affinity.limits);
    if (std::string text = objection(workload, worker, policy, room); !text.empty()) {
      why.emplace(worker.name, std::move(text));
      continue;
    }
    Rated rated{&worker, room, {}};
    rated.marks.push_back(
        static_cast<std::int64_t>(workload.affinity.preference(worker.name, worker.labels)));
    for (const Scorer scorer : policy.scorers) mark(scorer, workload, policy, &rated);
    rated.marks.push_back(&worker - workers.data());
    able.push_back(std::move(rated));
  }
  std::sort(able.begin(), able.end(),
            [](const Rated& a, const Rated& b) { return a.marks < b.marks; });
  std::vector<std::string> order;
  for (const Rated& rated : able) order.push_back(rated.worker->name);
  Taken taken = take(order, workload.nominated, workload.waited, policy.steps);

  Ranking out;
  out.clusters = std::move(taken.clusters);
  if (!taken.later.empty()) out.look_again = taken.next_round;
  for (const std::string& name : taken.later) why.emplace(name, "comes after those nominated");
  for (const WorkerFacts& worker : workers) {
    const auto found = why.find(worker.name);
    if (found == why.end()) continue;
    out.left_out.push_back({worker.name, found->second});
    look_again_after_refusals(workload, policy, worker.name, &out.look_again);
  }
  return out;
}

}  // namespace regatta::placement
