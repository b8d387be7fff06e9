#include "lab/conformance/areas.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "webhooks/review.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::lab {
namespace {

using webhooks::Handler;
using webhooks::Verdict;

Json sorted_by_path(Json patch) {
  std::sort(patch.begin(), patch.end(),
            [](const Json& a, const Json& b) { return text_at(a, "path") < text_at(b, "path"); });
  return patch;
}

Result<Json> play_default(const Json& scenario, const webhooks::Endpoint& endpoint,
                          const webhooks::ReviewRequest& request) {
  const Verdict verdict = webhooks::review(endpoint, request, gates_in(scenario));
  Json out{{"allowed", verdict.allowed()}, {"status", status_of(verdict)}};
  if (!verdict.allowed()) return out;
  out["patched"] = !verdict.patch.empty();
  out["object"] = request.object.patch(verdict.patch);
  if (!verdict.patch.empty()) out["patch"] = sorted_by_path(verdict.patch);
  return out;
}

Json play_validate(const Json& scenario, const webhooks::Endpoint& endpoint,
                   const webhooks::ReviewRequest& request) {
  const Verdict verdict = webhooks::review(endpoint, request, gates_in(scenario));
  return Json{{"allowed", verdict.allowed()},
              {"errors", sorted_errors(verdict.errors)},
              {"response", {{"status", status_of(verdict)}}}};
}

Json play_review(const Json& scenario, const std::string& kind) {
  const bool mutating = text_at(scenario, "handler") == "default";
  const webhooks::Endpoint endpoint{mutating ? Handler::mutating : Handler::validating, kind};
  Json body =
      webhooks::review_body(endpoint, body_text(at_or_null(scenario, "body")), gates_in(scenario));
  if (Json& response = body["response"]; response.contains("patch")) {
    const auto text = base64_decode(text_at(response, "patch"));
    response.erase("patch");
    response["patchDecoded"] = sorted_by_path(parse_json(text.value()).value());
  }
  return Json{{"httpStatus", 200}, {"body", std::move(body)}};
}

}  // namespace

Result<Json> play_webhook(const Json& scenario) {
  const std::string& op = text_at(scenario, "op");
  const std::string& kind = text_at(scenario, "kind");
  if (op == "review") return play_review(scenario, kind);
  webhooks::ReviewRequest request;
  request.object = at_or_null(scenario, "object");
  request.old_object = at_or_null(scenario, "oldObject");
  if (op == "default") {
    request.operation = "CREATE";
    return play_default(scenario, {Handler::mutating, kind}, request);
  }
  for (const auto& [name, operation] :
       {std::pair("validateCreate", "CREATE"), std::pair("validateUpdate", "UPDATE"),
        std::pair("validateDelete", "DELETE")}) {
    if (op != name) continue;
    request.operation = operation;
    return play_validate(scenario, {Handler::validating, kind}, request);
  }
  return Error(Errc::invalid, "op: there is no " + op);
}

}  // namespace regatta::lab
