#include "lib/manifest/registry.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manifest {

std::vector<std::string> ordinary_verbs() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::vector<std::string> status_verbs() {
  return {"get", "patch", "update"};
}

std::string ResourceType::api_version() const {
  return group.empty() ? version : group + "/" + version;
}

std::string ResourceType::group_resource() const {
  return group.empty() ? plural : plural + "." + group;
}

bool ResourceType::has_verb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const Subresource* ResourceType::subresource(std::string_view name) const {
  for (const Subresource& sub : subresources) {
    if (sub.name == name) return &sub;
  }
  return nullptr;
}

void Registry::add(ResourceType type) {
  if (type.storage_version.empty()) type.storage_version = type.version;
  Key key{type.group, type.version, type.plural};
  types_[std::move(key)] = std::make_shared<const ResourceType>(std::move(type));
  ++revision_;
}

void Registry::remove(std::string_view group, std::string_view version, std::string_view plural) {
  if (types_.erase(Key{std::string(group), std::string(version), std::string(plural)}) > 0) {
    ++revision_;
  }
}

ResourceTypePtr Registry::find(std::string_view group, std::string_view version,
                               std::string_view plural) const {
  const auto found =
      types_.find(Key{std::string(group), std::string(version), std::string(plural)});
  return found == types_.end() ? nullptr : found->second;
}

ResourceTypePtr Registry::find_kind(std::string_view group, std::string_view version,
                                    std::string_view kind) const {
  for (const ResourceTypePtr& type : of_version(group, version)) {
    if (type->kind == kind) return type;
  }
  return nullptr;
}

bool Registry::has_group(std::string_view group) const {
  const auto first = types_.lower_bound(Key{std::string(group), "", ""});
  return first != types_.end() && first->first.group == group;
}

bool Registry::has_version(std::string_view group, std::string_view version) const {
  const auto first = types_.lower_bound(Key{std::string(group), std::string(version), ""});
  return first != types_.end() && first->first.group == group && first->first.version == version;
}

bool Registry::is_builtin_version(std::string_view group, std::string_view version) const {
  const auto types = of_version(group, version);
  return std::any_of(types.begin(), types.end(),
                     [](const ResourceTypePtr& type) { return !type->custom; });
}

std::vector<ResourceTypePtr> Registry::all() const {
  std::vector<ResourceTypePtr> result;
  for (const auto& [key, type] : types_) result.push_back(type);
  return result;
}

std::vector<ResourceTypePtr> Registry::of_version(std::string_view group,
                                                  std::string_view version) const {
  std::vector<ResourceTypePtr> result;
  auto it = types_.lower_bound(Key{std::string(group), std::string(version), ""});
  for (; it != types_.end() && it->first.group == group && it->first.version == version; ++it) {
    result.push_back(it->second);
  }
  return result;
}

}  // namespace regatta::manifest
