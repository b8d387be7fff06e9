#pragma once

#include "admission/state.h"
#include "whatif/manifests/objects.h"

#include <vector>

namespace regatta::whatif {

/// Hands objects to admission as informers would: queues first, whatever order they are in.
void feed(admission::State* state, const std::vector<Object>& objects, TimePoint now);

}  // namespace regatta::whatif
