#pragma once

#include "lib/manifest/registry.h"

#include <vector>

namespace regatta::manifest {

/// Every built-in resource with its strategy, as discovery lists them; `schema` is left to the
/// caller. CustomResourceDefinitions and the review kinds are not among them.
std::vector<ResourceType> builtin_resources();

}  // namespace regatta::manifest
