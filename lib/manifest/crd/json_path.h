#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {

/// The JSONPath that CustomResourceDefinitions use for printer columns, selectable fields and
/// scale: `.status.conditions[?(@.type=="Ready")].status`, `.a['b.c'][0]`, `.a\.b`, `[*]`,
/// `[-1:]`.
class JsonPath {
 public:
  static Result<JsonPath> parse(std::string_view text);

  /// What the path finds in `root`, in order.
  std::vector<const Json*> find(const Json& root) const;
  /// The first of them, or null.
  const Json* first(const Json& root) const;

  /// The names of the fields, when the path consists of fields only; else empty.
  std::vector<std::string> fields() const;

 private:
  struct Step {
    enum class Kind { field, index, slice, all, filter } kind = Kind::field;
    std::string name;  ///< field; filter: the value compared with
    long index = 0;
    std::optional<long> from, to;   ///< slice: up to `to`, which is not in it
    std::vector<std::string> left;  ///< filter: fields of @ on the left side
    bool equal = true;              ///< filter: ==, not !=
  };
  friend class JsonPathParser;
  std::vector<Step> steps_;
};

}  // namespace regatta::manifest
