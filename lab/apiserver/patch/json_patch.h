#pragma once

#include "lab/apiserver/patch/patch_failure.h"
#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::apiserver {

constexpr std::size_t json_patch_operations_max = 10'000;
/// The number of bytes by which `copy` operations may grow a document.
constexpr std::size_t json_patch_copied_bytes_max = 3 * 1024 * 1024;

/// RFC 6902 as the API server applies it: `replace` of a missing member adds it, `copy` of a
/// missing member gives null, `test` of a missing member against null passes, and an operation
/// without a value has the value null. Operations of the wrong types are refused with 400, all
/// other failures with 422. All or nothing: a refused patch has no effect.
PatchAnswer<Json> json_patch(Json document, const Json& operations);

/// The errors of strict decoding about unknown members of operations.
std::vector<std::string> json_patch_unknown_fields(const Json& operations);

}  // namespace regatta::apiserver
