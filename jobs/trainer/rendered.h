#pragma once

#include "jobs/replicated_jobs.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// What the trainer's controller makes of a TrainJob and its runtime, as far as quota needs it.
namespace regatta::jobs::trainer {

/// The manager under which Kueue and Regatta patch the runtime of a job.
inline constexpr const char* patch_manager = "kueue.x-k8s.io/manager";

/// A replicated job of the JobSet that the trainer makes.
struct Role : ReplicatedJob {
  std::string place;  ///< in the runtime: "spec.template.spec.replicatedJobs[0]"
  Json pod_template;
};

/// In the order of the runtime. Patches of the job count, other than those of `patch_manager`.
std::vector<Role> roles_of(const Json& job, const Json& runtime);

}  // namespace regatta::jobs::trainer
