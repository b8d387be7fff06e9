#include "lib/kube/catch_up.h"

#include "lib/runtime/deadline.h"

#include <utility>

namespace regatta::kube {
namespace {

constexpr Duration pause = std::chrono::seconds(1);

}  // namespace

std::string CatchUp::failing(TimePoint now) const {
  std::string all;
  for (const Known& one : informers_) {
    const bool waits = one.health->last_error && one.health->next_attempt > now;
    if (one.caught_up() || !waits) continue;
    all += (all.empty() ? "" : "; ") + one.resource + ": " + one.health->last_error->what();
  }
  return all;
}

Task<> CatchUp::until_hopeless(Clock& clock, Duration patience) const {
  co_await clock.sleep_for(patience);
  while (failing(clock.now()).empty()) co_await clock.sleep_for(pause);
}

Task<Status> CatchUp::run(Clock& clock, Duration patience) {
  Task<> all = all_of(std::move(listings_));
  Task<> waiting = until_hopeless(clock, patience);
  if (co_await finishes_first(std::move(all), std::move(waiting))) co_return ok();
  co_return Error(Errc::unavailable, "not everything can be listed: " + failing(clock.now()));
}

}  // namespace regatta::kube
