#pragma once

#include "lib/base/json.h"

namespace regatta::manifest::builtin {

/// An events.k8s.io/v1 Event as core/v1 has it, and back. Metadata is untouched.
Json event_to_core(Json event);
Json event_from_core(Json event);

}  // namespace regatta::manifest::builtin
