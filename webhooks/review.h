#pragma once

#include "lib/api/field_errors.h"
#include "lib/base/json.h"
#include "webhooks/gates.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Admission reviews (admission.k8s.io) of Kueue's kinds.
namespace regatta::webhooks {

enum class Handler { mutating, validating };

/// One kind's webhook, as a path names it.
struct Endpoint {
  Handler handler = Handler::validating;
  std::string kind;  ///< "ClusterQueue"
};

/// The webhook at a path such as /validate-kueue-x-k8s-io-v1beta2-clusterqueue.
std::optional<Endpoint> endpoint_at(std::string_view path);

/// What a webhook says. Code 200 allows, 403 refuses, 400 means that the request could not be read.
struct Verdict {
  int code = 200;
  std::string message;
  api::FieldErrors errors;  ///< of a refusal
  Json patch = Json::array();
  std::vector<std::string> warnings;  ///< for the user, whatever the verdict
  bool allowed() const { return code == 200; }
};

/// The request of a review, as far as webhooks look at it. An object is null when there is none.
struct ReviewRequest {
  std::string uid;
  std::string operation;
  Json object;
  Json old_object;
};

/// The status of the answer: code, message, reason.
Json status_of(const Verdict& verdict);

Verdict review(const Endpoint& endpoint, const ReviewRequest& request, const Gates& gates);

/// A review that waits for its verdict.
struct OpenReview {
  ReviewRequest request;
  Json answer;  ///< its apiVersion and kind
};

/// The body of a request; the error is for unreadable_review().
Result<OpenReview> read_review(std::string_view body);
/// The body of the answer, which always has HTTP status 200.
Json answer_to(OpenReview review, const Verdict& verdict);
Json review_body(const Endpoint& endpoint, std::string_view body, const Gates& gates);

/// The verdict of rules that found these errors.
Verdict judged(api::FieldErrors errors);

/// The answer to a body that cannot be read at all.
Json unreadable_review(std::string why);

/// The object's defaults and rules on create, for callers that read manifests: the object as the
/// API server would store it, or what is wrong with it. Objects of other kinds stay as they are.
/// v1beta2 only.
api::FieldErrors apply_on_create(Json* object, const Gates& gates);

}  // namespace regatta::webhooks
