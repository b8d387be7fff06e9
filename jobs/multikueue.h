#pragma once

#include "jobs/lookup.h"

#include <memory>
#include <string>

namespace regatta::jobs {

// What jobs and queues of a hub say of MultiKueue.

/// The admission check by which a ClusterQueue sends its workloads to workers; null without one. Of
/// several, which make the ClusterQueue inactive, the first.
std::shared_ptr<const api::AdmissionCheck> multikueue_check(const Lookup& objects,
                                                            const api::ClusterQueue& queue);
/// Whether the ClusterQueue of that LocalQueue has one.
bool leads_to_workers(const Lookup& objects, const api::ObjectKey& local_queue);

/// In a queue of workers the job asks to run on the hub, by an annotation. It may not be one that
/// MultiKueue runs.
bool asks_for_hub(const api::StringMap& annotations);
/// Why the value of that annotation cannot be read; empty when it can, or there is none.
std::string unreadable_wish(const api::StringMap& annotations);

}  // namespace regatta::jobs
