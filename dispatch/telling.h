#pragma once

#include "dispatch/plan.h"

#include <optional>

/// The condition Dispatched: one sentence on how far MultiKueue has got with a Workload.
///
/// Writes that are made anyway keep it up to date: a nomination says Racing, the start lock says
/// Dispatched, an eviction says why. A write of its own is made only when something lasts that
/// should not, when that is over, and when a race lasts of which no write has told.
namespace regatta::dispatch {

struct Telling {
  std::optional<TellState> state;      ///< set when it is worth a write
  std::optional<Duration> look_again;  ///< when something may be worth telling
};

Telling what_to_tell(const GroupView& group, TimePoint now, const PlanConfig& config);

}  // namespace regatta::dispatch
