#pragma once

#include "lib/api/core.h"

namespace regatta::clusters {

// What placing pods in a topology reads of Nodes and Pods. A cluster may have a hundred thousand
// Pods, so the rest is dropped before they are stored.

/// Keeps labels, taints, what it can take, and whether it is ready.
void keep_for_placement(api::Node* node);

/// Of a pod that is placed by topology, keeps what tells its Workload, its number and its place; of
/// any other pod its node and what it requests there, as one container.
void keep_for_placement(api::Pod* pod);

/// The Workload a pod is part of: "namespace/name", or empty.
std::string workload_of(const api::Pod& pod);

}  // namespace regatta::clusters
