#pragma once

#include "admission/state.h"
#include "whatif/manifests/objects.h"

#include <vector>

namespace regatta::whatif {

/// Feeds objects to admission as informers would: queues first, in whatever order they are given.
void feed(admission::State* state, const std::vector<Object>& objects, TimePoint now);

}  // namespace regatta::whatif
