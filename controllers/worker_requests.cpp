#include "controllers/worker_requests.h"

#include <algorithm>
#include <iterator>

namespace regatta::controllers {
namespace {

constexpr Backoff pauses{Duration(50), std::chrono::seconds(60)};
constexpr Duration success_pause = std::chrono::seconds(1);
constexpr Duration asked_pause_max = std::chrono::minutes(5);
/// How long a failure is remembered after its pause, so that the next one is known to be another.
constexpr Duration remembered = std::chrono::minutes(5);
/// Answers are what there is more and more to remember of, so one of them looks for what is over.
constexpr Duration prune_interval = std::chrono::minutes(1);

/// So many successes of one kind in a row are nothing unusual.
constexpr int repeats_max = 8;

/// The smallest value, with which an ordered search begins.
constexpr WorkerVerb first_verb = WorkerVerb::create_copy;

}  // namespace

void WorkerRequests::send(const std::string& worker, const api::ObjectKey& workload,
                          WorkerVerb verb, Task<Status> request, bool wake) {
  const Line line(workload, worker);
  if (const auto busy = under_way_.find(line); busy != under_way_.end()) {
    busy->second.wake = busy->second.wake || wake || busy->second.verb != verb;
    return;
  }
  const SteadyPoint now = deps_.clock.steady();
  if (const Failure* last = failure(worker, workload, verb); last && last->until > now) {
    return deps_.wake(workload, last->until - now);
  }
  if (const auto row = repeats_.find({workload, worker, verb});
      row != repeats_.end() && row->second.until > now) {
    return deps_.wake(workload, row->second.until - now);
  }
  Worker& there = workers_[worker];
  if (there.under_way.size() >= under_way_max) {
    const auto known = std::find(there.waiting.begin(), there.waiting.end(), workload);
    if (known == there.waiting.end()) there.waiting.push_back(workload);
    return;
  }
  const std::uint64_t id = ++last_id_;
  there.under_way.emplace(id, now);
  under_way_.emplace(line, UnderWay{verb, id, now, wake});
  deps_.scope.spawn("request to a worker", carry(line, id, verb, std::move(request)));
  if (there.watched) return;
  there.watched = true;
  deps_.scope.spawn("silence of a worker", watch(worker));
}

Task<> WorkerRequests::carry(Line line, std::uint64_t id, WorkerVerb verb, Task<Status> request) {
  const Status outcome = co_await std::move(request);
  ended(line, id, verb, outcome);
}

void WorkerRequests::ended(const Line& line, std::uint64_t id, WorkerVerb verb,
                           const Status& outcome) {
  prune();
  Worker& there = workers_[line.second];
  there.under_way.erase(id);
  bool wake = false;
  if (const auto mine = under_way_.find(line); mine != under_way_.end() && mine->second.id == id) {
    wake = mine->second.wake;
    under_way_.erase(mine);
  }
  if (outcome) {
    succeeded(line, verb, wake);
  } else {
    failed(line, verb, outcome.error());
  }
  // A workload that is woken may have nothing to send any more, so all that find room are.
  // None may be left behind by the last answer.
  const std::size_t free = under_way_max - there.under_way.size();
  std::size_t room = there.under_way.empty() ? there.waiting.size() : free;
  for (; room > 0 && !there.waiting.empty(); --room) {
    const api::ObjectKey next = there.waiting.front();
    there.waiting.pop_front();
    deps_.wake(next, Duration(0));
  }
}

void WorkerRequests::succeeded(const Line& line, WorkerVerb verb, bool wake) {
  const Kind kind(line.first, line.second, verb);
  if (const auto known = failures_.find(kind); known != failures_.end()) {
    if (known->second.useless.empty()) failures_.erase(known);
  }
  note_repeat(kind);
  if (!wake) return;
  const SteadyPoint now = deps_.clock.steady();
  const auto [last, fresh] = succeeded_.try_emplace(kind, now);
  const bool again = !fresh && now - last->second <= 2 * success_pause;
  last->second = now;
  deps_.wake(line.first, again ? success_pause : Duration(0));
}

/// What a worker takes back as soon as it was written would be written as fast as it answers.
void WorkerRequests::note_repeat(const Kind& kind) {
  const SteadyPoint now = deps_.clock.steady();
  const auto [row, fresh] = repeats_.try_emplace(kind);
  Repeats& repeats = row->second;
  const bool soon = !fresh && now - std::max(repeats.last, repeats.until) <= success_pause;
  repeats.times = soon ? repeats.times + 1 : 1;
  repeats.last = now;
  const int beyond = repeats.times - repeats_max;
  if (beyond > 0) repeats.until = now + pauses.after(beyond);
}

void WorkerRequests::failed(const Line& line, WorkerVerb verb, const Error& error) {
  const SteadyPoint now = deps_.clock.steady();
  Failure& failure = failures_[{line.first, line.second, verb}];
  if (failure.times == 0) failure.first = now;
  failure.error = error;
  Duration pause = pauses.after(++failure.times);
  if (error.details() && error.details()->retry_after) {
    const Duration asked = *error.details()->retry_after;
    pause = std::max(pause, std::min(asked, asked_pause_max));
  }
  failure.until = now + pause;
  // Another writer was faster: the watch will show what it wrote.
  if (error.code() != Errc::conflict) {
    deps_.log.warning(
        "worker not written",
        {{"workload", line.first.str()}, {"cluster", line.second}, {"error", error.what()}});
  }
  deps_.wake(line.first, pause);
}

void WorkerRequests::made_useless(const std::string& worker, const api::ObjectKey& workload,
                                  WorkerVerb verb, const std::string& uid, const Error& why) {
  std::string& last = failures_[{workload, worker, verb}].useless;
  if (std::exchange(last, uid) == uid) return;
  failed(Line(workload, worker), verb, why);
}

void WorkerRequests::allowed_anew(const std::string& worker) {
  const SteadyPoint now = deps_.clock.steady();
  for (auto& [kind, failure] : failures_) {
    if (std::get<1>(kind) != worker || failure.until <= now) continue;
    if (!failure.useless.empty() || failure.error.code() != Errc::denied) continue;
    failure.until = now;
    deps_.wake(std::get<0>(kind), Duration(0));
  }
}

/// Looks at the oldest requests as long as there are any.
Task<> WorkerRequests::watch(std::string worker) {
  for (;;) {
    co_await deps_.clock.sleep_for(silence);
    Worker& there = workers_[worker];
    if (there.under_way.empty()) {
      there.watched = false;
      co_return;
    }
    const auto [oldest, since] = *there.under_way.begin();
    if (oldest <= there.reported || deps_.clock.steady() < since + silence) continue;
    there.reported = there.under_way.rbegin()->first;
    deps_.on_silence(worker);
  }
}

void WorkerRequests::settle(const std::string& worker, const api::ObjectKey& workload,
                            WorkerVerb verb) {
  const auto found = under_way_.find(Line(workload, worker));
  if (found != under_way_.end() && found->second.verb == verb) under_way_.erase(found);
}

bool WorkerRequests::under_way(const std::string& worker, const api::ObjectKey& workload,
                               WorkerVerb verb) const {
  const auto found = under_way_.find(Line(workload, worker));
  return found != under_way_.end() && found->second.verb == verb;
}

bool WorkerRequests::under_way_elsewhere(const std::string& worker, const api::ObjectKey& workload,
                                         WorkerVerb verb) const {
  for (auto it = under_way_.lower_bound(Line(workload, ""));
       it != under_way_.end() && it->first.first == workload; ++it) {
    if (it->second.verb == verb && it->first.second != worker) return true;
  }
  return false;
}

bool WorkerRequests::full(const std::string& worker) const {
  const auto found = workers_.find(worker);
  return found != workers_.end() && found->second.under_way.size() >= under_way_max;
}

std::optional<WorkerRequests::Asked> WorkerRequests::oldest(const api::ObjectKey& workload,
                                                            WorkerVerb verb) const {
  std::optional<Asked> oldest;
  for (auto it = under_way_.lower_bound(Line(workload, ""));
       it != under_way_.end() && it->first.first == workload; ++it) {
    if (it->second.verb != verb) continue;
    if (oldest && oldest->since <= it->second.since) continue;
    oldest = Asked{it->first.second, it->second.since};
  }
  return oldest;
}

const WorkerRequests::Failure* WorkerRequests::failure(const std::string& worker,
                                                       const api::ObjectKey& workload,
                                                       WorkerVerb verb) const {
  if (failures_.empty()) return nullptr;  // it is asked for each worker in each turn
  const auto found = failures_.find({workload, worker, verb});
  return found == failures_.end() ? nullptr : &found->second;
}

void WorkerRequests::forget(const api::ObjectKey& workload) {
  auto it = failures_.lower_bound({workload, "", first_verb});
  while (it != failures_.end() && std::get<0>(it->first) == workload) it = failures_.erase(it);
}

void WorkerRequests::forget(const api::ObjectKey& workload, WorkerVerb verb) {
  auto it = failures_.lower_bound({workload, "", first_verb});
  while (it != failures_.end() && std::get<0>(it->first) == workload) {
    it = std::get<2>(it->first) == verb ? failures_.erase(it) : std::next(it);
  }
}

void WorkerRequests::prune() {
  const SteadyPoint now = deps_.clock.steady();
  if (now - pruned_ < prune_interval) return;
  pruned_ = now;
  std::erase_if(failures_,
                [now](const auto& entry) { return entry.second.until + remembered < now; });
  std::erase_if(succeeded_,
                [now](const auto& entry) { return entry.second + 2 * success_pause < now; });
  std::erase_if(repeats_, [now](const auto& entry) {
    return std::max(entry.second.last, entry.second.until) + success_pause < now;
  });
}

}  // namespace regatta::controllers
