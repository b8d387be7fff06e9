#pragma once

#include "lib/api/meta.h"

namespace regatta::api {

/// Whether a pod with these annotations is placed by topology. Such a pod counts on its node with
/// its Workload, not by itself.
bool placed_by_topology(const StringMap& annotations);

/// Whether places with these topology levels, from the widest, are single nodes.
bool lowest_is_hostname(const std::vector<std::string>& levels);

}  // namespace regatta::api
