#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::sandbox {

/// A file of the repository that the binary carries: CRDs, examples.
struct Asset {
  std::string_view path;  ///< "examples/hub/queues.yaml"
  std::string_view text;
};

/// Sorted by path.
const std::vector<Asset>& assets();

/// The objects of every carried file below `prefix`, in order. An Error is a bug of the build.
Result<std::vector<Json>> objects_below(std::string_view prefix);

}  // namespace regatta::sandbox
