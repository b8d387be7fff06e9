#pragma once

#include "lib/base/json.h"

#include <vector>

namespace regatta::test_support {

/// The CRDs of the chart, read once, because that takes longer than most tests. The tests run in
/// the source root. An unreadable file throws.
const std::vector<Json>& crd_manifests();

}  // namespace regatta::test_support
