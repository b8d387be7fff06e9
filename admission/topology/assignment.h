#pragma once

/// Where the pods of a pod set go: a list of domains, and the compressed form of the API.
///
/// status.admission.podSetAssignments[].topologyAssignment has one or more slices, each of which
/// states only once what its domains have in common. The compression does not matter: two
/// assignments are equal when they expand to the same domains.

#include "lib/api/workload.h"
#include "lib/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::admission {

/// A place and how many pods it gets. There is a value for each level of the assignment: for all
/// levels of the topology, or only for the hostname if that is the lowest level.
struct TopologyDomain {
  std::vector<std::string> values;
  std::int32_t count = 0;
  friend bool operator==(const TopologyDomain&, const TopologyDomain&) = default;
};

struct TopologyDomains {
  std::vector<std::string> levels;  ///< node labels, the widest first
  std::vector<TopologyDomain> domains;
  std::int64_t pods() const;
  friend bool operator==(const TopologyDomains&, const TopologyDomains&) = default;
};

/// All domains in full, in order. `invalid` when a list has the wrong length, or when there are
/// more than a million domains.
Result<TopologyDomains> expand(const api::TopologyAssignment& assignment);

enum class TopologyEncoding : std::uint8_t {
  single_slice,
  /// One slice for each prefix up to a `-` that hostnames share, if that is shorter.
  hostname_prefixes,
};

/// The compressed form, in the same order. Without domains it has no slices.
api::TopologyAssignment compact(const TopologyDomains& domains,
                                TopologyEncoding encoding = TopologyEncoding::hostname_prefixes);

/// The number of pods that the assignment puts on the node. 0 if the lowest level is not the
/// hostname.
std::int32_t pods_on_node(const api::TopologyAssignment& assignment, const std::string& node);

}  // namespace regatta::admission
