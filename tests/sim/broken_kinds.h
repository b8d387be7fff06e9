#pragma once

#include "jobs/generic_job.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace regatta::simtest {

/// What is wrong with a kind of jobs, as the manager knows it. Each function gets the job as the
/// sound kind reads it; where there is none, the sound answer counts.
struct Breakage {
  using Job = const jobs::GenericJob&;
  using Infos = std::vector<jobs::PodSetInfo>;
  std::function<Result<Json>(Job, const Infos&)> start_patch;
  std::function<std::optional<jobs::StopStep>(Job, const api::Workload*)> next_stop_step;
  std::function<bool(Job)> suspended, active;
  std::function<std::optional<jobs::Finished>(Job)> finished;
  std::function<Json(Job, const api::Workload&, const std::string& origin)> remote_job;
  std::function<Json(Job, Job remote)> status_patch;
  std::function<Json(Job)> release_patch;
  std::function<std::vector<std::int32_t>(Job)> pod_counts;
  std::function<std::string(Job)> not_managed_reason;
};

/// The same kinds, one of which is broken.
jobs::JobKinds with_broken(const jobs::JobKinds& kinds, const std::string& kind,
                           const Breakage& breakage);

}  // namespace regatta::simtest
