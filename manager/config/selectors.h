#pragma once

#include "lib/api/labels.h"
#include "lib/base/json.h"

namespace regatta::manager {

/// A label selector that webhooks::read_shaped() has read.
api::LabelSelector selector_of(const Json& value);

}  // namespace regatta::manager
