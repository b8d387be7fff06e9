#pragma once

#include "lifecycle/lifecycle.h"

#include <optional>
#include <string>

namespace regatta::lifecycle {

/// What the condition QuotaReserved=False is to say.
struct Waiting {
  std::string reason;
  std::string message;
  std::optional<Note> note;  ///< an event that goes with it
};

/// Why an active workload without quota cannot get any, for reasons that the scheduler does not
/// see; or that an earlier reason is no longer true. Nothing when the condition may stay.
std::optional<Waiting> explain_pending(const api::Workload& workload, const LifecycleView& view,
                                       const LifecycleConfig& config);

}  // namespace regatta::lifecycle
