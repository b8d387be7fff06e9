#pragma once

#include "lab/cluster/job_plan.h"
#include "lib/api/batch.h"
#include "lib/api/core.h"

#include <optional>
#include <string>

namespace regatta::lab {

/// The exact start of a pod, because status.startTime has only seconds.
constexpr std::string_view started_at = "sandbox.regatta.dev/started-at";

/// A pod of the Job as its controller creates it, on `node` (empty: not scheduled). `suffix` makes
/// the name unique.
std::string pod_body(const api::Job& job, std::optional<std::int32_t> index,
                     const std::string& suffix, const std::string& node, TimePoint now);
/// Merge patches of a pod's status, as its kubelet would write it.
std::string running_status(const api::PodSpec& spec, TimePoint now);
std::string ended_status(const api::PodSpec& spec, bool succeeded, TimePoint started,
                         TimePoint now);

PodView view_of(const api::Pod& pod);

}  // namespace regatta::lab
