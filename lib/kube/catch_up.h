#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/kube/informer.h"

#include <functional>
#include <string>
#include <vector>

namespace regatta::kube {

/// How long a process that begins to lead tries to list what it is refused, before it gives up.
inline constexpr Duration take_over_max = std::chrono::minutes(2);

/// Brings several informers up to date beside each other (ObjectInformer::catch_up()), and says
/// which of them the server does not let it. For a process that begins to lead: without a bound it
/// would hold its Lease and do nothing for as long as one kind cannot be listed. The informers must
/// outlive it.
class CatchUp {
 public:
  /// The informer lists anew from now on.
  template <class T>
  void add(ObjectInformer<T>& informer) {
    listings_.push_back(informer.catch_up());
    informers_.push_back({informer.resource().group_resource(), &informer.health(),
                          [&informer] { return informer.caught_up(); }});
  }

  /// Call it once. Returns when every informer is as new as the server was at the call.
  /// `unavailable` when, after `patience`, there is an informer whose last attempt failed; the
  /// error names each of these and the reason. A list that only takes long is waited for.
  Task<Status> run(Clock& clock, Duration patience = take_over_max);

 private:
  struct Known {
    std::string resource;
    const InformerHealth* health;
    std::function<bool()> caught_up;
  };
  /// What waits for another attempt now, and why. An attempt that is under way may succeed.
  std::string failing(TimePoint now) const;
  Task<> until_hopeless(Clock& clock, Duration patience) const;

  std::vector<Task<>> listings_;
  std::vector<Known> informers_;
};

}  // namespace regatta::kube
