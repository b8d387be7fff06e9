#include "lib/kube/patch.h"

#include "lib/base/merge_patch.h"

#include <nlohmann/json.hpp>

namespace regatta::kube {
namespace {

const Json& member_or_null(const Json& object, const std::string& name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto it = object.find(name);
  return it == object.end() ? none : *it;
}

/// What a client may change of an object's metadata.
Json writable_metadata(const Json& object) {
  Json picked = Json::object();
  const Json& metadata = member_or_null(object, "metadata");
  for (const char* name : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    const Json& value = member_or_null(metadata, name);
    if (!value.is_null()) picked[name] = value;
  }
  return picked;
}

Json within_scope(Json object, PatchScope scope) {
  Json picked = Json::object();
  if (scope == PatchScope::status) {
    picked["status"] = object.contains("status") ? std::move(object["status"]) : Json::object();
    return picked;
  }
  picked["metadata"] = writable_metadata(object);
  if (scope == PatchScope::metadata) return picked;
  for (const char* name : {"apiVersion", "kind", "status"}) object.erase(name);
  object["metadata"] = std::move(picked["metadata"]);
  return object;
}

}  // namespace

std::string guarded_merge_patch(Json before, Json after, PatchScope scope) {
  const Json version = member_or_null(member_or_null(before, "metadata"), "resourceVersion");
  Json from = within_scope(std::move(before), scope);
  Json to = within_scope(std::move(after), scope);
  Json patch = merge_patch_between(from, to);
  discard(&from);
  discard(&to);
  if (patch.empty()) return {};
  if (version.is_string()) patch["metadata"]["resourceVersion"] = version;
  return dump_json(patch);
}

}  // namespace regatta::kube
