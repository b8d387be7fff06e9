#pragma once

#include "lib/api/multikueue.h"
#include "lib/base/error.h"

#include <string>
#include <vector>

namespace regatta::api {

/// Whether labels select workers for that config: the annotation
/// multikueue.regatta.dev/select-clusters is there, readable or not.
bool selects_clusters(const MultiKueueConfig& config);

/// The workers that the config lists: spec.clusters, which the API lets name 20, then those of
/// `clusters` that its selector matches, in their order. Clusters that are being deleted are not
/// selected. Fails when the selector cannot be read.
Result<std::vector<std::string>> listed_clusters(const MultiKueueConfig& config,
                                                 const std::vector<const ObjectMeta*>& clusters);

}  // namespace regatta::api
