#include "lab/apiserver/auth.h"

#include "lab/terms.h"
#include "lib/api/labels.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::apiserver {
namespace {

constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";

bool allows(const Json& rule, std::string_view field, std::string_view value) {
  return list_has(rule, field, "*") || list_has(rule, field, value);
}

bool resource_allowed(const Json& rule, const Attributes& what) {
  const std::string resource =
      what.subresource.empty() ? what.plural : what.plural + "/" + what.subresource;
  if (allows(rule, "resources", resource)) return true;
  return !what.subresource.empty() && list_has(rule, "resources", "*/" + what.subresource);
}

bool url_allowed(const Json& rule, const std::string& path) {
  const Json* urls = member(rule, "nonResourceURLs");
  if (!urls || !urls->is_array()) return false;
  return std::any_of(urls->begin(), urls->end(), [&path](const Json& item) {
    if (!item.is_string()) return false;
    const std::string& url = item.get_ref<const std::string&>();
    if (url.ends_with('*')) return path.compare(0, url.size() - 1, url, 0, url.size() - 1) == 0;
    return url == path;
  });
}

bool rule_allows(const Json& rule, const Attributes& what) {
  if (!allows(rule, "verbs", what.verb)) return false;
  if (!what.resource_request) return url_allowed(rule, what.path);
  if (!allows(rule, "apiGroups", what.group) || !resource_allowed(rule, what)) return false;
  const Json* names = member(rule, "resourceNames");
  return !names || names->empty() || list_has(rule, "resourceNames", what.name);
}

/// The subject under which a binding names the user: `Group "devs"`; empty when it does not.
std::string subject_matches(const Json& binding, const UserInfo& user) {
  const Json* subjects = member(binding, "subjects");
  if (!subjects || !subjects->is_array()) return "";
  for (const Json& subject : *subjects) {
    const std::string kind = text_at(subject, "kind");
    const std::string name = text_at(subject, "name");
    if (kind == "User" && name == user.name) return "User " + in_quotes(name);
    if (kind == "Group" && user.in_group(name)) return "Group " + in_quotes(name);
    if (kind == "ServiceAccount") {
      const std::string ns = text_at(subject, "namespace");
      if (user.name == "system:serviceaccount:" + ns + ":" + name) {
        return "ServiceAccount " + in_quotes(name + "/" + ns);
      }
    }
  }
  return "";
}

Json cluster_role(const char* name, Json rules) {
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "ClusterRole"},
          {"metadata",
           {{"name", name},
            {"annotations", {{"rbac.authorization.kubernetes.io/autoupdate", "true"}}},
            {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}}}},
          {"rules", std::move(rules)}};
}

Json cluster_binding(const char* role, std::vector<const char*> groups) {
  Json subjects = Json::array();
  for (const char* group : groups) {
    subjects.push_back({{"kind", "Group"}, {"apiGroup", rbac_group}, {"name", group}});
  }
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "ClusterRoleBinding"},
          {"metadata",
           {{"name", role},
            {"annotations", {{"rbac.authorization.kubernetes.io/autoupdate", "true"}}},
            {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}}}},
          {"roleRef", {{"apiGroup", rbac_group}, {"kind", "ClusterRole"}, {"name", role}}},
          {"subjects", std::move(subjects)}};
}

Json urls_rule(std::vector<const char*> urls) {
  return {{"verbs", {"get"}}, {"nonResourceURLs", urls}};
}

}  // namespace

Authenticator::Authenticator(Core& core)
    : options_(core.options),
      clock_(core.clock),
      accounts_(core.options.token_key.empty() ? core.rng.uuid() + core.rng.uuid()
                                               : core.options.token_key,
                core.store) {}

std::optional<UserInfo> Authenticator::authenticate(const net::HttpRequest& request) const {
  UserInfo user;
  const std::string_view header = request.headers.get("Authorization");
  const std::string_view scheme = "Bearer ";
  if (!request.peer.common_name.empty()) {
    user.name = request.peer.common_name;
    user.groups = request.peer.organizations;
    user.groups.push_back("system:authenticated");
    return user;
  }
  if (header.size() > scheme.size() && header.starts_with(scheme)) {
    return user_of_token(header.substr(scheme.size()));
  }
  user.name = "system:anonymous";
  user.groups = {"system:unauthenticated"};
  return user;
}

std::optional<UserInfo> Authenticator::user_of_token(std::string_view token) const {
  std::optional<UserInfo> user;
  if (const auto known = options_.tokens.find(std::string(token)); known != options_.tokens.end()) {
    user = known->second;
  } else {
    user = accounts_.user_of(token, clock_.now());
  }
  if (user && !user->in_group("system:authenticated")) {
    user->groups.push_back("system:authenticated");
  }
  return user;
}

void Authorizer::visit_rules(const UserInfo& user, const std::string& ns,
                             const Visit& visit) const {
  const Shelf* cluster_roles = store_.find_shelf("clusterroles.rbac.authorization.k8s.io");
  const Shelf* roles = store_.find_shelf("roles.rbac.authorization.k8s.io");
  const auto visit_binding = [&](const Stored& binding, const char* kind) {
    const std::string subject = subject_matches(binding.value(), user);
    const Json* ref = member(binding.value(), "roleRef");
    if (subject.empty() || !ref) return true;
    const std::string role_kind = text_at(*ref, "kind");
    const std::string role_name = text_at(*ref, "name");
    const Shelf* home = role_kind == "Role" ? roles : cluster_roles;
    const StoredPtr role =
        home ? home->find(role_kind == "Role" ? binding.ns() : "", role_name) : nullptr;
    const Json* rules = role ? member(role->value(), "rules") : nullptr;
    if (!rules || !rules->is_array()) return true;
    const std::string shown =
        binding.ns().empty() ? binding.name() : binding.name() + "/" + binding.ns();
    const std::string why = std::string("RBAC: allowed by ") + kind + " " + in_quotes(shown) +
                            " of " + role_kind + " " + in_quotes(role_name) + " to " + subject;
    return std::all_of(rules->begin(), rules->end(),
                       [&](const Json& rule) { return visit(rule, why); });
  };
  if (const Shelf* shelf = store_.find_shelf("clusterrolebindings.rbac.authorization.k8s.io")) {
    for (const auto& [key, binding] : shelf->objects()) {
      if (!visit_binding(*binding, "ClusterRoleBinding")) return;
    }
  }
  const Shelf* shelf = store_.find_shelf("rolebindings.rbac.authorization.k8s.io");
  if (!shelf || ns.empty()) return;
  for (const auto& [key, binding] : shelf->objects()) {
    if (binding->ns() == ns && !visit_binding(*binding, "RoleBinding")) return;
  }
}

Verdict Authorizer::decide(const UserInfo& user, const Attributes& what) const {
  if (user.in_group("system:masters")) return {true, ""};
  Verdict verdict;
  visit_rules(user, what.resource_request ? what.ns : "",
              [&](const Json& rule, const std::string& why) {
                if (!rule_allows(rule, what)) return true;
                verdict = {true, why};
                return false;
              });
  return verdict;
}

void Authorizer::rules_of(const UserInfo& user, const std::string& ns, Json* resource_rules,
                          Json* url_rules) const {
  *resource_rules = Json::array();
  *url_rules = Json::array();
  if (user.in_group("system:masters")) {
    resource_rules->push_back({{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}});
    url_rules->push_back({{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}});
  }
  visit_rules(user, ns, [&](const Json& rule, const std::string&) {
    (member(rule, "nonResourceURLs") ? url_rules : resource_rules)->push_back(rule);
    return true;
  });
}

namespace {

/// The only object that a list or a watch can show: RBAC judges it by that name.
std::string selected_name(const RequestInfo& info) {
  const bool many = info.verb == "list" || info.verb == "watch" || info.verb == "deletecollection";
  const std::string& selector = info.query.get("fieldSelector");
  if (!many || selector.empty()) return "";
  const auto terms = api::parse_field_selector(selector);
  if (!terms) return "";
  for (const api::FieldRequirement& term : *terms) {
    if (term.field == "metadata.name" && term.equals) return term.value;
  }
  return "";
}

}  // namespace

Attributes attributes_of(const RequestInfo& info) {
  Attributes what;
  what.verb = info.verb;
  what.resource_request = info.resource_request;
  what.group = info.group;
  what.version = info.version;
  what.plural = info.plural;
  what.subresource = info.subresource;
  what.ns = info.ns;
  what.name = info.name.empty() ? selected_name(info) : info.name;
  what.path = info.path;
  if (info.group.empty() && info.plural == "namespaces" && !info.name.empty()) {
    what.ns = info.name;
  }
  return what;
}

Failure refusal(const UserInfo& user, const Attributes& what) {
  Failure failure{403, "Forbidden", ""};
  failure.nosniff = true;
  failure.details.emplace();
  if (!what.resource_request) {
    failure.message = "forbidden: User " + in_quotes(user.name) + " cannot " + what.verb +
                      " path " + in_quotes(what.path);
    return failure;
  }
  failure.details->name = what.name;
  failure.details->group = what.group;
  failure.details->kind = what.plural;
  std::string subject = what.group.empty() ? what.plural : what.plural + "." + what.group;
  if (!what.name.empty()) subject += " " + in_quotes(what.name);
  const std::string resource =
      what.subresource.empty() ? what.plural : what.plural + "/" + what.subresource;
  failure.message =
      subject + " is forbidden: User " + in_quotes(user.name) + " cannot " + what.verb +
      " resource " + in_quotes(resource) + " in API group " + in_quotes(what.group) +
      (what.ns.empty() ? " at the cluster scope" : " in the namespace " + in_quotes(what.ns));
  return failure;
}

std::vector<Json> bootstrap_rbac() {
  const Json everything =
      Json::array({{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}},
                   {{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}}});
  const Json basic =
      Json::array({{{"verbs", {"create"}},
                    {"apiGroups", {"authorization.k8s.io"}},
                    {"resources", {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}}},
                   {{"verbs", {"create"}},
                    {"apiGroups", {"authentication.k8s.io"}},
                    {"resources", {"selfsubjectreviews"}}}});
  const Json discovery =
      Json::array({urls_rule({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                              "/openapi", "/openapi/*", "/readyz", "/version", "/version/"})});
  const Json open =
      Json::array({urls_rule({"/healthz", "/livez", "/readyz", "/version", "/version/"})});
  return {cluster_role("cluster-admin", everything),
          cluster_role("system:basic-user", basic),
          cluster_role("system:discovery", discovery),
          cluster_role("system:public-info-viewer", open),
          cluster_role("system:service-account-issuer-discovery",
                       Json::array({urls_rule({"/.well-known", "/.well-known/*"})})),
          {{"kind", "Role"},
           {"metadata",
            {{"name", "extension-apiserver-authentication-reader"}, {"namespace", "kube-system"}}},
           {"rules",
            {{{"verbs", {"get", "list", "watch"}},
              {"apiGroups", {""}},
              {"resources", {"configmaps"}},
              {"resourceNames", {"extension-apiserver-authentication"}}}}}},
          cluster_binding("cluster-admin", {"system:masters"}),
          cluster_binding("system:basic-user", {"system:authenticated"}),
          cluster_binding("system:discovery", {"system:authenticated"}),
          cluster_binding("system:public-info-viewer",
                          {"system:authenticated", "system:unauthenticated"}),
          cluster_binding("system:service-account-issuer-discovery", {"system:authenticated"})};
}

}  // namespace regatta::apiserver
