#pragma once

#include "lib/api/pod.h"
#include "lib/api/workload.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::jobs {

/// What an admission adds to the pods of one pod set when the job starts.
struct PodSetInfo {
  std::string name;
  std::int32_t count = 0;
  api::StringMap labels;
  api::StringMap annotations;
  api::StringMap node_selector;
  std::vector<api::Toleration> tolerations;
  std::vector<std::string> scheduling_gates;  ///< names
};

/// `info` with `more` added; `invalid` when both set the same key to different values.
Result<PodSetInfo> merged(PodSetInfo info, const PodSetInfo& more);

/// The template with `info` added. `invalid` when the template has one of the keys with another
/// value, which no retry can mend; but the names of an elastic job's slices are replaced.
/// Everything else in the template stays as it is.
Result<Json> with_info(Json pod_template, const PodSetInfo& info);

/// `running` with the labels, annotations, nodeSelector, tolerations and schedulingGates that
/// `original` has: the template as it was before it was started.
Json restored(Json running, const Json& original);

/// Whether two templates ask for the same pods: containers, init containers and, if these count,
/// tolerations. Other fields may change without a new Workload. What is empty counts as absent.
bool same_pods(const Json& one, const Json& other, bool with_tolerations);

/// The template in which each container names a variable of its environment once, with the value
/// that it has for the container: the last.
api::PodTemplate with_unique_env(const api::PodTemplate& pod_template);

}  // namespace regatta::jobs
