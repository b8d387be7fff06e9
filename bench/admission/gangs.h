#pragma once

#include "bench/admission/world.h"

namespace regatta::admission::bench {

constexpr int cpus_per_node = 96;

/// Nodes in racks of 64, ten racks a block; the flavor of World has their topology.
void add_nodes(State* state, int count);

/// A third of them, by number, require one rack, prefer one, or go anywhere.
api::Workload gang(const World::Job& job, int pods);

}  // namespace regatta::admission::bench
