#pragma once

#include "lib/base/json.h"
#include "lib/manifest/schema/schema.h"

#include <optional>
#include <string>

namespace regatta::manifest {

/// Brings the scalars of a built-in object into the form that the server keeps: quantities
/// canonical, times in UTC with the digits of their type. Returns the error of the first scalar
/// that cannot be read, as it follows `Pod in version "v1" cannot be handled as a Pod: ` in the
/// refusal (400 in a body, 422 as the result of a patch).
/// `path`, unless null, is then set to its place: "spec.containers[0].resources.requests.cpu".
std::optional<std::string> normalize_scalars(Json& object, const Schema& schema,
                                             std::string* path = nullptr);

}  // namespace regatta::manifest
