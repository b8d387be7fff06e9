#pragma once

#include "jobs/lookup.h"

#include <memory>

namespace regatta::jobs {

/// The admission check by which a ClusterQueue sends its workloads to workers; null without one. Of
/// several, which make the ClusterQueue inactive, the first.
std::shared_ptr<const api::AdmissionCheck> multikueue_check(const Lookup& objects,
                                                            const api::ClusterQueue& queue);

}  // namespace regatta::jobs
