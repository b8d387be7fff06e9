#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <cstddef>
#include <cstdint>

namespace regatta::api {

/// Rewrites a topologyAssignment from v1beta1's list of domains to v1beta2's slices. In a slice the
/// parts common to all its domains are written once. One slice holds all domains, or, with
/// `hostname_prefixes` and nodes as the lowest level, each run of nodes with a common prefix gets a
/// slice, where that is shorter. `invalid` when a domain does not fit the levels.
Status encode_topology(Json& assignment, bool hostname_prefixes = true);

/// Rewrites v1beta2's slices to v1beta1's list of domains, at most topology_domains_max of them.
Status decode_topology(Json& assignment);

constexpr std::int64_t topology_domains_max = 1'000'000;
constexpr std::size_t slice_domains_max = 100'000;  ///< domains of one slice
constexpr std::size_t slices_max = 1'000;           ///< of one assignment

}  // namespace regatta::api
