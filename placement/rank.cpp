#include "placement/rank.h"

#include "lib/base/contains.h"
#include "lib/base/fnv.h"
#include "lib/base/human.h"
#include "placement/expressions.h"

#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace regatta::placement {
namespace {

constexpr double last = std::numeric_limits<double>::infinity();

/// Why each worker is left out, by its place in the input; empty: it is not.
using Reasons = std::vector<std::string>;

/// The most important first; less is better.
using Marks = boost::container::static_vector<double, 12>;

struct Rated {
  const WorkerFacts* worker;
  std::size_t place;  ///< in the input
  RoomKind room;
  Marks marks;
};

/// Able workers, and why the score of the check's users failed for some of them.
struct Able {
  std::vector<Rated> workers;
  std::map<std::size_t, std::string> no_score;  ///< by place
};

const api::StringMap& labels_of(const WorkerFacts& worker) {
  static const api::StringMap none;
  return worker.labels ? *worker.labels : none;
}

bool current(const WorkerFacts& worker, const RankPolicy& policy) {
  return worker.queue_age <= policy.stale_after;
}

bool known(const WorkerFacts& worker, const RankPolicy& policy) {
  return worker.queue && current(worker, policy);
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
  if (!workload.affinity.allows(worker.name, labels_of(worker))) {
    return "is not among the clusters that the workload asks for";
  }
  if (worker.kinds && !workload.kind.empty() && !worker.kinds->contains(workload.kind)) {
    return "does not serve " + workload.kind;
  }
  const auto refusal = workload.refusals.find(worker.name);
  if (refusal != workload.refusals.end() && refusal->second.ago < policy.refusal_counts_for) {
    return "refused it " + human_duration(refusal->second.ago) + " ago: " + refusal->second.why;
  }
  if (!worker.closed.empty() && current(worker, policy)) return worker.closed;
  if (std::string why = forbidden(workload, worker, policy, room); !why.empty()) return why;
  if (room == RoomKind::never) return "can never have so much quota";
  return {};
}

template <class T>
double mark_of(const std::optional<T>& value) {
  return value ? static_cast<double>(*value) : last;
}

/// What is measured is never quite equal: all below `first` is one step, and each later step is
/// twice as long.
double step_of(Duration measured, Duration first) {
  double steps = 0;
  for (Duration end = first; end <= measured && steps < 20; end *= 2) ++steps;
  return steps;
}
constexpr Duration near = std::chrono::milliseconds(10);
/// Times of conditions are whole seconds.
constexpr Duration at_once = std::chrono::seconds(2);

void mark(Scorer scorer, const WorkloadFacts& workload, const RankPolicy& policy, Rated* rated) {
  const WorkerFacts& worker = *rated->worker;
  Marks& marks = rated->marks;
  switch (scorer) {
    case Scorer::capacity:
      marks.push_back(static_cast<double>(rated->room));
      return;
    case Scorer::cost:
      marks.push_back(mark_of(worker.price));
      return;
    case Scorer::spread:
      marks.push_back(worker.workloads);
      return;
    case Scorer::locality:
      marks.push_back(workload.region.empty() || worker.region == workload.region ? 0 : 1);
      marks.push_back(worker.latency ? step_of(*worker.latency, near) : last);
      return;
    case Scorer::wait:
      marks.push_back(known(worker, policy) ? double(waiting_before(workload, *worker.queue))
                                            : last);
      // A worker that nothing was sent to yet may be as quick as any.
      marks.push_back(step_of(worker.admits_after.value_or(Duration(0)), at_once));
      return;
  }
}

void look_again_after(std::optional<Duration>* look_again, Duration after) {
  *look_again = std::min(look_again->value_or(after), after);
}

/// When the first refusal ceases to count.
void look_again_after_refusals(const WorkloadFacts& workload, const RankPolicy& policy,
                               const std::string& cluster, std::optional<Duration>* look_again) {
  const auto refusal = workload.refusals.find(cluster);
  if (refusal == workload.refusals.end()) return;
  const Duration left = policy.refusal_counts_for - refusal->second.ago;
  if (left > Duration(0)) look_again_after(look_again, left);
}

/// Of more workers whose room is not known than may be nominated, leaves those whose turn it is,
/// and returns for how long it has been. Scores change; the order in which they have their turn
/// does not, so that a page does not change with them. It differs between workloads, so that not
/// all of them ask the same ones.
Duration turn_page(std::vector<Rated>* able, const WorkloadFacts& workload,
                   const RankPolicy& policy, Ranking* out, Reasons* left_out) {
  const Duration waited = std::max(Duration(0), workload.waited);
  const std::uint64_t own = fnv1a(workload.key.str());
  std::vector<std::pair<std::uint64_t, std::size_t>> unknown;
  for (const Rated& rated : *able) {
    if (rated.room != RoomKind::unknown) continue;
    unknown.emplace_back(fnv1a(rated.worker->name, own), rated.place);
  }
  const Page page = page_of(unknown.size(), waited, policy.page);
  if (!page.next) return waited;
  std::sort(unknown.begin(), unknown.end());
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (i < page.first || i >= page.last) (*left_out)[unknown[i].second] = "has its turn later";
  }
  std::erase_if(*able, [&](const Rated& rated) { return !(*left_out)[rated.place].empty(); });
  look_again_after(&out->look_again, *page.next);
  return policy.page - *page.next;
}

/// Why an able worker has no place now.
std::string why_later(const Rated& rated, const Able& able, const RankPolicy& policy) {
  const auto failed = able.no_score.find(rated.place);
  if (failed != able.no_score.end()) return failed->second;
  const auto& scorers = policy.scorers;
  const bool by_room = std::find(scorers.begin(), scorers.end(), Scorer::capacity) != scorers.end();
  if (by_room && rated.room == RoomKind::borrows) return "would have to borrow";
  if (by_room && rated.room == RoomKind::preempts) return "would have to preempt";
  if (by_room && rated.room == RoomKind::full) return "has no room now";
  return "comes after those nominated";
}

/// All places are taken. Those that say that they are full give theirs to workers that are known to
/// have room.
void change_places(const std::vector<Rated>& able, Taken* taken) {
  std::set<std::string_view> full;
  for (const Rated& rated : able) {
    if (rated.worker->says_full && rated.room >= RoomKind::unknown) full.insert(rated.worker->name);
  }
  for (const Rated& rated : able) {
    if (full.empty()) return;
    if (rated.room > RoomKind::borrows || contains(taken->clusters, rated.worker->name)) continue;
    const auto leaves = std::find_if(taken->clusters.rbegin(), taken->clusters.rend(),
                                     [&](const auto& name) { return full.contains(name); });
    if (leaves == taken->clusters.rend()) return;
    full.erase(*leaves);
    taken->clusters.erase(std::next(leaves).base());
    taken->clusters.push_back(rated.worker->name);
  }
}

/// Gives places. A worker that says that it is full does not need its own.
Taken take_places(const std::vector<Rated>& able, const WorkloadFacts& workload, Duration waited,
                  const RankPolicy& policy) {
  std::vector<std::string> order;
  for (const Rated& rated : able) order.push_back(rated.worker->name);
  Taken taken = take(order, workload.nominated, waited, policy.steps);
  std::size_t places = taken.places;
  for (const Rated& rated : able) {
    if (rated.worker->says_full && contains(taken.clusters, rated.worker->name)) ++places;
  }
  places = std::min(places, nominated_max);
  for (const Rated& rated : able) {
    if (taken.clusters.size() >= places || rated.room >= RoomKind::full) break;
    if (contains(taken.clusters, rated.worker->name)) continue;
    taken.clusters.push_back(rated.worker->name);
  }
  if (taken.clusters.size() >= nominated_max) change_places(able, &taken);
  return taken;
}

Able able_of(const WorkloadFacts& workload, const WorkerList& workers, const RankPolicy& policy,
             Reasons* left_out) {
  Able able;
  able.workers.reserve(workers.size());
  Json document;
  if (policy.expressions) document = Expressions::document_of(workload);
  for (std::size_t place = 0; place < workers.size(); ++place) {
    const WorkerFacts& worker = *workers[place];
    const RoomKind room = room_of(workload, worker, policy, workload.affinity.limits);
    std::string why = objection(workload, worker, policy, room);
    Expressions::Verdict verdict;
    if (why.empty() && policy.expressions) {
      verdict = policy.expressions->judge(workload, document, worker, room);
      why = std::move(verdict.objection);
    }
    if (!why.empty()) {
      (*left_out)[place] = std::move(why);
      continue;
    }
    if (!verdict.no_score.empty()) able.no_score.emplace(place, std::move(verdict.no_score));
    Rated rated{&worker, place, room, {}};
    rated.marks.push_back(
        static_cast<double>(workload.affinity.preference(worker.name, labels_of(worker))));
    rated.marks.push_back(verdict.score ? -*verdict.score : last);
    for (const Scorer scorer : policy.scorers) mark(scorer, workload, policy, &rated);
    rated.marks.push_back(static_cast<double>(place));
    able.workers.push_back(rated);
  }
  return able;
}

}  // namespace

std::int64_t waiting_before(const WorkloadFacts& workload, const QueueFacts& queue) {
  std::int64_t before = 0;
  for (const auto& [priority, count] : queue.pending) {
    if (priority >= workload.priority) before += count;
  }
  return before;
}

std::optional<RankPolicy> policy_of(Dispatcher dispatcher) {
  RankPolicy policy;
  policy.steps = Steps{1, std::chrono::seconds(30)};
  switch (dispatcher) {
    case Dispatcher::capacity:
      policy.scorers = {Scorer::capacity, Scorer::wait};
      return policy;
    case Dispatcher::cost:
      policy.scorers = {Scorer::capacity, Scorer::cost};
      return policy;
    case Dispatcher::spread:
      policy.scorers = {Scorer::capacity, Scorer::spread};
      return policy;
    case Dispatcher::locality:
      policy.scorers = {Scorer::locality, Scorer::capacity};
      return policy;
    default:
      return std::nullopt;
  }
}

Ranking rank(const WorkloadFacts& workload, const WorkerList& workers, const RankPolicy& policy) {
  Ranking out;
  Reasons left_out(workers.size());
  Able judged = able_of(workload, workers, policy, &left_out);
  std::vector<Rated>& able = judged.workers;
  const Duration waited = turn_page(&able, workload, policy, &out, &left_out);
  std::sort(able.begin(), able.end(),
            [](const Rated& a, const Rated& b) { return a.marks < b.marks; });
  Taken taken = take_places(able, workload, waited, policy);
  out.clusters = std::move(taken.clusters);
  if (able.size() > out.clusters.size() && taken.next_round) {
    look_again_after(&out.look_again, *taken.next_round);
  }
  for (const Rated& rated : able) {
    if (!contains(out.clusters, rated.worker->name)) {
      left_out[rated.place] = why_later(rated, judged, policy);
    }
  }
  for (std::size_t place = 0; place < workers.size(); ++place) {
    if (left_out[place].empty()) continue;
    const std::string& name = workers[place]->name;
    look_again_after_refusals(workload, policy, name, &out.look_again);
    out.left_out.push_back({name, std::move(left_out[place])});
  }
  return out;
}

std::optional<Unchanged> unchanged(const WorkloadFacts& workload, const WorkerList& nominated,
                                   const RankPolicy& policy) {
  Reasons left_out(nominated.size());
  const std::vector<Rated> able = able_of(workload, nominated, policy, &left_out).workers;
  if (able.empty() || able.size() < workload.nominated.size()) return std::nullopt;
  // One that is full may leave its place; one whose room is not known has its turn only.
  const bool stay = std::none_of(able.begin(), able.end(), [](const Rated& rated) {
    return rated.worker->says_full || rated.room == RoomKind::unknown;
  });
  const Taken taken = take(workload.nominated, workload.nominated, workload.waited, policy.steps);
  if (!stay || taken.places > able.size()) return std::nullopt;
  return Unchanged{taken.next_round};
}

}  // namespace regatta::placement
