#include "operate/worker_account.h"

#include "lib/api/core.h"
#include "lib/api/kueue.h"
#include "lib/api/own_names.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "operate/resources.h"

#include <nlohmann/json.hpp>

namespace regatta::operate {
namespace {

constexpr const char* rbac = "rbac.authorization.k8s.io";
constexpr api::ResourceInfo roles{rbac, "v1", "Role", "roles", true};
constexpr api::ResourceInfo role_bindings{rbac, "v1", "RoleBinding", "rolebindings", true};
constexpr api::ResourceInfo cluster_roles{rbac, "v1", "ClusterRole", "clusterroles", false};
constexpr api::ResourceInfo cluster_role_bindings{rbac, "v1", "ClusterRoleBinding",
                                                  "clusterrolebindings", false};

constexpr const char* managed_by = "app.kubernetes.io/managed-by";
constexpr const char* instance = "app.kubernetes.io/instance";
constexpr const char* component = "app.kubernetes.io/component";

using Rules = std::vector<api::WorkerRule>;

/// A name of another form is left out.
std::vector<FrameworkResource> jobs_of(const WorkerAccount& account) {
  std::vector<FrameworkResource> all;
  for (const std::string& framework : account.frameworks) {
    if (const auto resource = resource_of(framework)) all.push_back(*resource);
  }
  return all;
}

Rules reads(const WorkerAccount& account) {
  return api::worker_reads(jobs_of(account));
}
Rules writes(const WorkerAccount& account) {
  return api::worker_writes(jobs_of(account));
}

Json to_json(const Rules& rules) {
  Json out = Json::array();
  for (const api::WorkerRule& rule : rules) {
    out.push_back({{"apiGroups", Json::array({rule.group})},
                   {"resources", Json::array({rule.resource})},
                   {"verbs", rule.verbs}});
  }
  return out;
}

Wanted object(const api::ResourceInfo& resource, const std::string& ns, const std::string& name) {
  Json made{{"apiVersion", resource.api_version()},
            {"kind", resource.kind},
            {"metadata", {{"name", name}, {"labels", {{managed_by, field_manager}}}}}};
  if (!ns.empty()) made["metadata"]["namespace"] = ns;
  return {resource, std::move(made)};
}

Wanted of_account(const api::ResourceInfo& resource, const WorkerAccount& account,
                  const std::string& ns) {
  Wanted made = object(resource, ns, account.name);
  made.object["metadata"]["labels"][instance] = account.name;
  return made;
}

Wanted binding(const api::ResourceInfo& resource, const char* role, const WorkerAccount& account,
               const std::string& ns) {
  Wanted made = of_account(resource, account, ns);
  made.object["roleRef"] = {{"apiGroup", rbac}, {"kind", role}, {"name", account.name}};
  const Json subject{{"kind", "ServiceAccount"}, {"name", account.name}, {"namespace", account.ns}};
  made.object["subjects"] = Json::array({subject});
  return made;
}

}  // namespace

Result<FrameworkResource> resource_of(const std::string& framework) {
  if (framework == "pod") return FrameworkResource{"", "pods"};
  if (framework == "statefulset") return FrameworkResource{"apps", "statefulsets"};
  const std::size_t slash = framework.find('/');
  const std::size_t dot = framework.find('.');
  const bool named = slash == std::string::npos && dot != std::string::npos && dot > 0 &&
                     framework.find('.', dot + 1) != std::string::npos && framework.back() != '.';
  if (named) return FrameworkResource{framework.substr(dot + 1), framework.substr(0, dot)};
  const bool whole = slash != std::string::npos && slash > 0 && slash + 1 < framework.size() &&
                     framework.find('/', slash + 1) == std::string::npos;
  if (!whole) {
    return Error(Errc::invalid, "\"" + framework +
                                    "\" is neither GROUP/KIND nor RESOURCE.GROUP, "
                                    "like batch/job or jobsets.jobset.x-k8s.io");
  }
  return FrameworkResource{framework.substr(0, slash), framework.substr(slash + 1) + "s"};
}

const char* const field_manager = "regatta-register-worker";

api::ObjectKey Wanted::key() const {
  return {text_at(object, {"metadata", "namespace"}), text_at(object, {"metadata", "name"})};
}

std::string Wanted::str() const {
  return std::string(resource.kind) + " " + key().str();
}

const std::vector<api::ResourceInfo>& account_kinds() {
  static const std::vector<api::ResourceInfo> all = {cluster_role_bindings, role_bindings,
                                                     cluster_roles, roles, accounts};
  return all;
}

std::vector<Wanted> worker_objects(const WorkerAccount& account) {
  std::vector<Wanted> out;
  Wanted identity = of_account(accounts, account, account.ns);
  identity.object["automountServiceAccountToken"] = false;  // no Pod uses it
  out.push_back(std::move(identity));
  Wanted everywhere = of_account(cluster_roles, account, "");
  Json rules = to_json(reads(account));
  for (Json& rule : to_json(api::worker_looks())) rules.push_back(std::move(rule));
  if (account.provide) {
    for (Json& rule : to_json(api::worker_provisions())) rules.push_back(std::move(rule));
  }
  if (account.namespaces.empty()) {
    for (Json& rule : to_json(writes(account))) rules.push_back(std::move(rule));
  }
  everywhere.object["rules"] = std::move(rules);
  out.push_back(std::move(everywhere));
  out.push_back(binding(cluster_role_bindings, "ClusterRole", account, ""));
  for (const std::string& ns : account.namespaces) {
    Wanted role = of_account(roles, account, ns);
    role.object["rules"] = to_json(writes(account));
    out.push_back(std::move(role));
    out.push_back(binding(role_bindings, "Role", account, ns));
  }
  return out;
}

Wanted token_tie(const WorkerAccount& account, const std::string& cluster) {
  Wanted made = of_account(api::Secret::resource, account, account.ns);
  Json& metadata = made.object["metadata"];
  metadata.erase("name");
  metadata["generateName"] = account.name + "-token-";
  metadata["labels"][component] = cluster;
  metadata["annotations"] = {
      {"kubernetes.io/description", "The token of a hub is valid as long as this Secret exists."}};
  made.object["type"] = "Opaque";
  return made;
}

std::string ties_of(const WorkerAccount& account, const std::string& cluster) {
  return selector_of(account) + "," + component + "=" + cluster;
}

std::string selector_of(const WorkerAccount& account) {
  return std::string(managed_by) + "=" + field_manager + "," + instance + "=" + account.name;
}

std::vector<Permission> permissions_of(const WorkerAccount& account) {
  std::vector<Permission> out;
  const auto add = [&](const Rules& rules, const std::string& ns, bool needed = true) {
    for (const api::WorkerRule& rule : rules) {
      const std::string whole = rule.resource;
      const std::size_t slash = whole.find('/');
      const std::string sub = slash == std::string::npos ? "" : whole.substr(slash + 1);
      for (const std::string& verb : rule.verbs) {
        out.push_back({verb, rule.group, whole.substr(0, slash), sub, ns, needed});
      }
    }
  };
  add(reads(account), "");
  add(api::worker_looks(), "", false);
  if (account.provide) add(api::worker_provisions(), "");
  if (account.namespaces.empty()) add(writes(account), "");
  for (const std::string& ns : account.namespaces) add(writes(account), ns);
  return out;
}

std::vector<Wanted> hub_objects(const std::string& ns, const std::string& cluster,
                                const std::string& kubeconfig, bool provide) {
  Wanted secret = object(api::Secret::resource, ns, secret_name(cluster));
  secret.object["type"] = "Opaque";
  secret.object["data"] = {{"kubeconfig", base64_encode(kubeconfig)}};
  Wanted member = object(api::MultiKueueCluster::resource, "", cluster);
  member.object["spec"] = {
      {"clusterSource",
       {{"kubeConfig", {{"locationType", "Secret"}, {"location", secret_name(cluster)}}}}}};
  if (provide) {
    member.object["metadata"]["annotations"][std::string(api::annotations::provide)] =
        "namespaces,localqueues,workloadpriorityclasses";
  }
  return {std::move(secret), std::move(member)};
}

std::string secret_name(const std::string& cluster) {
  return cluster + "-kubeconfig";
}

bool is_ours(const Json& object) {
  return text_at(object_or_empty(object, {"metadata", "labels"}), managed_by) == field_manager;
}

}  // namespace regatta::operate
