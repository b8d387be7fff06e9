#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/kube/informer.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace regatta::controllers {

/// Whether the store of one kind can be believed when it has no object that uses an item. A silent
/// watch may hide the one that does, so the kind is listed anew before an item is let go. Items
/// that are asked about soon after each other share a list.
///
/// `users`, `scope` and `queue` must outlive it; the scope must be joined before it is destroyed.
template <class User, class Item>
class KnownUsers {
 public:
  /// How long after its end a list is believed: finalizers are written one by one.
  static constexpr Duration recent = std::chrono::seconds(10);
  /// How long a list waits for more items.
  static constexpr Duration gather{200};

  /// Each item of which believed() said "not yet" is added to `queue` when it may say more.
  KnownUsers(kube::Informer<User>& users, Clock& clock, TaskScope& scope, WorkQueue<Item>& queue)
      : users_(users), clock_(clock), scope_(scope), queue_(queue) {}

  /// Call it for an item that no object in the store uses. True when the store has a list that
  /// ended lately and began after the first such call. False: not yet, a list is under way.
  /// `unavailable` while an object that cannot be decoded may use it; the error names that object.
  Result<bool> believed(const Item& item) {
    if (!users_.undecodable().empty()) {
      const auto& [key, why] = *users_.undecodable().begin();
      return Error(Errc::unavailable, users_.resource().group_resource() + " " + key.str() +
                                          " cannot be read and may use it: " + why.what());
    }
    const std::uint64_t before = asked_.try_emplace(item, begun_).first->second;
    if (done_ > before && clock_.steady() <= ended_ + recent) return true;
    waiting_.insert(item);
    if (!std::exchange(listing_, true)) scope_.spawn("list of users", list());
    return false;
  }
  /// The item is used, or is gone.
  void forget(const Item& item) { asked_.erase(item); }
  bool idle() const { return !listing_; }

 private:
  Task<> list() {
    while (!waiting_.empty()) {
      co_await clock_.sleep_for(gather);
      const std::set<Item> told = std::exchange(waiting_, {});
      ++begun_;
      co_await users_.catch_up();
      done_ = begun_;
      ended_ = clock_.steady();
      for (const Item& item : told) queue_.add(item);
    }
    listing_ = false;
  }

  kube::Informer<User>& users_;
  Clock& clock_;
  TaskScope& scope_;
  WorkQueue<Item>& queue_;
  std::map<Item, std::uint64_t> asked_;  ///< the lists begun before the first call for it
  std::set<Item> waiting_;               ///< for the next list
  std::uint64_t begun_ = 0;              ///< lists
  std::uint64_t done_ = 0;               ///< the last one that ended
  SteadyPoint ended_{};                  ///< when it did
  bool listing_ = false;
};

}  // namespace regatta::controllers
