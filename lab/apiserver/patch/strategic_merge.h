#pragma once

#include "lab/apiserver/patch/patch_failure.h"
#include "lab/terms.h"
#include "lib/base/json.h"
#include "lib/manifest/schema/schema.h"

namespace regatta::apiserver {

/// Strategic merge patch of a built-in type: as a merge patch, except that lists which the schema
/// gives the strategy `merge` are merged by key or as sets, and that the directives $patch,
/// $retainKeys, $setElementOrder/… and $deleteFromPrimitiveList/… are obeyed.
PatchAnswer<Json> strategic_merge(const Json& original, const Json& patch, const Schema* schema);

}  // namespace regatta::apiserver
