#pragma once

#include "lib/base/error.h"
#include "lib/base/json_access.h"
#include "lib/base/near_miss.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace regatta::whatif {

inline Error field_error(std::string_view field, std::string_view problem) {
  return Error(Errc::invalid, std::string(field) + ": " + std::string(problem));
}

/// Unknown fields are refused, so that a typing error is noticed.
template <class Names>
Status check_known(const Json& object, const Names& names) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    return field_error(key, "unknown field" + did_you_mean(key, {names.begin(), names.end()}));
  }
  return ok();
}

/// The text of a string, the digits of a number; anything else is an error.
inline Result<std::string> scalar_text(const Json& value, std::string_view name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return dump_json(value);
  return field_error(name, "expected a text or a number");
}

/// A whole number from 0 to `max`.
inline Result<std::uint64_t> whole_number(const Json& value, std::string_view name,
                                          std::uint64_t max) {
  const bool whole =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!whole || value.get<std::uint64_t>() > max) {
    return field_error(name, "expected a whole number from 0 to " + std::to_string(max));
  }
  return value.get<std::uint64_t>();
}

}  // namespace regatta::whatif
