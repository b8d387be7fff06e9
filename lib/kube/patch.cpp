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

Json within_scope(const Json& object, PatchScope scope) {
  Json picked = Json::object();
  if (scope == PatchScope::status) {
    picked["status"] = member_or_null(object, "status");
    return picked;
  }
  if (scope == PatchScope::object) {
    picked = object;
    for (const char* name : {"apiVersion", "kind", "status"}) picked.erase(name);
  }
  picked["metadata"] = writable_metadata(object);
  return picked;
}

}  // namespace

std::string guarded_merge_patch(const Json& before, const Json& after, PatchScope scope) {
  Json patch = merge_patch_between(within_scope(before, scope), within_scope(after, scope));
  if (patch.empty()) return {};
  const Json version = member_or_null(member_or_null(before, "metadata"), "resourceVersion");
  if (version.is_string()) patch["metadata"]["resourceVersion"] = version;
  return dump_json(patch);
}

}  // namespace regatta::kube
