#pragma once

#include "jobs/generic_job.h"

/// leaderworkerset.x-k8s.io LeaderWorkerSet: each replica is a group of Pods, whose Workload it
/// makes.
namespace regatta::jobs {

/// LeaderWorkerSets, and the Pods of their groups.
std::vector<std::shared_ptr<const JobKind>> leader_worker_set_kinds();

}  // namespace regatta::jobs
