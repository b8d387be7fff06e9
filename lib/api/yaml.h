#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::api {

/// One YAML (or JSON) document as JSON, as Kubernetes reads it: YAML 1.1 booleans (`y`, `yes`,
/// `on`), anchors and merge keys resolved, keys made strings. An empty document is null, a
/// malformed one `invalid` with a reason.
Result<Json> parse_yaml(std::string_view text);

/// The same for files that people write: a key that comes twice in one map is refused.
Result<Json> parse_yaml_strict(std::string_view text);

/// The documents of a stream that are not empty. For files that people write: a key that comes
/// twice in one map is refused.
Result<std::vector<Json>> parse_yaml_documents(std::string_view text);

/// Block style, keys sorted, lists not indented, ending with a newline: as `kubectl -o yaml`.
std::string dump_yaml(const Json& value);

}  // namespace regatta::api
