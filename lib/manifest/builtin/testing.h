#pragma once

#include "lib/manifest/strategy.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

// Helpers of this folder's tests: writes as the registry does them.
namespace regatta::manifest::builtin {

inline const TimePoint test_now = *parse_rfc3339("2026-01-01T00:00:00Z");

inline Json json(const char* text) {
  return *parse_json(text);
}

/// Defaults and preparation of a create; the uid is "u-1".
inline Json created(const Strategy& strategy, Json object) {
  strategy.set_defaults(object);
  object["metadata"]["uid"] = "u-1";
  object["metadata"]["creationTimestamp"] = format_rfc3339(test_now);
  strategy.prepare_for_create(object, test_now);
  strategy.set_defaults(object);
  return object;
}

inline Json patched(const Strategy& strategy, const Json& old, const char* patch) {
  Json object = old;
  object.merge_patch(json(patch));
  strategy.set_defaults(object);
  strategy.prepare_for_update(object, old, test_now);
  return object;
}

inline Json status_patched(const Strategy& strategy, const Json& old, const char* patch) {
  Json object = old;
  object.merge_patch(json(patch));
  strategy.set_defaults(object);
  strategy.prepare_for_status_update(object, old, test_now);
  return object;
}

/// "reason field" of each cause.
inline std::vector<std::string> causes(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const FieldError& error : errors) out.push_back(error.reason + " " + error.field);
  return out;
}

/// "field: message" of each cause.
inline std::vector<std::string> texts(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const FieldError& error : errors) out.push_back(error.field + ": " + error.message);
  return out;
}

}  // namespace regatta::manifest::builtin
