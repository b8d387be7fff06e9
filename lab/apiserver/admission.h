#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/output.h"

#include <optional>

namespace regatta::apiserver {

/// The built-in admission of every write: namespace life cycle.
std::optional<Failure> admit_create(Core& core, Exchange& exchange, const ResourceType& type,
                                    const std::string& ns, Json& object);
std::optional<Failure> admit_update(Core& core, Exchange& exchange, const ResourceType& type,
                                    Json& object, const Json& live);

}  // namespace regatta::apiserver
