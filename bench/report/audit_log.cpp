#include "bench/report/audit_log.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

/// The server's own requests, for example to register itself.
constexpr const char* server_itself = "system:apiserver";

std::string sender_by_user(const std::string& user) {
  return user == users::hub ? "hub manager" : user;
}

void count(const Json& event, Requests& requests) {
  const std::string& user = text_at(event, {"user", "username"});
  if (user == users::bench || user == server_itself) return;
  if (text_at(event, "stage") != "ResponseComplete") return;
  const Json& object = at_or_null(event, "objectRef");
  const std::string& resource = text_at(object, "resource");
  if (resource.empty()) return;
  const Requests::Key key{sender_by_user(user), text_at(event, "verb"),
                          with_subresource(resource, text_at(object, "subresource"))};
  requests.add(key, integer_at(at_or_null(event, "responseStatus"), "code").value_or(0));
}

}  // namespace

std::string audit_policy() {
  const Json unlogged = {users::bench, server_itself};
  const Json rules = Json::array({{{"level", "None"}, {"users", unlogged}},
                                  {{"level", "None"}, {"nonResourceURLs", {"*"}}},
                                  {{"level", "Metadata"}}});
  return dump_json({{"apiVersion", "audit.k8s.io/v1"},
                    {"kind", "Policy"},
                    {"omitStages", {"RequestReceived", "ResponseStarted"}},
                    {"rules", rules}});
}

Result<Requests> read_audit_log(std::string cluster, std::string_view text) {
  Requests requests(std::move(cluster));
  for (std::size_t line = 1;; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return requests;
    const auto event = parse_json(text.substr(0, end));
    if (!event) return event.error().within("line " + std::to_string(line) + " of the audit log");
    count(*event, requests);
    text.remove_prefix(end + 1);
  }
}

}  // namespace regatta::bench
