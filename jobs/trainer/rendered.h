#pragma once

#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// What the trainer's controller makes of a TrainJob and its runtime, as far as quota needs it.
namespace regatta::jobs::trainer {

/// The manager under which Kueue and Regatta patch the runtime of a job.
inline constexpr const char* patch_manager = "kueue.x-k8s.io/manager";

/// A replicated job of the JobSet that the trainer makes.
struct Role {
  std::string name;
  std::string place;          ///< in the runtime: "spec.template.spec.replicatedJobs[0]"
  std::int32_t replicas = 1;  ///< Jobs
  std::int32_t pods = 1;      ///< of each Job
  Json pod_template;

  std::int32_t count() const;
};

/// In the order of the runtime. Patches of the job count, other than those of `patch_manager`.
std::vector<Role> roles_of(const Json& job, const Json& runtime);

}  // namespace regatta::jobs::trainer
