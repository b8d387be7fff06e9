#include "lab/apiserver/discovery.h"

#include "lab/apiserver/health.h"
#include "lab/apiserver/text.h"
#include "lib/base/fnv.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace regatta::apiserver {
namespace {

using Reply = Answer<net::HttpResponse>;

/// Groups in the order in which kube-apiserver lists them; others follow.
const std::vector<std::string>& group_order() {
  static const std::vector<std::string> order = {"apiregistration.k8s.io",
                                                 "apps",
                                                 "events.k8s.io",
                                                 "authentication.k8s.io",
                                                 "authorization.k8s.io",
                                                 "autoscaling",
                                                 "batch",
                                                 "certificates.k8s.io",
                                                 "networking.k8s.io",
                                                 "policy",
                                                 "rbac.authorization.k8s.io",
                                                 "storage.k8s.io",
                                                 "admissionregistration.k8s.io",
                                                 "apiextensions.k8s.io",
                                                 "scheduling.k8s.io",
                                                 "coordination.k8s.io",
                                                 "node.k8s.io",
                                                 "discovery.k8s.io",
                                                 "resource.k8s.io",
                                                 "flowcontrol.apiserver.k8s.io"};
  return order;
}

/// Kubernetes' order of versions: v2 before v1 before v1beta1 before v1alpha1.
struct VersionRank {
  int stage;  ///< 2: stable, 1: beta, 0: alpha, -1: other
  int major;
  int minor;
  friend auto operator<=>(const VersionRank&, const VersionRank&) = default;
};

VersionRank rank(const std::string& version) {
  int major = 0, minor = 0, used = 0;
  if (std::sscanf(version.c_str(), "v%d%n", &major, &used) != 1) return {-1, 0, 0};
  const std::string rest = version.substr(static_cast<std::size_t>(used));
  if (rest.empty()) return {2, major, 0};
  if (std::sscanf(rest.c_str(), "beta%d", &minor) == 1) return {1, major, minor};
  if (std::sscanf(rest.c_str(), "alpha%d", &minor) == 1) return {0, major, minor};
  return {-1, 0, 0};
}

std::vector<std::string> groups_of(const Core& core) {
  std::set<std::string> present;
  for (const ResourceTypePtr& type : core.registry.all()) {
    if (!type->group.empty()) present.insert(type->group);
  }
  for (const auto& [version, resources] : core.remote) present.insert(version.first);
  std::vector<std::string> groups;
  for (const std::string& group : group_order()) {
    if (present.erase(group) > 0) groups.push_back(group);
  }
  groups.insert(groups.end(), present.begin(), present.end());
  return groups;
}

std::vector<std::string> versions_of(const Core& core, const std::string& group) {
  std::set<std::string> present;
  for (const ResourceTypePtr& type : core.registry.all()) {
    if (type->group == group) present.insert(type->version);
  }
  for (const auto& [version, resources] : core.remote) {
    if (version.first == group) present.insert(version.second);
  }
  std::vector<std::string> versions(present.begin(), present.end());
  std::sort(versions.begin(), versions.end(),
            [](const std::string& a, const std::string& b) { return rank(a) > rank(b); });
  return versions;
}

Json group_json(const Core& core, const std::string& group) {
  Json json = {{"name", group}, {"versions", Json::array()}};
  for (const std::string& version : versions_of(core, group)) {
    const Json entry = {{"groupVersion", group + "/" + version}, {"version", version}};
    if (!json.contains("preferredVersion")) json["preferredVersion"] = entry;
    json["versions"].push_back(entry);
  }
  return json;
}

Json verbs_json(const std::vector<std::string>& verbs, bool custom) {
  if (!custom || verbs.size() != 8) return verbs;
  return {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
}

void add_subresources(const ResourceType& type, Json& resources) {
  for (const Subresource& sub : type.subresources) {
    Json json = {{"name", type.plural + "/" + sub.name},
                 {"singularName", ""},
                 {"namespaced", type.namespaced},
                 {"kind", sub.kind.empty() ? type.kind : sub.kind},
                 {"verbs", sub.verbs}};
    if (!sub.group.empty()) json["group"] = sub.group;
    if (!sub.version.empty()) json["version"] = sub.version;
    resources.push_back(std::move(json));
  }
}

Json resource_list(const Core& core, const std::string& group, const std::string& version) {
  const std::string group_version = group.empty() ? version : group + "/" + version;
  Json list = {
      {"kind", "APIResourceList"}, {"groupVersion", group_version}, {"resources", Json::array()}};
  if (!group.empty()) list["apiVersion"] = "v1";
  for (const ResourceTypePtr& type : core.registry.of_version(group, version)) {
    Json json = {{"name", type->plural},
                 {"singularName", type->singular},
                 {"namespaced", type->namespaced},
                 {"kind", type->kind},
                 {"verbs", verbs_json(type->verbs, type->custom)}};
    if (!type->short_names.empty()) json["shortNames"] = type->short_names;
    if (!type->categories.empty()) json["categories"] = type->categories;
    if (!type->storage_version_hash.empty()) {
      json["storageVersionHash"] = type->storage_version_hash;
    }
    list["resources"].push_back(std::move(json));
    add_subresources(*type, list["resources"]);
  }
  return list;
}

Json response_kind(const ResourceType& type, const std::string& group, const std::string& version,
                   const std::string& kind) {
  if (!kind.empty() && kind != type.kind) {
    return {{"group", group}, {"version", version}, {"kind", kind}};
  }
  return {{"group", type.custom ? type.group : ""},
          {"version", type.custom ? type.version : ""},
          {"kind", type.kind}};
}

Json aggregated_resource(const ResourceType& type) {
  Json json = {{"resource", type.plural},
               {"responseKind", response_kind(type, "", "", "")},
               {"scope", type.namespaced ? "Namespaced" : "Cluster"},
               {"singularResource", type.singular},
               {"verbs", verbs_json(type.verbs, type.custom)}};
  if (!type.short_names.empty()) json["shortNames"] = type.short_names;
  if (!type.categories.empty()) json["categories"] = type.categories;
  for (const Subresource& sub : type.subresources) {
    json["subresources"].push_back(
        {{"subresource", sub.name},
         {"responseKind", response_kind(type, sub.group, sub.version, sub.kind)},
         {"verbs", sub.verbs}});
  }
  return json;
}

/// From the APIResourceList of another server: its subresources have names with a slash.
void add_remote_resources(const Core& core, const std::string& group, const std::string& version,
                          Json& resources) {
  const auto remote = core.remote.find({group, version});
  if (remote == core.remote.end()) return;
  std::map<std::string, std::size_t> places;
  for (const Json& one : list_or_empty(remote->second, "resources")) {
    const std::string& name = text_at(one, "name");
    const std::size_t slash = name.find('/');
    const Json kind = {
        {"group", text_at(one, "group").empty() ? group : text_at(one, "group")},
        {"version", text_at(one, "version").empty() ? version : text_at(one, "version")},
        {"kind", text_at(one, "kind")}};
    const std::string plural = name.substr(0, slash);
    const auto [place, fresh] = places.try_emplace(plural, resources.size());
    if (fresh) {
      resources.push_back({{"resource", plural},
                           {"scope", true_at(one, "namespaced") ? "Namespaced" : "Cluster"},
                           {"singularResource", text_at(one, "singularName")}});
    }
    Json& entry = resources[place->second];
    if (slash == std::string::npos) {
      entry["responseKind"] = kind;
      entry["verbs"] = list_or_empty(one, "verbs");
    } else {
      entry["subresources"].push_back({{"subresource", name.substr(slash + 1)},
                                       {"responseKind", kind},
                                       {"verbs", list_or_empty(one, "verbs")}});
    }
  }
}

Json aggregated_group(const Core& core, const std::string& group) {
  Json item = {{"metadata", Json::object()}, {"versions", Json::array()}};
  if (!group.empty()) item["metadata"]["name"] = group;
  for (const std::string& version : versions_of(core, group)) {
    Json entry = {{"version", version}, {"resources", Json::array()}, {"freshness", "Current"}};
    for (const ResourceTypePtr& type : core.registry.of_version(group, version)) {
      entry["resources"].push_back(aggregated_resource(*type));
    }
    add_remote_resources(core, group, version, entry["resources"]);
    item["versions"].push_back(std::move(entry));
  }
  return item;
}

std::string etag_of(const std::string& text) {
  char out[40];
  std::snprintf(out, sizeof out, "\"%016llX%016llX\"", static_cast<unsigned long long>(fnv1a(text)),
                static_cast<unsigned long long>(fnv1a(text, 1)));
  return out;
}

net::HttpResponse aggregated(const Core& core, Exchange& exchange, bool legacy) {
  Json list = {{"kind", "APIGroupDiscoveryList"},
               {"apiVersion", "apidiscovery.k8s.io/v2"},
               {"metadata", Json::object()},
               {"items", Json::array()}};
  const std::vector<std::string> groups = legacy ? std::vector<std::string>{""} : groups_of(core);
  for (const std::string& group : groups) list["items"].push_back(aggregated_group(core, group));
  net::HttpResponse response = respond_json(exchange, 200, list);
  const std::string etag = etag_of(response.body);
  if (exchange.request.headers.get("If-None-Match") == etag) {
    response = net::HttpResponse(304, "");
  } else {
    response.headers.set("Content-Type",
                         "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  }
  response.headers.set("Cache-Control", "public");
  response.headers.set("Etag", etag);
  response.headers.set("Vary", "Accept");
  return response;
}

Json api_versions(const Core& core) {
  return {{"kind", "APIVersions"},
          {"versions", {"v1"}},
          {"serverAddressByClientCIDRs",
           Json::array(
               {{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", core.options.server_address}}})}};
}

Json group_list(const Core& core) {
  Json list = {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array()}};
  for (const std::string& group : groups_of(core)) {
    list["groups"].push_back(group_json(core, group));
  }
  return list;
}

Json version_json(const Core& core) {
  const std::string& git = core.options.git_version;
  int major = 1, minor = 36;
  (void)std::sscanf(git.c_str(), "v%d.%d", &major, &minor);
  return {{"major", std::to_string(major)},
          {"minor", std::to_string(minor)},
          {"emulationMajor", std::to_string(major)},
          {"emulationMinor", std::to_string(minor)},
          {"minCompatibilityMajor", std::to_string(major)},
          {"minCompatibilityMinor", std::to_string(minor - 1)},
          {"gitVersion", git},
          {"gitCommit", ""},
          {"gitTreeState", ""},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "clang"},
          {"platform", "linux/amd64"}};
}

Json root_paths(const Core& core) {
  std::set<std::string> paths = {"/.well-known/openid-configuration",
                                 "/api",
                                 "/api/v1",
                                 "/apis",
                                 "/apis/",
                                 "/flagz",
                                 "/metrics",
                                 "/metrics/slis",
                                 "/openapi/v2",
                                 "/openapi/v3",
                                 "/openapi/v3/",
                                 "/openid/v1/jwks",
                                 "/statusz",
                                 "/version"};
  for (const char* endpoint : {"healthz", "livez", "readyz"}) {
    paths.insert("/" + std::string(endpoint));
    for (const std::string& check : health_checks(endpoint)) {
      paths.insert("/" + std::string(endpoint) + "/" + check);
    }
  }
  for (const std::string& group : groups_of(core)) {
    paths.insert("/apis/" + group);
    for (const std::string& version : versions_of(core, group)) {
      paths.insert("/apis/" + group + "/" + version);
    }
  }
  return {{"paths", paths}};
}

/// The document of a discovery path; null for other paths, a failure when its group is unknown.
std::optional<Answer<Json>> document(const Core& core, const RequestInfo& info) {
  const auto& s = info.segments;
  if (s.empty()) return root_paths(core);
  if (s[0] == "version" && s.size() == 1) return version_json(core);
  if (s[0] == "api" && s.size() == 1) return api_versions(core);
  if (s[0] == "apis" && s.size() == 1) return group_list(core);
  if (s[0] == "api" && s.size() == 2) {
    if (s[1] != "v1") return Failure(page_not_found());
    return resource_list(core, "", "v1");
  }
  if (s[0] != "apis" || s.size() > 3) return std::nullopt;
  if (versions_of(core, s[1]).empty()) return Failure(page_not_found());
  if (s.size() == 2) {
    Json json = group_json(core, s[1]);
    json["kind"] = "APIGroup";
    json["apiVersion"] = "v1";
    return json;
  }
  if (core.registry.has_version(s[1], s[2])) return resource_list(core, s[1], s[2]);
  const std::vector<std::string> versions = versions_of(core, s[1]);
  const bool builtin = core.registry.is_builtin_version(s[1], versions.front());
  return builtin ? resource_not_found() : page_not_found();
}

}  // namespace

std::optional<Reply> discovery(const Core& core, Exchange& exchange) {
  std::optional<Answer<Json>> json = document(core, exchange.info);
  if (!json) return std::nullopt;
  if (!*json) return Reply(json->error());
  if (exchange.request.method != "GET") return Reply(method_not_allowed());
  const bool top = exchange.info.segments.size() == 1 && exchange.info.segments[0] != "version";
  const Offer offer{.transforms = false, .discovery = top};
  Answer<Form> form = negotiate(exchange.request.headers.get("Accept"), offer);
  if (!form) return Reply(form.error());
  const bool pretty = exchange.form.pretty;
  exchange.form = std::move(*form);
  exchange.form.pretty = pretty;
  if (exchange.form.discovery == 2) {
    return Reply(aggregated(core, exchange, exchange.info.segments[0] == "api"));
  }
  return Reply(respond_json(exchange, 200, **json));
}

}  // namespace regatta::apiserver
