#include "lib/api/validation.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

class RuntimeClassStrategy final : public GenericStrategy {
 public:
  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    const std::string& handler = text_at(object, "handler");
    for (const std::string& complaint : api::check_dns1123_label(handler)) {
      errors.push_back(invalid("handler", handler, complaint));
    }
    return errors;
  }
  FieldErrors validate_update(const Json& object, const Json& old) const override {
    FieldErrors errors = validate_create(object);
    check_immutable(object, old, "handler", "", &errors);
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Handler", "string", "What the nodes call the runtime."),
            age_column()};
  }
  std::vector<Json> cells(const Json& object, TimePoint now) const override {
    return {name_cell(object), text_at(object, "handler"), age_cell(object, now)};
  }
};

}  // namespace

StrategyPtr runtime_class_strategy() {
  return std::make_shared<RuntimeClassStrategy>();
}

}  // namespace regatta::manifest::builtin
