#pragma once

#include "lib/api/meta.h"

namespace regatta::api {

/// Whether a pod with these annotations is placed by topology, and so counts on nodes with its
/// Workload and not by itself.
bool placed_by_topology(const StringMap& annotations);

}  // namespace regatta::api
