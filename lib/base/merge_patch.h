#pragma once

#include "lib/base/json.h"

namespace regatta {

/// The smallest JSON merge patch (RFC 7386) that turns `from` into `to`; an empty object when they
/// are equal. Lists are replaced whole. A null member of `to` counts as absent, as a merge patch
/// cannot say otherwise.
Json merge_patch_between(const Json& from, const Json& to);

}  // namespace regatta
