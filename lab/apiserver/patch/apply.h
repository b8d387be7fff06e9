#pragma once

#include "lab/apiserver/patch/managed_fields.h"
#include "lab/apiserver/patch/patch_failure.h"
#include "lib/base/json.h"

#include <string>

/// Server-side apply: a manager states all the fields it wants; what it stated before and leaves
/// out now goes, unless somebody else owns it too.
namespace regatta::apiserver {

struct ApplyOptions {
  Writer writer;
  /// The kind of the object; with the version of `writer` what the applied object must say.
  std::string group;
  std::string kind;
  bool force = false;
};

/// The new object, managedFields included; equal to `live` when nothing changed. `live` is what is
/// stored (in the version of the request), or an empty object when apply creates. Refused with 400
/// (another kind, managedFields sent), 409 (conflicts) or 500 (the applied object does not fit the
/// schema). Names, uid and resourceVersion are for the caller to check.
PatchAnswer<Json> apply(const Json& live, const Json& applied, const ApplyOptions& options);

}  // namespace regatta::apiserver
