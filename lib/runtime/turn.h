#pragma once

#include "lib/base/clock.h"

namespace regatta {

/// Keeps a coroutine from working for long while all others of its thread wait. What is there
/// already is read without a wait, so a peer that sends much at once would keep the thread.
///
///   turn.add(clock.steady() - since);
///   if (turn.is_over()) co_await turn.pass();
class Turn {
 public:
  /// After work that took longer, the others have their turn.
  static constexpr Duration work_max{5};

  /// Work that was done without a wait.
  void add(Duration work) { work_ += work; }
  bool is_over() const { return work_ > work_max; }
  /// Returns when everything that is ready now has run, and begins the next turn.
  Task<> pass();

 private:
  Duration work_{0};
};

}  // namespace regatta
