#pragma once

#include "lib/api/resource.h"
#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::test_support {

/// The CRDs of the chart, read once, because that takes longer than most tests. The tests run in
/// the source root. An unreadable file throws.
const std::vector<Json>& crd_manifests();

/// A CustomResourceDefinition for a kind: spec and status with any fields, the subresource status.
std::string crd_yaml(const api::ResourceInfo& kind);

}  // namespace regatta::test_support
