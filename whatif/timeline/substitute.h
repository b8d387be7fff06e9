#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>

namespace regatta::whatif {

/// Replaces "$(name)" and "$(name.member)" in every string below `value` by what `values`, an
/// object, has under that name. A string that consists of one placeholder becomes the value itself,
/// with its type. `invalid` for an unknown name.
Status substitute(Json* value, const Json& values);

/// Whether a placeholder of that name occurs anywhere below `value`.
bool mentions(const Json& value, const std::string& name);

}  // namespace regatta::whatif
