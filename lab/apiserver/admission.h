#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/output.h"

#include <optional>

namespace regatta::apiserver {

/// The built-in admission of a create: namespace life cycle, priorities, limits and quotas.
std::optional<Failure> admit_create(Core& core, Exchange& exchange, const ResourceType& type,
                                    const std::string& ns, Json& object);

}  // namespace regatta::apiserver
