#pragma once

/// Where the pods of a pod set go, as a list of domains, and the compressed form the API has.
///
/// status.admission.podSetAssignments[].topologyAssignment writes what domains have in common only
/// once, in one or more slices. Which compression was used says nothing: two assignments are the
/// same when they expand to the same domains.

#include "lib/api/workload.h"
#include "lib/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::admission {

/// A place and how many pods it gets. Values go with the levels of the assignment: all levels of
/// the topology, or only the hostname where that is the lowest.
struct TopologyDomain {
  std::vector<std::string> values;
  std::int32_t count = 0;
  friend bool operator==(const TopologyDomain&, const TopologyDomain&) = default;
};

struct TopologyDomains {
  std::vector<std::string> levels;  ///< node labels, widest first
  std::vector<TopologyDomain> domains;
  std::int64_t pods() const;
  friend bool operator==(const TopologyDomains&, const TopologyDomains&) = default;
};

/// Every domain spelled out, in order. `invalid` when lists do not have the lengths they must have,
/// or there are more than a million domains.
Result<TopologyDomains> expand(const api::TopologyAssignment& assignment);

enum class TopologyEncoding : std::uint8_t {
  single_slice,
  /// Hostnames that share a prefix up to a `-` make a slice each, where that is shorter.
  hostname_prefixes,
};

/// The compressed form. Order is kept; no domains, no slices.
api::TopologyAssignment compact(const TopologyDomains& domains,
                                TopologyEncoding encoding = TopologyEncoding::hostname_prefixes);

/// The node's pods in this assignment, 0 when it has none. Only where the lowest level is the
/// hostname.
std::int32_t pods_on_node(const api::TopologyAssignment& assignment, const std::string& node);

}  // namespace regatta::admission
