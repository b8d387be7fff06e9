#include "manager/config/strict_reader.h"

#include "lib/base/json_access.h"
#include "lib/base/near_miss.h"
#include "manager/config/duration.h"

#include <algorithm>
#include <limits>

namespace regatta::manager {

StrictReader::StrictReader(const Json& value, std::string path, ReadContext* context)
    : object_(&value), path_(std::move(path)), context_(context) {
  if (value.is_object()) return;
  wrong_type(value, path_, "an object", context);
  static const Json nothing = Json::object();
  object_ = &nothing;
}

std::string StrictReader::at(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

const Json* StrictReader::take(std::string_view name) {
  known_.push_back(name);
  return member(*object_, name);
}

void StrictReader::require(std::string_view name) {
  const Json* value = member(*object_, name);
  if (!value || *value == "") {
    context_->problems.push_back(at(name) + ": Required value");
  }
}

void StrictReader::finish() {
  for (const auto& [name, value] : object_->items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    context_->problems.push_back(at(name) + ": unknown field" + did_you_mean(name, known_));
  }
}

void wrong_type(const Json& value, const std::string& path, std::string_view wanted,
                ReadContext* context) {
  context->problems.push_back((path.empty() ? "the document" : path) + ": expected " +
                              std::string(wanted) + ", got " + value.type_name());
}

void read_value(const Json& value, const std::string& path, ReadContext* context, bool* out) {
  if (!value.is_boolean()) return wrong_type(value, path, "true or false", context);
  *out = value.get<bool>();
}

void read_value(const Json& value, const std::string& path, ReadContext* context,
                std::int64_t* out) {
  if (!value.is_number_integer()) return wrong_type(value, path, "an integer", context);
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    context->problems.push_back(path + ": the number is too large");
    return;
  }
  *out = value.get<std::int64_t>();
}

void read_value(const Json& value, const std::string& path, ReadContext* context, int* out) {
  std::int64_t wide = *out;
  read_value(value, path, context, &wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    context->problems.push_back(path + ": the number is too large");
    return;
  }
  *out = static_cast<int>(wide);
}

void read_value(const Json& value, const std::string& path, ReadContext* context, double* out) {
  if (!value.is_number()) return wrong_type(value, path, "a number", context);
  *out = value.get<double>();
}

void read_value(const Json& value, const std::string& path, ReadContext* context,
                std::string* out) {
  if (!value.is_string()) return wrong_type(value, path, "a string", context);
  *out = value.get<std::string>();
}

void read_value(const Json& value, const std::string& path, ReadContext* context, Duration* out) {
  if (!value.is_string()) return wrong_type(value, path, "a duration such as \"15m\"", context);
  const auto duration = parse_duration(value.get_ref<const std::string&>());
  if (duration) {
    *out = *duration;
  } else {
    context->problems.push_back(path + ": " + duration.error().what());
  }
}

void read_value(const Json& value, const std::string& path, ReadContext* context,
                api::Quantity* out) {
  const bool readable = value.is_string() || value.is_number();
  if (!readable) return wrong_type(value, path, "a quantity", context);
  const auto quantity =
      api::Quantity::parse(value.is_string() ? value.get<std::string>() : value.dump());
  if (quantity) {
    *out = *quantity;
  } else {
    context->problems.push_back(path + ": " + quantity.error().what());
  }
}

namespace {

void read_value(const Json& value, const std::string& path, ReadContext* context,
                api::LabelSelectorRequirement* out) {
  StrictReader reader(value, path, context);
  reader.field("key", &out->key);
  reader.field("operator", &out->op);
  reader.field("values", &out->values);
  reader.finish();
}

}  // namespace

void read_value(const Json& value, const std::string& path, ReadContext* context,
                api::LabelSelector* out) {
  StrictReader reader(value, path, context);
  reader.field("matchLabels", &out->match_labels);
  if (const Json* expressions = reader.take("matchExpressions")) {
    if (!expressions->is_array()) {
      return wrong_type(*expressions, reader.at("matchExpressions"), "a list", context);
    }
    for (std::size_t i = 0; i < expressions->size(); ++i) {
      read_value((*expressions)[i], reader.at("matchExpressions") + "[" + std::to_string(i) + "]",
                 context, &out->match_expressions.emplace_back());
    }
  }
  reader.finish();
  const auto compiled = api::Selector::from(*out);
  if (!compiled) context->problems.push_back(path + ": " + compiled.error().what());
}

void read_choice(const Json& value, const std::string& path, ReadContext* context,
                 const std::vector<std::string_view>& texts, std::size_t* out) {
  if (!value.is_string()) return wrong_type(value, path, "a string", context);
  const auto& text = value.get_ref<const std::string&>();
  const auto it = std::find(texts.begin(), texts.end(), text);
  if (it != texts.end()) {
    *out = static_cast<std::size_t>(it - texts.begin());
    return;
  }
  std::string supported;
  for (const auto& choice : texts) {
    supported += (supported.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
  }
  context->problems.push_back(path + ": Unsupported value: \"" + text +
                              "\": supported values: " + supported);
}

}  // namespace regatta::manager
