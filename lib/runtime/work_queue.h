#pragma once

#include "lib/base/clock.h"
#include "lib/runtime/backoff.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"

#include <deque>
#include <map>
#include <optional>
#include <set>

namespace regatta {

/// Keys waiting for reconciliation. A key is handed to at most one worker at a time; adding a key
/// that is waiting is a no-op, adding one that is being worked on makes it run once more after
/// done(). A delayed key that is added at once is not run a second time when its delay ends, unless
/// something asked for that since.
///
/// Usage: `key = co_await next(); … ; finish(key, outcome)`.
template <class Key>
class WorkQueue {
 public:
  /// `scope` runs the timers and must be stopped and joined before the queue is destroyed.
  WorkQueue(Clock& clock, TaskScope& scope, Backoff backoff = {})
      : clock_(clock), scope_(scope), backoff_(backoff), wake_(scope.executor()) {}

  void add(Key key) {
    delayed_.erase(key);
    if (!dirty_.insert(key).second || active_.contains(key)) return;
    ready_.push_back(std::move(key));
    wake_.notify_one();
  }

  /// The earliest of several delays for one key counts.
  void add_after(Key key, Duration delay) {
    if (delay <= Duration(0)) return add(std::move(key));
    const TimePoint due = clock_.now() + delay;
    const auto [it, fresh] = delayed_.try_emplace(key, due);
    if (!fresh) {
      if (it->second <= due) return;
      it->second = due;
    }
    arm(due);
  }

  /// Adds `key` after its backoff, which grows with each retry until forget().
  void retry(Key key) {
    const Duration delay = backoff_.after(++failures_[key]);
    add_after(std::move(key), delay);
  }
  int failures(const Key& key) const {
    const auto it = failures_.find(key);
    return it == failures_.end() ? 0 : it->second;
  }
  void forget(const Key& key) { failures_.erase(key); }

  /// Waits for a key; the caller owns it until done().
  Task<Key> next() {
    while (ready_.empty()) co_await wake_.wait();
    Key key = std::move(ready_.front());
    ready_.pop_front();
    dirty_.erase(key);
    active_.insert(key);
    if (!ready_.empty()) wake_.notify_one();
    co_return key;
  }

  void done(const Key& key) {
    active_.erase(key);
    if (dirty_.contains(key)) {
      ready_.push_back(key);
      wake_.notify_one();
    }
  }

  /// done(), after forget() or retry() as the outcome says. True when it failed in a way worth
  /// telling: a conflict only says that somebody was faster, and what they wrote is on its way.
  bool finish(const Key& key, const Status& outcome) {
    if (outcome) {
      forget(key);
    } else {
      retry(key);
    }
    done(key);
    return !outcome && outcome.error().code() != Errc::conflict;
  }

  std::size_t depth() const { return ready_.size(); }
  bool idle() const { return ready_.empty() && active_.empty() && delayed_.empty(); }

 private:
  /// One sleeping timer at the earliest due time is enough; later ones are armed when it fires.
  void arm(TimePoint due) {
    if (armed_ && *armed_ <= due) return;
    armed_ = due;
    scope_.spawn("work-queue-timer", fire_at(due));
  }

  Task<> fire_at(TimePoint due) {
    co_await clock_.sleep_until(due);
    if (armed_ != due) co_return;  // an earlier timer took over
    armed_.reset();
    const TimePoint now = clock_.now();
    std::vector<Key> ripe;
    std::optional<TimePoint> earliest;
    for (const auto& [key, when] : delayed_) {
      if (when <= now) {
        ripe.push_back(key);
      } else if (!earliest || when < *earliest) {
        earliest = when;
      }
    }
    for (Key& key : ripe) add(std::move(key));
    if (earliest) arm(*earliest);
  }

  Clock& clock_;
  TaskScope& scope_;
  Backoff backoff_;
  std::deque<Key> ready_;
  std::set<Key> dirty_, active_;
  std::map<Key, int> failures_;
  std::map<Key, TimePoint> delayed_;
  std::optional<TimePoint> armed_;
  Wakeup wake_;
};

}  // namespace regatta
