#pragma once

#include "lib/base/json.h"

#include <vector>

namespace regatta::test_support {

/// The CRDs of the chart, read once: that takes longer than most tests. The tests run in the source
/// root; a file that cannot be read is an exception.
const std::vector<Json>& crd_manifests();

}  // namespace regatta::test_support
