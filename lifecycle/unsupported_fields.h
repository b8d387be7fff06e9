#pragma once

#include "lib/api/kueue.h"

#include <string>

namespace regatta::lifecycle {

/// The fields that have no effect, as a text, or empty.
std::string in_vain(const api::ClusterQueueSpec& spec);
std::string in_vain(const api::MultiKueueConfigSpec& spec);

}  // namespace regatta::lifecycle
