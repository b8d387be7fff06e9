#pragma once

#include "lib/base/clock.h"
#include "lib/base/rng.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <map>

namespace regatta::sim {

/// Virtual time and one seeded generator. A sleeper waits on a timer that never fires by itself;
/// run_until() wakes sleepers in (deadline, arrival) order, and only when nothing else can make
/// progress. Same seed and same program: same history. Wall time and steady time pass together,
/// until step_wall() moves one against the other.
class World final : public Clock {
 public:
  explicit World(std::uint64_t seed);

  TimePoint now() const override { return wall_zero_ + steady_.time_since_epoch(); }
  SteadyPoint steady() const override { return steady_; }
  Task<> sleep_until(SteadyPoint t) override;

  /// Sets the wall clock forward, or back, and no time passes.
  void step_wall(Duration by) { wall_zero_ += by; }

  /// Runs until virtual time `t`, or until `stop` (checked after every step) returns true. Returns
  /// true when it was stopped; otherwise the time is `t` afterwards.
  bool run_until(SteadyPoint t, const std::function<bool()>& stop = nullptr);
  /// Runs for a span of virtual time.
  bool run_for(Duration d, const std::function<bool()>& stop = nullptr) {
    return run_until(steady_ + d, stop);
  }
  /// Runs everything that can run while time stands still. Ends the program when that does not end.
  void settle();

  Executor executor() { return io_.get_executor(); }

  Rng rng;

 private:
  using Key = std::pair<SteadyPoint, std::uint64_t>;
  struct Sleeper {
    World* world;
    Key key;
    asio::steady_timer* timer;
    bool due = false;
    ~Sleeper() {
      if (world) world->sleepers_.erase(key);
    }
  };

  asio::io_context io_{1};
  SteadyPoint steady_{};  ///< the machine has just started
  TimePoint wall_zero_;   ///< what the wall clock showed then
  std::uint64_t arrivals_ = 0;
  std::map<Key, Sleeper*> sleepers_;
};

}  // namespace regatta::sim
