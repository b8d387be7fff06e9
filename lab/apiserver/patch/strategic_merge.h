#pragma once

#include "lab/apiserver/patch/patch_failure.h"
#include "lab/terms.h"
#include "lib/base/json.h"
#include "lib/manifest/schema/schema.h"

namespace regatta::apiserver {

/// Strategic merge patch of a built-in type. It differs from a merge patch in two points: lists
/// with the strategy `merge` in the schema are merged by key or as sets, and the directives $patch,
/// $retainKeys, $setElementOrder/… and $deleteFromPrimitiveList/… are carried out.
PatchAnswer<Json> strategic_merge(const Json& original, const Json& patch, const Schema* schema);

}  // namespace regatta::apiserver
