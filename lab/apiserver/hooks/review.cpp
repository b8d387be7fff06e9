#include "lab/apiserver/hooks/review.h"

#include "lib/base/base64.h"
#include "lib/base/json_access.h"

namespace regatta::apiserver {
namespace {

constexpr const char* review_group = "admission.k8s.io/";

Failure refusal_of(const Hook& hook, const Json& status) {
  Failure failure{400, text_at(status, "reason"), ""};
  failure.code =
      static_cast<int>(std::max<std::int64_t>(400, integer_at(status, "code").value_or(0)));
  const std::string denied = "admission webhook " + in_quotes(hook.name) + " denied the request";
  const std::string& message = text_at(status, "message");
  failure.message = !message.empty()          ? denied + ": " + message
                    : !failure.reason.empty() ? denied + ": " + failure.reason
                                              : denied + " without explanation";
  const Json* details = object_at(status, "details");
  if (!details) return failure;
  failure.details.emplace();
  failure.details->name = text_at(*details, "name");
  failure.details->group = text_at(*details, "group");
  failure.details->kind = text_at(*details, "kind");
  failure.details->uid = text_at(*details, "uid");
  for (const Json& cause : list_or_empty(*details, "causes")) {
    failure.details->causes.push_back(
        {text_at(cause, "reason"), text_at(cause, "field"), text_at(cause, "message")});
  }
  failure.details->retry_after_seconds =
      static_cast<int>(integer_at(*details, "retryAfterSeconds").value_or(0));
  return failure;
}

Error bad_answer(const std::string& what) {
  return Error(Errc::invalid, "received invalid webhook response: " + what);
}

Status read_patch(const Hook& hook, const Json& answer, Json* into) {
  const std::string& patch = text_at(answer, "patch");
  const std::string& type = text_at(answer, "patchType");
  if (!hook.mutating) {
    if (!patch.empty()) return bad_answer("validating webhook may not return response.patch");
    if (!type.empty()) return bad_answer("validating webhook may not return response.patchType");
    return ok();
  }
  if (patch.empty() && type.empty()) return ok();
  if (patch.empty()) {
    return bad_answer("webhook returned response.patchType but not response.patch");
  }
  if (type.empty()) {
    return bad_answer("webhook returned response.patch but not response.patchType");
  }
  if (type != "JSONPatch") {
    return bad_answer("webhook returned invalid response.patchType of " + in_quotes(type));
  }
  Result<std::string> text = base64_decode(patch);
  Result<Json> operations = text ? parse_json(*text) : Result<Json>(text.error());
  if (!operations) return operations.error();
  *into = std::move(*operations);
  return ok();
}

/// The AdmissionReview in a body.
Result<Json> review_in(const Hook& hook, const std::string& body) {
  Result<Json> review = parse_json(body);
  if (!review || !review->is_object()) {
    return Error(Errc::invalid,
                 "failed to call webhook: couldn't get version/kind; json parse error: json: "
                 "cannot unmarshal string into Go value of type struct { APIVersion string "
                 "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                 "\"json:\\\"kind,omitempty\\\"\" }");
  }
  const std::string& version = text_at(*review, "apiVersion");
  if (version == review_group + hook.review_version) return review;
  const std::string sent = version.substr(version.find('/') + 1);
  return Error(Errc::invalid, "failed to call webhook: converting (" + sent + "." +
                                  text_at(*review, "kind") + ") to (" + hook.review_version +
                                  ".AdmissionReview): unknown conversion");
}

}  // namespace

Json admission_review(const Hook& hook, const Json& request, const std::string& uid) {
  Json review = {{"kind", "AdmissionReview"},
                 {"apiVersion", review_group + hook.review_version},
                 {"request", request}};
  review["request"]["uid"] = uid;
  return review;
}

std::string unexpected_status(unsigned status) {
  if (status == 401) return "Unauthorized";
  if (status == 403) return "unknown";
  if (status == 404) return "the server could not find the requested resource";
  if (status == 503) return "the server is currently unable to handle the request";
  if (status >= 500) {
    return "an error on the server (\"unknown\") has prevented the request from succeeding";
  }
  return "the server responded with the status code " + std::to_string(status) +
         " but did not return more information";
}

Result<HookAnswer> read_answer(const Hook& hook, const std::string& uid,
                               const net::HttpResponse& response) {
  if (response.status != 200) {
    return Error(Errc::invalid, "failed to call webhook: " + unexpected_status(response.status));
  }
  Result<Json> review = review_in(hook, response.body);
  if (!review) return review.error();
  const Json* answer = object_at(*review, "response");
  if (!answer) return bad_answer("webhook response was absent");
  const std::string& got = text_at(*answer, "uid");
  if (got != uid) {
    return bad_answer("expected response.uid=" + in_quotes(uid) + ", got " + in_quotes(got));
  }
  HookAnswer read;
  const Status patched = read_patch(hook, *answer, &read.patch);
  if (!patched) return patched.error();
  for (const Json& warning : list_or_empty(*answer, "warnings")) {
    if (warning.is_string()) read.warnings.push_back(warning.get<std::string>());
  }
  read.allowed = true_at(*answer, "allowed");
  if (!read.allowed) read.refusal = refusal_of(hook, object_or_empty(*answer, {"status"}));
  return read;
}

Failure internal_cause(const std::string& why) {
  Failure failure{500, "InternalError", "Internal error occurred: " + why};
  failure.details.emplace();
  failure.details->causes.push_back({"", "", why});
  return failure;
}

Failure call_failed(const Hook& hook, const std::string& why) {
  return internal_cause("failed calling webhook " + in_quotes(hook.name) + ": " + why);
}

}  // namespace regatta::apiserver
