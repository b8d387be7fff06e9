#pragma once

#include "apiserver/registry.h"

#include <vector>

namespace regatta::apiserver {

/// Every built-in resource with its strategy, as discovery lists them; `schema` is left to the
/// caller. CustomResourceDefinitions and the review kinds are not among them.
std::vector<ResourceType> builtin_resources();

}  // namespace regatta::apiserver
