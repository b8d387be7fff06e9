#include "visibility/status.h"

#include "lib/base/json.h"

#include <nlohmann/json.hpp>

namespace regatta::visibility {
namespace {

Answer refusal(unsigned code, const char* reason, const std::string& message,
               const Json& details = Json()) {
  Json status{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
              {"status", "Failure"}, {"message", message}, {"reason", reason},
              {"code", code}};
  if (!details.is_null()) status["details"] = details;
  return {code, "application/json", dump_json(status)};
}

}  // namespace

Answer no_such_page() {
  return refusal(404, "NotFound", "the server could not find the requested resource",
                 Json::object());
}

Answer no_such_method() {
  return refusal(405, "MethodNotAllowed",
                 "the server does not allow this method on the requested resource", Json::object());
}

Answer no_such_queue(std::string_view kind, std::string_view name) {
  const Json details{{"name", name}, {"group", group}, {"kind", kind}};
  const std::string text = dump_json(Json(name));
  return refusal(404, "NotFound",
                 std::string(kind) + "." + std::string(group) + " " + text + " not found", details);
}

Answer bad_request(const std::string& message) {
  return refusal(400, "BadRequest", message);
}

Answer not_acceptable() {
  return refusal(406, "NotAcceptable",
                 "only the following media types are accepted: application/json, "
                 "application/yaml, application/vnd.kubernetes.protobuf",
                 Json::object());
}

Answer unauthorized() {
  return refusal(401, "Unauthorized", "Unauthorized");
}

Answer forbidden(const std::string& message, const Json& details) {
  return refusal(403, "Forbidden", message, details);
}

Answer unavailable(const std::string& message) {
  return refusal(503, "ServiceUnavailable", message);
}

}  // namespace regatta::visibility
