#include "lab/apiserver/patch/merge_patch.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {

void merge_patch(Json* target, const Json& patch) {
  if (!patch.is_object()) {
    *target = patch;
    return;
  }
  if (!target->is_object()) *target = Json::object();
  for (const auto& [name, value] : patch.items()) {
    if (value.is_null()) {
      target->erase(name);
    } else {
      merge_patch(&(*target)[name], value);
    }
  }
}

}  // namespace regatta::apiserver
