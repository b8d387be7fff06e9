#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {

/// A file of the repository that a binary carries.
struct Asset {
  std::string_view path;  ///< "charts/regatta/files/crds/kueue.x-k8s.io_cohorts.yaml"
  std::string_view text;
};

/// The CustomResourceDefinitions of Kueue, sorted by path.
const std::vector<Asset>& kueue_crds();

/// The objects of every file in `assets` with a path that starts with `prefix`, in order. An Error
/// is a bug of the build.
Result<std::vector<Json>> objects_below(const std::vector<Asset>& assets,
                                        std::string_view prefix = {});

}  // namespace regatta::manifest
