#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <cstdint>

namespace regatta::api {

/// Rewrites a topologyAssignment from v1beta1's list of domains to v1beta2's slices. It makes one
/// slice, in which the parts common to all domains are written once. `invalid` when a domain does
/// not fit the levels.
Status encode_topology(Json& assignment);

/// Rewrites v1beta2's slices to v1beta1's list of domains, at most topology_domains_max of them.
Status decode_topology(Json& assignment);

constexpr std::int64_t topology_domains_max = 1'000'000;

}  // namespace regatta::api
