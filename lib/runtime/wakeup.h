#pragma once

#include "lib/base/task.h"

#include <boost/asio/steady_timer.hpp>

namespace regatta {

/// A condition variable for coroutines of one executor: wait() returns after a later notification.
/// Always check the condition again in a loop.
class Wakeup {
 public:
  explicit Wakeup(const Executor& executor)
      : timer_(executor, asio::steady_timer::time_point::max()) {}

  /// Throws operation_aborted when the waiting coroutine is cancelled.
  Task<> wait();
  void notify_one() { timer_.cancel_one(); }
  void notify_all() { timer_.cancel(); }

 private:
  asio::steady_timer timer_;
};

}  // namespace regatta
