#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manifest {

bool list_has(const Json& value, std::string_view list, std::string_view text) {
  const Json* found = list_at(value, list);
  if (!found) return false;
  return std::any_of(found->begin(), found->end(), [text](const Json& item) {
    return item.is_string() && item.get_ref<const std::string&>() == text;
  });
}

Json& metadata_of(Json& object) {
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  return metadata;
}

bool is_deleting(const Json& object) {
  return member(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

}  // namespace regatta::manifest
