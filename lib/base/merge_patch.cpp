#include "lib/base/merge_patch.h"

#include <nlohmann/json.hpp>

namespace regatta {

Json merge_patch_between(const Json& from, const Json& to) {
  Json patch = Json::object();
  for (const auto& [name, before] : from.items()) {
    if (!before.is_null() && (to.find(name) == to.end() || to.at(name).is_null()))
      patch[name] = nullptr;
  }
  for (const auto& [name, after] : to.items()) {
    if (after.is_null()) continue;
    const auto before = from.find(name);
    if (before == from.end()) {
      patch[name] = after;
    } else if (before->is_object() && after.is_object()) {
      Json inner = merge_patch_between(*before, after);
      if (!inner.empty()) patch[name] = std::move(inner);
    } else if (*before != after) {
      patch[name] = after;
    }
  }
  return patch;
}

}  // namespace regatta
