#include "visibility/access.h"

#include "lib/base/lower_case.h"
#include "visibility/target.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::visibility {
namespace {

std::string verb_of(std::string_view method, bool named) {
  if (method == "GET" || method == "HEAD") return named ? "get" : "list";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return named ? "delete" : "deletecollection";
  return "";
}

std::string full_resource(const Attributes& what) {
  return what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
}

}  // namespace

Attributes attributes_of(std::string_view method, std::string_view target) {
  const Target parsed = parse_target(target);
  const auto& path = parsed.path;
  Attributes out;
  if (path.size() < 4 || path[0] != "apis") {
    out.verb = lower_case(method);
    out.path = std::string(target.substr(0, target.find('?')));
    return out;
  }
  out.api_group = path[1];
  out.version = path[2];
  std::size_t at = 3;
  if (path[at] == "namespaces" && path.size() > 5) {
    out.ns = path[4];
    at = 5;
  }
  const auto next = [&] { return at < path.size() ? path[at++] : std::string(); };
  out.resource = next();
  out.name = next();
  out.subresource = next();
  out.verb = verb_of(method, !out.name.empty());
  return out;
}

Json review_of(const User& user, const Attributes& what) {
  Json spec{{"user", user.name}};
  if (!user.groups.empty()) spec["groups"] = user.groups;
  if (!user.extra.empty()) spec["extra"] = user.extra;
  if (!what.path.empty()) {
    spec["nonResourceAttributes"] = Json{{"verb", what.verb}, {"path", what.path}};
  } else {
    Json& attributes = spec["resourceAttributes"];
    const std::pair<const char*, const std::string*> members[] = {
        {"verb", &what.verb},    {"group", &what.api_group},   {"version", &what.version},
        {"namespace", &what.ns}, {"resource", &what.resource}, {"subresource", &what.subresource},
        {"name", &what.name}};
    for (const auto& [key, value] : members) {
      if (!value->empty()) attributes[key] = *value;
    }
  }
  return Json{{"apiVersion", "authorization.k8s.io/v1"},
              {"kind", "SubjectAccessReview"},
              {"spec", std::move(spec)}};
}

bool always_allowed(const User& user) {
  return std::find(user.groups.begin(), user.groups.end(), "system:masters") != user.groups.end();
}

std::string refusal_of(const User& user, const Attributes& what, std::string_view reason) {
  std::string text;
  if (!what.path.empty()) {
    text =
        "forbidden: User \"" + user.name + "\" cannot " + what.verb + " path \"" + what.path + "\"";
  } else {
    text = what.resource + "." + what.api_group +
           (what.name.empty() ? "" : " \"" + what.name + "\"") + " is forbidden: User \"" +
           user.name + "\" cannot " + what.verb + " resource \"" + full_resource(what) +
           "\" in API group \"" + what.api_group + "\"" +
           (what.ns.empty() ? " at the cluster scope" : " in the namespace \"" + what.ns + "\"");
  }
  return reason.empty() ? text : text + ": " + std::string(reason);
}

Json refusal_details(const Attributes& what) {
  Json details = Json::object();
  if (!what.name.empty()) details["name"] = what.name;
  if (!what.api_group.empty()) details["group"] = what.api_group;
  if (!what.resource.empty()) details["kind"] = what.resource;
  return details;
}

}  // namespace regatta::visibility
