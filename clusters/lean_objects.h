#pragma once

#include "lib/api/core.h"

namespace regatta::clusters {

// The parts of Nodes and Pods that placement by topology reads. A cluster may have a hundred
// thousand Pods, so all other parts are dropped before the objects are stored.

/// Only what names an object, its version and its times.
api::ObjectMeta lean(api::ObjectMeta metadata);

/// Keeps the node's labels, taints, allocatable resources and Ready condition.
void keep_for_placement(api::Node* node);

/// Of a pod on a node, keeps the node, its Workload, and its requests, as one container. Of a pod
/// that is placed by topology, also keeps what identifies its number and its place.
void keep_for_placement(api::Pod* pod);

/// The Workload of a pod: "namespace/name", or empty.
std::string workload_of(const api::Pod& pod);
/// The same, but the first slice where the pod is one of an elastic job.
std::string first_slice_of(const api::Pod& pod);

}  // namespace regatta::clusters
