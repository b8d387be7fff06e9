#pragma once

#include "jobs/generic_job.h"

#include <memory>

/// workload.codeflare.dev AppWrapper: any objects that are made together. A pod set for each pod
/// template in its components.
namespace regatta::jobs {

std::shared_ptr<const JobKind> appwrapper_kind();

}  // namespace regatta::jobs
