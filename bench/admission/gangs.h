#pragma once

#include "bench/admission/world.h"

namespace regatta::admission::bench {

constexpr int cpus_per_node = 96;

/// Adds nodes in racks of 64, ten racks a block. The flavor of World has their topology.
void add_nodes(State* state, int count);

/// A gang. By its number it requires one rack, prefers one, or goes anywhere: a third each.
api::Workload gang(const World::Job& job, int pods);

}  // namespace regatta::admission::bench
