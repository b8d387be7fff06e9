#pragma once

#include "whatif/engine/simulation.h"

#include <string>
#include <string_view>
#include <vector>

/// What tests of simulations begin with.
namespace regatta::whatif {

TimePoint start_of_tests();

/// The objects of these manifests. They must have no error.
std::vector<Object> objects(std::string_view manifests);

/// A Namespace `team` with a LocalQueue `lq`, a ResourceFlavor `f`, and a ClusterQueue `cq` with
/// that quota of cpu. `more`: lines that end the spec of the ClusterQueue, and further manifests.
std::string one_queue(const std::string& quota, const std::string& more = "");

/// The record of that job, or of the Workload of that name.
const WorkloadRecord& record(const Report& report, const std::string& job);

}  // namespace regatta::whatif
