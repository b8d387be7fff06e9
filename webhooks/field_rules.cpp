#include "webhooks/field_rules.h"

#include "lib/api/validation.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::webhooks {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_reason(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  const auto inner = [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == ',' || c == ':';
  };
  return std::all_of(text.begin(), text.end(), inner) && text.back() != ',' && text.back() != ':';
}

void check_reason(const std::string& reason, const std::string& path, api::ErrorList* errors) {
  if (reason.empty()) return errors->required(path);
  if (!is_reason(reason)) {
    errors->invalid(path, api::in_quotes(reason),
                    "a condition reason must start with alphabetic character, optionally followed "
                    "by a string of alphanumeric characters or '_,:', and must end with an "
                    "alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
                    "or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
                    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
  }
  if (reason.size() > condition_reason_max) errors->too_long(path, condition_reason_max);
}

void check_condition(const Json& condition, const std::string& path, api::ErrorList* errors) {
  static const std::vector<std::string> statuses = {"False", "True", "Unknown"};
  check_label_name(text_at(condition, "type"), path + ".type", errors);
  const std::string& status = text_at(condition, "status");
  if (std::find(statuses.begin(), statuses.end(), status) == statuses.end()) {
    errors->not_supported(path + ".status", api::json_quotes(status), statuses);
  }
  const std::int64_t generation = integer_at(condition, "observedGeneration").value_or(0);
  if (generation < 0) {
    errors->invalid(path + ".observedGeneration", std::to_string(generation),
                    "must be greater than or equal to zero");
  }
  const std::string& time = text_at(condition, "lastTransitionTime");
  if (time.empty() || time == "0001-01-01T00:00:00Z") {
    errors->required(path + ".lastTransitionTime");
  }
  check_reason(text_at(condition, "reason"), path + ".reason", errors);
  if (text_at(condition, "message").size() > condition_message_max) {
    errors->too_long(path + ".message", condition_message_max);
  }
}

void check_requirement(const Json& requirement, const std::string& path, api::ErrorList* errors) {
  const std::string& op = text_at(requirement, "operator");
  const Json& values = list_or_empty(requirement, "values");
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      errors->required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      errors->forbidden(path + ".values",
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    errors->invalid(path + ".operator", api::json_quotes(op), "not a valid selector operator");
  }
  check_label_name(text_at(requirement, "key"), path + ".key", errors);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& value = values[i].get_ref<const std::string&>();
    errors->invalid_each(api::at(path + ".values", i), value, api::check_label_value(value));
  }
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

api::Quantity quantity_of(const Json* value) {
  if (!value || !value->is_string()) return {};
  return api::Quantity::parse(value->get_ref<const std::string&>()).value();
}

void check_not_negative(const api::Quantity& quantity, const std::string& path,
                        api::ErrorList* errors) {
  if (quantity.is_negative()) errors->invalid(path, api::in_quotes(quantity.str()), negative);
}

void check_label_name(const std::string& key, const std::string& path, api::ErrorList* errors) {
  errors->invalid_each(path, key, api::check_label_key(key));
}

void check_labels(const Json& parent, const std::string& name, const std::string& path,
                  api::ErrorList* errors) {
  for (const auto& [key, value] : object_or_empty(parent, {name}).items()) {
    check_label_name(key, path, errors);
    const auto& text = value.get_ref<const std::string&>();
    errors->invalid_each(path, text, api::check_label_value(text));
  }
}

void check_annotations(const Json& parent, const std::string& name, const std::string& path,
                       api::ErrorList* errors) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : object_or_empty(parent, {name}).items()) {
    errors->invalid_each(path, key, api::check_label_key(lower_case(key)));
    bytes += key.size() + value.get_ref<const std::string&>().size();
  }
  if (bytes > annotation_bytes_max) errors->too_long(path, annotation_bytes_max);
}

void check_selector(const Json& selector, const std::string& path, api::ErrorList* errors) {
  check_labels(selector, "matchLabels", path + ".matchLabels", errors);
  const Json& requirements = list_or_empty(selector, "matchExpressions");
  for (std::size_t i = 0; i < requirements.size(); ++i) {
    check_requirement(requirements[i], api::at(path + ".matchExpressions", i), errors);
  }
}

void check_tolerations(const Json& parent, const std::string& path, api::ErrorList* errors) {
  const Json& tolerations = list_or_empty(parent, "tolerations");
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const std::string& key = text_at(tolerations[i], "key");
    if (!key.empty()) check_label_name(key, api::at(path, i) + ".key", errors);
  }
}

void check_conditions(const Json& status, const std::string& path, api::ErrorList* errors) {
  std::set<std::string> types;
  const Json& conditions = list_or_empty(status, "conditions");
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string& type = text_at(conditions[i], "type");
    const std::string here = api::at(path, i);
    if (!types.insert(type).second) errors->duplicate(here + ".type", api::in_quotes(type));
    check_condition(conditions[i], here, errors);
  }
}

void check_weight(const Json& spec, api::ErrorList* errors) {
  const Json* weight = member(spec, {"fairSharing", "weight"});
  if (!weight) return;
  static const api::Quantity smallest = api::Quantity::parse("1n").value();
  const std::string field = "spec.fairSharing";
  const api::Quantity quantity = quantity_of(weight);
  check_not_negative(quantity, field, errors);
  if (quantity > api::Quantity() && quantity <= smallest) {
    errors->invalid(field, api::in_quotes(quantity.str()), "When not 0, weight must be > 10e-9");
  }
}

}  // namespace regatta::webhooks
