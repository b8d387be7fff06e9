#include "lab/conformance/areas.h"
#include "lib/base/json_access.h"
#include "webhooks/conversion.h"

#include <nlohmann/json.hpp>

namespace regatta::lab {

Result<Json> play_conversion(const Json& scenario) {
  const char* input = scenario.contains("review") ? "review" : "body";
  const std::string body = body_text(at_or_null(scenario, input));
  webhooks::ConversionAnswer answer = webhooks::convert_review(body, gates_in(scenario));
  Json out{{"httpStatus", answer.http_status}};
  if (!answer.review.is_null()) out["review"] = std::move(answer.review);
  return out;
}

}  // namespace regatta::lab
