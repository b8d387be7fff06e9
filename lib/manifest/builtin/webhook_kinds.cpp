#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/cel/program.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manifest::builtin {
namespace {

constexpr std::int64_t timeout_seconds_max = 30;

void check_url(const Json& client, const std::string& path, FieldErrors* errors) {
  const std::string& url = text_at(client, "url");
  const bool service = object_at(client, "service") != nullptr;
  if (url.empty() == !service) {
    errors->push_back(required(path, "exactly one of url or service is required"));
    return;
  }
  if (url.empty()) return;
  const std::string scheme = url.substr(0, url.find("://"));
  if (scheme != "https") {
    errors->push_back(
        invalid(path + ".url", scheme,
                "'https' is the only allowed URL scheme; desired format: https://host[/path]"));
  }
}

void check_review_versions(const Json& hook, const std::string& path, FieldErrors* errors) {
  const Json& versions = list_or_empty(hook, "admissionReviewVersions");
  if (versions.empty()) {
    errors->push_back(required(path, "must specify one of v1, v1beta1"));
    return;
  }
  const bool known = std::any_of(versions.begin(), versions.end(), [](const Json& version) {
    return version == "v1" || version == "v1beta1";
  });
  if (!known) {
    std::string shown;
    for (const Json& version : versions) shown += (shown.empty() ? "" : ",") + version.dump();
    errors->push_back({"FieldValueInvalid", path,
                       "Invalid value: [" + shown + "]: must include at least one of v1, v1beta1"});
  }
}

void check_conditions(const Json& hook, const std::string& path, FieldErrors* errors) {
  const Json& conditions = list_or_empty(hook, "matchConditions");
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string& expression = text_at(conditions[i], "expression");
    const Result<cel::Program> program =
        cel::Program::compile(expression, {{"object", {}}, {"oldObject", {}}, {"request", {}}});
    if (program) continue;
    errors->push_back(invalid(index_path(path + ".matchConditions", i) + ".expression", expression,
                              "compilation failed: " + program.error().what()));
  }
}

void check_hook(const Json& hook, const std::string& path, FieldErrors* errors) {
  const std::string& name = text_at(hook, "name");
  if (std::count(name.begin(), name.end(), '.') < 2) {
    errors->push_back(invalid(path + ".name", name,
                              "should be a domain with at least three segments separated by dots"));
  }
  const std::string& effects = text_at(hook, "sideEffects");
  if (effects.empty()) {
    errors->push_back(required(path + ".sideEffects", "must specify one of None, NoneOnDryRun"));
  } else if (effects != "None" && effects != "NoneOnDryRun") {
    errors->push_back(not_supported(path + ".sideEffects", effects, {"None", "NoneOnDryRun"}));
  }
  const auto timeout = integer_at(hook, "timeoutSeconds");
  if (timeout && (*timeout < 1 || *timeout > timeout_seconds_max)) {
    errors->push_back(invalid(path + ".timeoutSeconds", *timeout,
                              "the timeout value must be between 1 and 30 seconds"));
  }
  check_url(object_or_empty(hook, {"clientConfig"}), path + ".clientConfig", errors);
  check_review_versions(hook, path + ".admissionReviewVersions", errors);
  check_conditions(hook, path, errors);
}

class WebhookConfigurationStrategy final : public GenericStrategy {
 public:
  explicit WebhookConfigurationStrategy(bool mutating)
      : GenericStrategy({.generation = true, .versioned = "webhooks"}), mutating_(mutating) {}

  void set_defaults(Json& object) const override {
    const auto hooks = object.find("webhooks");
    if (hooks == object.end() || !hooks->is_array()) return;
    for (Json& hook : *hooks) {
      if (!hook.is_object()) continue;
      default_to(hook, "failurePolicy", "Fail");
      default_to(hook, "matchPolicy", "Equivalent");
      default_to(hook, "timeoutSeconds", std::int64_t{10});
      if (mutating_) default_to(hook, "reinvocationPolicy", "Never");
      default_object(hook, "namespaceSelector");
      default_object(hook, "objectSelector");
      if (object_at(object_or_empty(hook, {"clientConfig"}), "service")) {
        default_to(hook["clientConfig"]["service"], "port", std::int64_t{443});
      }
      if (!list_at(hook, "rules")) continue;
      for (Json& rule : hook["rules"]) {
        if (rule.is_object()) default_to(rule, "scope", "*");
      }
    }
  }

  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    const Json& hooks = list_or_empty(object, "webhooks");
    for (std::size_t i = 0; i < hooks.size(); ++i) {
      check_hook(hooks[i], index_path("webhooks", i), &errors);
    }
    return errors;
  }
  FieldErrors validate_update(const Json& object, const Json&) const override {
    return validate_create(object);
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Webhooks", "integer", "Number of webhooks."), age_column()};
  }
  std::vector<Json> cells(const Json& object, TimePoint now) const override {
    return {name_cell(object), list_or_empty(object, "webhooks").size(), age_cell(object, now)};
  }

 private:
  bool mutating_;
};

}  // namespace

StrategyPtr webhook_configuration_strategy(bool mutating) {
  return std::make_shared<WebhookConfigurationStrategy>(mutating);
}

}  // namespace regatta::manifest::builtin
