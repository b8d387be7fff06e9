#pragma once

#include "lab/apiserver/hooks/configuration.h"
#include "lab/terms.h"
#include "lib/manifest/failure.h"
#include "lib/net/http.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {

/// The AdmissionReview to send; `request` is its request without the uid.
Json admission_review(const Hook& hook, const Json& request, const std::string& uid);

/// What a webhook answered.
struct HookAnswer {
  bool allowed = false;
  Failure refusal;                    ///< when not allowed
  Json patch = Json::array();         ///< JSON patch operations; empty for none
  std::vector<std::string> warnings;  ///< given with either answer
};

/// The answer in a response. An error says why the response is none, in the words that follow
/// `failed calling webhook "x": `.
Result<HookAnswer> read_answer(const Hook& hook, const std::string& uid,
                               const net::HttpResponse& response);

/// Why a response of this status is no answer.
std::string unexpected_status(unsigned status);

/// The failure of a call, as the API server words it.
Failure call_failed(const Hook& hook, const std::string& why);
Failure internal_cause(const std::string& why);

}  // namespace regatta::apiserver
