#pragma once

#include "lib/api/field_errors.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "webhooks/gates.h"

// One function for each area of the corpus of API behaviour. Each returns the value of `expect`.
namespace regatta::lab {

Result<Json> play_webhook(const Json& scenario);
Result<Json> play_crd(const Json& scenario);
Result<Json> play_conversion(const Json& scenario);
Result<Json> play_configuration(const Json& scenario);
Result<Json> play_visibility(const Json& scenario);
Result<Json> play_metrics(const Json& scenario);

/// The steps of a scenario of jobs: {"expect": …} of each. What nothing here can play is
/// {"expect": null, "notImplemented": "why"}.
Result<Json> play_jobs(const Json& scenario);
bool is_jobs_scenario(const Json& scenario);

/// The member "featureGates" of a scenario.
webhooks::Gates gates_in(const Json& scenario);

/// A list of {field, type, detail?, message}, sorted by field, type and message.
struct ErrorText {
  std::string field;
  std::string type;
  std::string detail;
  std::string message;
};
Json sorted_errors(std::vector<ErrorText> errors);
Json sorted_errors(const api::FieldErrors& errors);

/// The body of a request: a text is sent as it is.
std::string body_text(const Json& body);

}  // namespace regatta::lab
