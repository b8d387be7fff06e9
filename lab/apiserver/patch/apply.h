#pragma once

#include "lab/apiserver/patch/managed_fields.h"
#include "lab/apiserver/patch/patch_failure.h"
#include "lib/base/json.h"

#include <string>

/// Server-side apply: a manager sends all the fields that it wants. Fields that it sent before and
/// leaves out now are removed, unless another manager owns them too.
namespace regatta::apiserver {

struct ApplyOptions {
  Writer writer;
  /// Group and kind of the object; with the version of `writer` they must be those of the applied
  /// object.
  std::string group;
  std::string kind;
  bool force = false;
};

/// The new object, managedFields included; equal to `live` when nothing changed. `live` is the
/// stored object (in the version of the request), or an empty object when apply creates. Refused
/// with 400 (another kind, managedFields sent), 409 (conflicts) or 500 (the applied object does not
/// fit the schema). The caller checks names, uid and resourceVersion.
PatchAnswer<Json> apply(const Json& live, const Json& applied, const ApplyOptions& options);

}  // namespace regatta::apiserver
