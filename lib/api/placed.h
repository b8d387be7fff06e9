#pragma once

#include "lib/api/meta.h"

namespace regatta::api {

/// Whether a pod with these annotations is placed by topology. Such a pod counts on its node with
/// its Workload, not by itself.
bool placed_by_topology(const StringMap& annotations);

}  // namespace regatta::api
