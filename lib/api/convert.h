#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string_view>

namespace regatta::api {

/// Rewrites one object of group kueue.x-k8s.io in place between v1beta1 and v1beta2, apiVersion
/// included. Kinds with a conversion webhook in Kueue (ClusterQueue, Cohort, LocalQueue, Workload,
/// MultiKueueCluster) follow its rules. The others follow the API server's strategy None: only the
/// apiVersion changes, and the caller prunes by schema. Fields unknown to the rules are kept.
/// `invalid` for another version, or for JSON that is not an object.
Status convert(Json& object, std::string_view from_version, std::string_view to_version);

struct DomainAllowance;

struct ConvertOptions {
  bool hostname_prefixes = true;         ///< TASAssignmentsEncodingByHostnamePrefix
  DomainAllowance* allowance = nullptr;  ///< of all objects of a request; null: of this one alone
};
Status convert(Json& object, std::string_view from_version, std::string_view to_version,
               const ConvertOptions& options);

}  // namespace regatta::api
