#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::api {

/// One YAML (or JSON) document as JSON, as Kubernetes reads it: YAML 1.1 booleans (`y`, `yes`,
/// `on`), anchors and merge keys resolved, keys made strings. `invalid` with a reason when
/// malformed, empty documents are null.
Result<Json> parse_yaml(std::string_view text);

/// Every document of a stream, the empty ones left out. What people wrote: a key that comes twice
/// in one map is refused here.
Result<std::vector<Json>> parse_yaml_documents(std::string_view text);

/// Block style, keys sorted, lists not indented, ending with a newline: as `kubectl -o yaml`.
std::string dump_yaml(const Json& value);

}  // namespace regatta::api
