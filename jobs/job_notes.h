#pragma once

#include "jobs/plan.h"

#include <optional>
#include <string>

namespace regatta::jobs {

/// An event of a job.
struct JobNote {
  bool warning = false;
  std::string reason;
  std::string message;
};

/// The event of an action that was carried out; nothing for actions without one.
std::optional<JobNote> note_of(const GenericJob& job, const JobAction& action);

}  // namespace regatta::jobs
