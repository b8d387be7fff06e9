#pragma once

#include "lib/base/clock.h"
#include "lib/runtime/backoff.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"

#include <deque>
#include <map>
#include <set>

namespace regatta {

/// Whether a queue accepts keys from the start, or only after open().
enum class Intake { open, closed };

/// Keys that wait for reconciliation. A key is handed to at most one worker at a time; adding a key
/// that is waiting is a no-op, adding one that is being worked on makes it run once more after
/// done(). When add() is called for a delayed key, the key runs now and not again at the end of the
/// delay, unless add_after() is called once more.
///
/// Usage: `key = co_await next(); … ; finish(key, outcome)`.
template <class Key>
class WorkQueue {
 public:
  /// `scope` runs the timers and must be stopped and joined before the queue is destroyed.
  WorkQueue(Clock& clock, TaskScope& scope, Backoff backoff = {}, Intake intake = Intake::open)
      : clock_(clock), scope_(scope), backoff_(backoff), intake_(intake), wake_(scope.executor()) {}

  /// Accepts keys from now on. Keys that were added before are forgotten, so that a standby, which
  /// sees objects come and go for weeks and works on none, does not remember them all. The owner
  /// adds the keys of the objects that exist.
  void open() { intake_ = Intake::open; }

  void add(Key key) {
    if (intake_ == Intake::closed) return;
    if (const auto delayed = delayed_.find(key); delayed != delayed_.end()) {
      due_.erase({delayed->second, &delayed->first});
      delayed_.erase(delayed);
    }
    if (!dirty_.insert(key).second || active_.contains(key)) return;
    ready_.push_back(std::move(key));
    wake_.notify_one();
  }

  /// The earliest of several delays for one key counts.
  void add_after(Key key, Duration delay) {
    if (intake_ == Intake::closed) return;
    if (delay <= Duration(0)) return add(std::move(key));
    const SteadyPoint due = clock_.steady() + delay;
    const auto [it, fresh] = delayed_.try_emplace(std::move(key), due);
    if (!fresh) {
      if (it->second <= due) return;
      due_.erase({it->second, &it->first});
      it->second = due;
    }
    due_.insert({due, &it->first});
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

  /// done(), after forget() or retry() as the outcome says. True when the failure is worth a log
  /// line. A conflict is not: another writer was faster, and the watch will show what it wrote.
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
  /// A key and the end of its delay. The pointer is to the key in `delayed_`, which does not move.
  struct Due {
    SteadyPoint when;
    const Key* key;
    friend bool operator<(const Due& a, const Due& b) {
      return a.when != b.when ? a.when < b.when : *a.key < *b.key;
    }
  };

  /// A key that is due later than a sleeping timer needs none: that timer arms the next one when it
  /// wakes. So there are no more timers than there are lengths of delays.
  void arm(SteadyPoint due) {
    if (!timers_.empty() && *timers_.begin() <= due) return;
    timers_.insert(due);
    scope_.spawn("work-queue-timer", fire_at(due));
  }

  Task<> fire_at(SteadyPoint due) {
    co_await clock_.sleep_until(due);
    timers_.erase(due);
    const SteadyPoint now = clock_.steady();
    while (!due_.empty() && due_.begin()->when <= now) {
      Key ripe = *due_.begin()->key;
      add(std::move(ripe));
    }
    if (!due_.empty()) arm(due_.begin()->when);
  }

  Clock& clock_;
  TaskScope& scope_;
  Backoff backoff_;
  Intake intake_;
  std::deque<Key> ready_;
  std::set<Key> dirty_, active_;
  std::map<Key, int> failures_;
  std::map<Key, SteadyPoint> delayed_;
  std::set<Due> due_;             ///< of all delayed keys
  std::set<SteadyPoint> timers_;  ///< when they wake
  Wakeup wake_;
};

}  // namespace regatta
