#include "lab/cluster/discovery.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::lab {

namespace {

void add_resources(const Json& list, const std::string& group, const std::string& version,
                   std::vector<DiscoveredResource>* out) {
  for (const Json& entry : at_or_null(list, "resources")) {
    DiscoveredResource one;
    one.plural = text_at(entry, "name");
    if (one.plural.empty() || one.plural.find('/') != std::string::npos) continue;
    one.group = group;
    one.version = version;
    const bool known = std::any_of(out->begin(), out->end(), [&](const DiscoveredResource& other) {
      return other.group == group && other.plural == one.plural;
    });
    if (known) continue;
    one.kind = text_at(entry, "kind");
    const Json& namespaced = at_or_null(entry, "namespaced");
    one.namespaced = namespaced.is_boolean() && namespaced.get<bool>();
    for (const Json& verb : at_or_null(entry, "verbs")) {
      if (verb.is_string()) one.verbs.push_back(verb.get<std::string>());
    }
    out->push_back(std::move(one));
  }
}

Task<Status> add_version(kube::Client& client, std::string path, std::string group,
                         std::string version, std::vector<DiscoveredResource>* out) {
  const Result<std::string> body = co_await client.get_path(path);
  if (!body) co_return body.error().within("discovering " + path);
  const Result<Json> list = parse_json(*body);
  if (!list) co_return list.error().within("discovering " + path);
  add_resources(*list, group, version, out);
  co_return ok();
}

}  // namespace

bool DiscoveredResource::can(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

Task<Result<std::vector<DiscoveredResource>>> discover(kube::Client& client) {
  std::vector<DiscoveredResource> out;
  const Status core = co_await add_version(client, "/api/v1", "", "v1", &out);
  if (!core) co_return core.error();
  const Result<std::string> body = co_await client.get_path("/apis");
  if (!body) co_return body.error().within("discovering /apis");
  const Result<Json> groups = parse_json(*body);
  if (!groups) co_return groups.error().within("discovering /apis");
  for (const Json& entry : at_or_null(*groups, "groups")) {
    const std::string group = text_at(entry, "name");
    // The preferred version comes first; other versions may have resources that it lacks.
    std::vector<std::string> versions = {text_at(at_or_null(entry, "preferredVersion"), "version")};
    for (const Json& one : at_or_null(entry, "versions")) {
      if (text_at(one, "version") != versions[0]) versions.push_back(text_at(one, "version"));
    }
    for (const std::string& version : versions) {
      std::string path = "/apis/" + group + "/" + version;
      const Status added = co_await add_version(client, std::move(path), group, version, &out);
      // A group whose definition is being removed must not hide the other groups.
      if (!added && added.error().code() != Errc::not_found) co_return added.error();
    }
  }
  co_return out;
}

}  // namespace regatta::lab
