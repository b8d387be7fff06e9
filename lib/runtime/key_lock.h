#pragma once

#include "lib/runtime/wakeup.h"

#include <map>
#include <memory>
#include <utility>

namespace regatta {

/// One lock per key, for coroutines of one executor. Components that write the same object hold its
/// lock while they read it, write it and observe what was written, so that their writes do not
/// conflict. Never hold two locks at once.
template <class Key>
class KeyLocks {
  struct Entry {
    explicit Entry(const Executor& executor) : free(executor) {}
    bool held = false;
    int waiters = 0;
    Wakeup free;
  };

 public:
  explicit KeyLocks(Executor executor) : executor_(std::move(executor)) {}

  /// Releases the lock when destroyed.
  class Held {
   public:
    Held(Held&& other) noexcept
        : locks_(std::exchange(other.locks_, nullptr)), key_(std::move(other.key_)) {}
    Held& operator=(Held&&) = delete;
    ~Held() {
      if (locks_) locks_->release(key_);
    }

   private:
    friend class KeyLocks;
    Held(KeyLocks* locks, Key key) : locks_(locks), key_(std::move(key)) {}
    KeyLocks* locks_;
    Key key_;
  };

  Task<Held> acquire(Key key) {
    Entry& entry = *entries_.try_emplace(key, std::make_unique<Entry>(executor_)).first->second;
    while (entry.held) {
      const Waiting waiting(entry);
      co_await entry.free.wait();
    }
    entry.held = true;
    co_return Held(this, std::move(key));
  }

  std::size_t size() const { return entries_.size(); }

 private:
  /// Counts a waiter while it waits; a cancelled one is no longer counted.
  struct Waiting {
    explicit Waiting(Entry& entry) : entry(entry) { ++entry.waiters; }
    ~Waiting() {
      // A cancelled waiter may have taken the notification that was meant for the next one.
      if (--entry.waiters > 0 && !entry.held) entry.free.notify_one();
    }
    Entry& entry;
  };

  void release(const Key& key) {
    const auto it = entries_.find(key);
    it->second->held = false;
    if (it->second->waiters > 0) {
      it->second->free.notify_one();
    } else {
      entries_.erase(it);
    }
  }

  Executor executor_;
  std::map<Key, std::unique_ptr<Entry>> entries_;
};

}  // namespace regatta
