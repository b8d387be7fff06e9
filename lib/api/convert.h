#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string_view>

namespace regatta::api {

/// Rewrites one object of group kueue.x-k8s.io in place between v1beta1 and v1beta2, apiVersion
/// included, by the rules of Kueue's conversion webhook for the kinds that have one (ClusterQueue,
/// Cohort, LocalQueue, Workload, MultiKueueCluster) and by the API server's strategy None for the
/// others, where only the apiVersion changes (and pruning by schema is the caller's). Fields
/// unknown to the rules are kept. `invalid` for another version or an object that is not one.
Status convert(Json& object, std::string_view from_version, std::string_view to_version);

}  // namespace regatta::api
