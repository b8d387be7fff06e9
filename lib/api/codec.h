#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace regatta::api {

/// Reads one object of kind T, for Kueue kinds in either served version. Errors name the path:
/// "spec.resourceGroups[0].flavors[1]: expected an object, got a string". Unknown fields are
/// ignored here (a part that must travel losslessly keeps its text, see each type). Each kind of
/// lib/api defines it in its .cpp.
template <class T>
Result<T> from_json(const Json& value);

/// The object as v1beta2 (Kueue kinds) or its only version. Empty optionals are left out.
template <class T>
Json to_json(const T& object);

/// from_json() of a text.
template <class T>
Result<T> decode(std::string_view text) {
  Result<Json> value = parse_json(text);
  if (!value) return value.error();
  Result<T> object = from_json<T>(*value);
  discard(&*value);
  return object;
}

}  // namespace regatta::api
