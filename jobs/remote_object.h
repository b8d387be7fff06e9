#pragma once

#include "lib/api/meta.h"
#include "lib/api/workload.h"
#include "lib/base/json.h"

#include <string>

namespace regatta::jobs {

/// The metadata of the copy of a job on a worker: name, namespace, labels and annotations of the
/// hub's job, the origin, and the name of the prebuilt Workload. What belongs to the hub is left
/// out.
Json remote_metadata(const api::ObjectMeta& metadata, const api::Workload& workload,
                     const std::string& origin);

/// Names the prebuilt Workload of the copy in a label instead, if the name fits into one.
void name_workload_by_label(Json* copy);

/// Adds to a merge patch that the copy runs under another prebuilt Workload, named where it names
/// its present one.
void rename_workload(const api::ObjectMeta& copy, const std::string& workload, Json* patch);

/// A patch of the status that applies to this job and to no other one of the same name.
Json status_patch_of(const api::ObjectMeta& metadata, Json status);

}  // namespace regatta::jobs
