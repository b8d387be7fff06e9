#include "lib/kube/owned_fields.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <string>

namespace regatta::kube {
namespace {

constexpr std::string_view field_prefix = "f:";
constexpr std::string_view key_prefix = "k:";
constexpr std::string_view value_prefix = "v:";

bool is_leaf(const Json& fields) {
  return !fields.is_object() || fields.empty();
}

Json part_of(const Json& value, const Json& fields);

Json part_of_object(const Json& value, const Json& fields) {
  Json out = Json::object();
  for (const auto& [path, below] : fields.items()) {
    if (!path.starts_with(field_prefix)) continue;
    const std::string name = path.substr(field_prefix.size());
    const auto member = value.find(name);
    if (member != value.end()) out[name] = part_of(*member, below);
  }
  return out;
}

/// The item has all the values of a key: {"name":"a"}.
bool has_key(const Json& item, const Json& key) {
  if (!item.is_object() || !key.is_object()) return false;
  for (const auto& [name, value] : key.items()) {
    const auto found = item.find(name);
    if (found == item.end() || *found != value) return false;
  }
  return true;
}

/// The fields of one item of a list; null when it is not owned.
const Json* fields_of(const Json& item, const Json& fields) {
  for (const auto& [path, below] : fields.items()) {
    const std::string_view text = path;
    if (text.starts_with(key_prefix)) {
      const Result<Json> key = parse_json(text.substr(key_prefix.size()));
      if (key && has_key(item, *key)) return &below;
    } else if (text.starts_with(value_prefix)) {
      const Result<Json> value = parse_json(text.substr(value_prefix.size()));
      if (value && item == *value) return &below;
    }
  }
  return nullptr;
}

Json part_of_list(const Json& value, const Json& fields) {
  Json out = Json::array();
  for (const Json& item : value) {
    if (const Json* below = fields_of(item, fields)) out.push_back(part_of(item, *below));
  }
  return out;
}

Json part_of(const Json& value, const Json& fields) {
  if (is_leaf(fields)) return value;
  if (value.is_object()) return part_of_object(value, fields);
  if (value.is_array()) return part_of_list(value, fields);
  return value;
}

}  // namespace

Json applied_part(const Json& object, std::string_view manager, std::string_view subresource) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return nullptr;
  const auto entries = metadata->find("managedFields");
  if (entries == metadata->end() || !entries->is_array()) return nullptr;
  for (const Json& entry : *entries) {
    const bool mine = text_at(entry, "manager") == manager &&
                      text_at(entry, "operation") == "Apply" &&
                      text_at(entry, "subresource") == subresource;
    if (mine && entry.contains("fieldsV1")) return part_of(object, entry["fieldsV1"]);
  }
  return nullptr;
}

}  // namespace regatta::kube
