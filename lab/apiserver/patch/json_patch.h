#pragma once

#include "lab/apiserver/patch/patch_failure.h"
#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::apiserver {

constexpr std::size_t json_patch_operations_max = 10'000;
/// Largest document a patch may grow by `copy` operations, in bytes of copied text.
constexpr std::size_t json_patch_copied_bytes_max = 3 * 1024 * 1024;

/// RFC 6902 as the API server applies it: `replace` of a missing member adds it, `copy` of one
/// gives null, `test` of one against null passes, an operation without a value means null.
/// Operations of the wrong types are 400, everything else that fails is 422. All or nothing: a
/// refused patch leaves no trace.
PatchAnswer<Json> json_patch(Json document, const Json& operations);

/// What strict decoding says of members that operations do not have.
std::vector<std::string> json_patch_unknown_fields(const Json& operations);

}  // namespace regatta::apiserver
