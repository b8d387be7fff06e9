#pragma once

#include "jobs/generic_job.h"

/// apps/v1 Deployment. Its Pods are jobs by themselves; its webhook tells them their queue.
namespace regatta::jobs {

std::vector<std::shared_ptr<const JobKind>> deployment_kinds();

}  // namespace regatta::jobs
