#pragma once

#include "lib/api/meta.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

namespace regatta::api {

/// The metadata of an object of any kind, for kinds that have no type of their own here.
Result<ObjectMeta> read_metadata(const Json& object);

}  // namespace regatta::api
