#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>

namespace regatta::whatif {

/// Replaces "$(name)" and "$(name.member)" in every string below `value` by what `values`, an
/// object, has of that name. A string that is nothing but one placeholder becomes the value itself,
/// whatever its type. `invalid` for a name that is not there.
Status substitute(Json* value, const Json& values);

/// Whether a placeholder of that name occurs below.
bool mentions(const Json& value, const std::string& name);

}  // namespace regatta::whatif
