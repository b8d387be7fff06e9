#pragma once

#include "apiserver/patch/patch_failure.h"
#include "lib/base/json.h"

namespace regatta::apiserver {

constexpr std::size_t json_patch_operations_max = 10'000;
/// Largest document a patch may grow by `copy` operations, in bytes of copied text.
constexpr std::size_t json_patch_copied_bytes_max = 3 * 1024 * 1024;

/// RFC 6902 as the API server applies it: `replace` of a missing member adds it, `test` of a
/// missing member against null passes, everything else that fails is 422. All or nothing: a refused
/// patch leaves no trace.
PatchAnswer<Json> json_patch(Json document, const Json& operations);

}  // namespace regatta::apiserver
