#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/manifest/registry.h"
#include "lib/manifest/strategy.h"

#include <memory>
#include <string_view>
#include <vector>

namespace regatta::manifest {

/// Rewrites one object in place from one version of its group to another.
using ConvertObject = Status (*)(Json& object, std::string_view from, std::string_view to);

/// The strategy of CustomResourceDefinition itself.
std::shared_ptr<const Strategy> definition_strategy();

/// Keeps a deleted definition until its custom resources are gone.
constexpr auto definition_finalizer = "customresourcecleanup.apiextensions.k8s.io";

/// Does what the API server itself does with a stored definition: decides on its names (`others`
/// are all definitions, itself included or not) and whether it is established. Returns whether the
/// status changed. The first call leaves the condition Established at False ("Installing"), a
/// second call on its result sets it to True.
bool update_definition_status(Json& definition, const std::vector<Json>& others, TimePoint now);

bool is_established(const Json& definition);

/// The resource types a definition adds, one for each served version. `convert` is used between
/// versions when given; otherwise only apiVersion changes. `invalid` when the definition would not
/// pass validation.
Result<std::vector<ResourceType>> resource_types(const Json& definition, ConvertObject convert);

}  // namespace regatta::manifest
