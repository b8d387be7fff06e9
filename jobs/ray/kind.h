#pragma once

#include "jobs/generic_job.h"

#include <memory>
#include <vector>

/// ray.io/v1: RayCluster, RayJob and RayService. A pod set for the head and one for each group of
/// workers; of a RayJob one for the submitter, too.
namespace regatta::jobs {

std::vector<std::shared_ptr<const JobKind>> ray_kinds();

}  // namespace regatta::jobs
