#include "lib/base/base64.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/config_keys.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

constexpr std::size_t data_max = 1024 * 1024;

void require_key(const Json& data, const char* key, FieldErrors* errors) {
  if (!data.contains(key)) errors->push_back(required(key_path("data", key)));
}

void check_docker(const Json& data, const char* key, FieldErrors* errors) {
  require_key(data, key, errors);
}

void check_type(const Json& secret, const Json& data, FieldErrors* errors) {
  const std::string& type = text_at(secret, "type");
  if (type == "kubernetes.io/service-account-token") {
    const char* name = "kubernetes.io/service-account.name";
    if (text_at(secret, {"metadata", "annotations", name}).empty()) {
      errors->push_back(required(key_path("metadata.annotations", name)));
    }
  } else if (type == "kubernetes.io/dockercfg") {
    check_docker(data, ".dockercfg", errors);
  } else if (type == "kubernetes.io/dockerconfigjson") {
    check_docker(data, ".dockerconfigjson", errors);
  } else if (type == "kubernetes.io/basic-auth") {
    if (!data.contains("username") && !data.contains("password")) {
      require_key(data, "username", errors);
      require_key(data, "password", errors);
    }
  } else if (type == "kubernetes.io/ssh-auth") {
    require_key(data, "ssh-privatekey", errors);
  } else if (type == "kubernetes.io/tls") {
    require_key(data, "tls.crt", errors);
    require_key(data, "tls.key", errors);
  }
}

class SecretStrategy final : public GenericStrategy {
 public:
  void set_defaults(Json& secret) const override {
    if (!secret.is_object()) return;
    const auto plain = secret.find("stringData");
    if (plain != secret.end()) {
      if (plain->is_object() && !plain->empty()) {
        Json& data = object_in(secret, "data");
        for (const auto& [key, value] : plain->items()) {
          if (value.is_string()) data[key] = base64_encode(value.get_ref<const std::string&>());
        }
      }
      secret.erase("stringData");
    }
    drop_empty(secret, "data");
    default_to(secret, "type", "Opaque");
  }

  FieldErrors validate_create(const Json& secret) const override {
    FieldErrors errors;
    const Json& data = object_or_empty(secret, {"data"});
    std::size_t size = 0;
    for (const auto& [key, value] : data.items()) {
      check_config_key(key, "data", &errors);
      if (value.is_string()) size += value.get_ref<const std::string&>().size() / 4 * 3;
    }
    if (size > data_max) errors.push_back(too_long("data", data_max));
    check_type(secret, data, &errors);
    return errors;
  }

  FieldErrors validate_update(const Json& secret, const Json& old) const override {
    FieldErrors errors;
    check_immutable(secret, old, "type", "", &errors);
    check_frozen(secret, old, {"data"}, &errors);
    for (FieldError& error : validate_create(secret)) errors.push_back(std::move(error));
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Type", "string", "What the secret is for."),
            column("Data", "string", "Number of keys."), age_column()};
  }
  std::vector<Json> cells(const Json& secret, TimePoint now) const override {
    return {name_cell(secret), text_at(secret, "type"), object_or_empty(secret, {"data"}).size(),
            age_cell(secret, now)};
  }
  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& secret) const override {
    return {{"type", text_at(secret, "type")}};
  }
};

}  // namespace

StrategyPtr secret_strategy() {
  return std::make_shared<SecretStrategy>();
}

}  // namespace regatta::manifest::builtin
