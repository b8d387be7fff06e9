#include "lib/sim/world.h"

#include "lib/base/check.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace regatta::sim {
namespace {

constexpr std::uint64_t turns_max = 20'000'000;

}  // namespace

// 2026-01-01T00:00:00Z, so that times in histories look like dates.
World::World(std::uint64_t seed) : rng(seed), wall_zero_(std::chrono::seconds(1767225600)) {}

Task<> World::sleep_until(SteadyPoint t) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, asio::steady_timer::time_point::max());
  Sleeper me{this, {std::max(t, steady_), ++arrivals_}, &timer};
  sleepers_.emplace(me.key, &me);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  if (!me.due) throw boost::system::system_error(asio::error::operation_aborted);
}

void World::settle() {
  io_.restart();
  for (std::uint64_t turns = 0; io_.poll_one() != 0; ++turns) {
    REGATTA_CHECK(turns < turns_max, "something runs for ever and no time passes");
  }
}

bool World::run_until(SteadyPoint t, const std::function<bool()>& stop) {
  for (;;) {
    settle();
    if (stop && stop()) return true;
    if (sleepers_.empty() || sleepers_.begin()->first.first > t) break;
    Sleeper* next = sleepers_.begin()->second;
    steady_ = next->key.first;
    next->due = true;
    next->timer->cancel();
    sleepers_.erase(sleepers_.begin());
    next->world = nullptr;
  }
  steady_ = std::max(steady_, t);
  return false;
}

}  // namespace regatta::sim
