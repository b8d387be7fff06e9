#include "lab/cluster/discovery.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::lab {

namespace {

/// A member that may be missing or have another type.
const Json& child(const Json& object, const char* name) {
  static const Json nothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

std::string text(const Json& object, const char* name) {
  const Json& value = child(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

void add_resources(const Json& list, const std::string& group, const std::string& version,
                   std::vector<DiscoveredResource>* out) {
  for (const Json& entry : child(list, "resources")) {
    DiscoveredResource one;
    one.plural = text(entry, "name");
    if (one.plural.empty() || one.plural.find('/') != std::string::npos) continue;
    one.group = group;
    one.version = version;
    one.kind = text(entry, "kind");
    const Json& namespaced = child(entry, "namespaced");
    one.namespaced = namespaced.is_boolean() && namespaced.get<bool>();
    for (const Json& verb : child(entry, "verbs")) {
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
  for (const Json& entry : child(*groups, "groups")) {
    std::string group = text(entry, "name");
    std::string version = text(child(entry, "preferredVersion"), "version");
    std::string path = "/apis/" + group + "/" + version;
    const Status added =
        co_await add_version(client, std::move(path), std::move(group), std::move(version), &out);
    // A group whose definition is being removed must not hide the other groups.
    if (!added && added.error().code() != Errc::not_found) co_return added.error();
  }
  co_return out;
}

}  // namespace regatta::lab
