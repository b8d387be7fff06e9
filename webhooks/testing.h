#pragma once

#include "lib/base/json_access.h"
#include "webhooks/review.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace regatta::webhooks {

inline Json json_of(std::string_view text) {
  return parse_json(text).value();
}

/// The message of a refusal on create, or "allowed".
inline std::string create(const std::string& kind, const Json& object, const Gates& gates = {}) {
  const Verdict verdict =
      review({Handler::validating, kind}, {"u", "CREATE", object, Json()}, gates);
  return verdict.allowed() ? "allowed" : verdict.message;
}

inline std::string update(const std::string& kind, const Json& before, const Json& after,
                          const Gates& gates = {}) {
  const Verdict verdict =
      review({Handler::validating, kind}, {"u", "UPDATE", after, before}, gates);
  return verdict.allowed() ? "allowed" : verdict.message;
}

/// A copy of `object` with the merge patch `change`.
inline Json with(Json object, std::string_view change) {
  object.merge_patch(json_of(change));
  return object;
}

}  // namespace regatta::webhooks
