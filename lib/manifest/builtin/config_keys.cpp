#include "lib/manifest/builtin/config_keys.h"

#include "lib/manifest/builtin/access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace regatta::manifest::builtin {

namespace {

constexpr std::size_t key_max = 253;
constexpr const char* key_rule =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
    "'[-._a-zA-Z0-9]+')";
constexpr const char* frozen = "field is immutable when `immutable` is set";

}  // namespace

void check_config_key(const std::string& key, const char* field, FieldErrors* errors) {
  const std::string path = key_path(field, key);
  if (key.size() > key_max) {
    errors->push_back(invalid(path, key, "must be no more than 253 characters"));
  }
  const bool fine = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.');
  });
  if (!fine) {
    errors->push_back(invalid(path, key, key_rule));
  } else if (key == ".") {
    errors->push_back(invalid(path, key, "must not be '.'"));
  } else if (key == "..") {
    errors->push_back(invalid(path, key, "must not be '..'"));
  } else if (key.starts_with("..")) {
    errors->push_back(invalid(path, key, "must not start with '..'"));
  }
}

void check_frozen(const Json& object, const Json& old, std::initializer_list<const char*> members,
                  FieldErrors* errors) {
  if (!true_at(old, "immutable")) return;
  if (!true_at(object, "immutable")) errors->push_back(forbidden("immutable", frozen));
  for (const char* name : members) {
    if (!same_member(object, old, name)) errors->push_back(forbidden(name, frozen));
  }
}

}  // namespace regatta::manifest::builtin
