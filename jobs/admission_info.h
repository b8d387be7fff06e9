#pragma once

#include "jobs/pod_set_info.h"
#include "lib/api/kueue.h"

#include <functional>
#include <set>
#include <string>

namespace regatta::jobs {

/// What pods are told besides.
struct InfoOptions {
  bool queue_labels = true;   ///< the names of the queues
  bool workload_name = true;  ///< with topologies
};

/// A ResourceFlavor by name, or null.
using FlavorLookup = std::function<const api::ResourceFlavor*(const std::string&)>;

/// The pod sets of an admission with their names and counts, in order, and nothing that it adds.
std::vector<PodSetInfo> admitted_sizes(const api::Workload& workload);

/// `info` with the node labels and tolerations of these flavors. `not_found` when one is missing,
/// `invalid` when they contradict each other.
Result<PodSetInfo> with_flavors(PodSetInfo info, const std::set<std::string>& names,
                                const FlavorLookup& flavor);

/// What the Workload's admission and its checks add to the pods of each pod set: node labels and
/// tolerations of the flavors, Kueue's labels and annotations, the gate of pods that are placed by
/// topology, the checks' podSetUpdates. An error when a flavor is missing (the job waits for it) or
/// when two of these contradict each other (`invalid`).
Result<std::vector<PodSetInfo>> admission_infos(const api::Workload& workload,
                                                const FlavorLookup& flavor,
                                                const InfoOptions& options = {});

}  // namespace regatta::jobs
