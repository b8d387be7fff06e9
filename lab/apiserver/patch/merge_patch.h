#pragma once

#include "lib/base/json.h"

namespace regatta::apiserver {

/// RFC 7386: objects are merged, null removes a member, anything else replaces.
void merge_patch(Json* target, const Json& patch);

}  // namespace regatta::apiserver
