#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/config_keys.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

/// Turns null values of a string map into the empty text.
void nulls_to_text(Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_object()) return;
  for (Json& value : *found) {
    if (value.is_null()) value = "";
  }
}

constexpr std::size_t data_bytes_max = 1024 * 1024;

std::size_t data_bytes(const Json& object) {
  std::size_t bytes = 0;
  for (const Json& value : object_or_empty(object, {"data"})) {
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  }
  for (const Json& value : object_or_empty(object, {"binaryData"})) {
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size() / 4 * 3;
  }
  return bytes;
}

class ConfigMapStrategy final : public GenericStrategy {
 public:
  void set_defaults(Json& object) const override {
    if (!object.is_object()) return;
    nulls_to_text(object, "data");
    for (const char* name : {"data", "binaryData"}) drop_empty(object, name);
  }

  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    const Json& binary = object_or_empty(object, {"binaryData"});
    for (const auto& [key, value] : object_or_empty(object, {"data"}).items()) {
      check_config_key(key, "data", &errors);
      if (binary.contains(key)) {
        errors.push_back(
            invalid(key_path("data", key), key, "duplicate of key present in binaryData"));
      }
    }
    for (const auto& [key, value] : binary.items()) check_config_key(key, "binaryData", &errors);
    if (data_bytes(object) > data_bytes_max) errors.push_back(too_long("[]", data_bytes_max));
    return errors;
  }

  FieldErrors validate_update(const Json& object, const Json& old) const override {
    FieldErrors errors;
    check_frozen(object, old, {"data", "binaryData"}, &errors);
    for (FieldError& error : validate_create(object)) errors.push_back(std::move(error));
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Data", "string", "Number of keys."), age_column()};
  }
  std::vector<Json> cells(const Json& object, TimePoint now) const override {
    const std::size_t keys =
        object_or_empty(object, {"data"}).size() + object_or_empty(object, {"binaryData"}).size();
    return {name_cell(object), keys, age_cell(object, now)};
  }
};

}  // namespace

StrategyPtr config_map_strategy() {
  return std::make_shared<ConfigMapStrategy>();
}

}  // namespace regatta::manifest::builtin
