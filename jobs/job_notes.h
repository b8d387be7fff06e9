#pragma once

#include "jobs/plan.h"

#include <string>
#include <vector>

namespace regatta::jobs {

/// An event of a job, of a member of it, or of its Workload.
struct JobNote {
  const api::ResourceInfo* resource = nullptr;
  const api::ObjectMeta* about = nullptr;  ///< lives as long as the job and the action
  bool warning = false;
  std::string reason;
  std::string message;
};

/// The events of an action that was carried out. A composed job speaks by its first member.
std::vector<JobNote> notes_of(const GenericJob& job, const JobAction& action);

}  // namespace regatta::jobs
