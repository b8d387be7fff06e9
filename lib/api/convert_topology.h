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

/// How many domains may be spelled out in v1beta1 for one request, which may bring many objects.
/// What an API server can store of one Workload has fewer nodes.
constexpr std::int64_t topology_domains_max = 400'000;
/// How much they may take: each value counts with its length and with topology_value_bytes.
constexpr std::int64_t topology_bytes_max = 32 << 20;
constexpr std::int64_t topology_value_bytes = 16;

/// What may be spelled out for a request, and what has been. A few bytes of v1beta2 stand for any
/// number of domains, which v1beta1 writes one by one: without limits they take all memory.
struct DomainAllowance {
  std::int64_t domains_max = topology_domains_max;
  std::int64_t bytes_max = topology_bytes_max;
  std::int64_t domains = 0;  ///< spelled out so far
  std::int64_t bytes = 0;
};

/// The allowance of a request of that length: also no more domains than it has bytes. Each domain
/// that differs from the others takes at least three of them.
DomainAllowance allowance_of(std::size_t request_bytes);

/// Rewrites v1beta2's slices to v1beta1's list of domains, and takes them off the allowance.
/// `invalid` when that does not suffice; the assignment then stays as it is.
Status decode_topology(Json& assignment, DomainAllowance* allowance);

constexpr std::size_t slice_domains_max = 100'000;  ///< domains of one slice
constexpr std::size_t slices_max = 1'000;           ///< of one assignment

}  // namespace regatta::api
