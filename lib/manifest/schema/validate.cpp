#include "lib/manifest/schema/validate.h"

#include "lib/manifest/schema/field_path.h"
#include "lib/manifest/schema/format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace regatta::manifest {
namespace {

std::string type_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "object";
    case Json::value_t::array:
      return "array";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "integer";
    default:
      return "number";
  }
}

bool is_whole(const Json& value) {
  if (value.is_number_integer()) return true;
  if (!value.is_number_float()) return false;
  const auto number = value.get<double>();
  return std::isfinite(number) && number == std::trunc(number);
}

bool has_type(const Json& value, SchemaType type) {
  switch (type) {
    case SchemaType::any:
      return true;
    case SchemaType::object:
      return value.is_object();
    case SchemaType::array:
      return value.is_array();
    case SchemaType::string:
      return value.is_string();
    case SchemaType::integer:
      return is_whole(value);
    case SchemaType::number:
      return value.is_number();
    case SchemaType::boolean:
      return value.is_boolean();
  }
  return false;
}

/// A bound as Kubernetes prints it: whole when it is.
std::string number_text(double number) {
  if (number == std::trunc(number) && std::abs(number) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(number));
  }
  return dump_json(Json(number));
}

std::int64_t character_count(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

class Validator {
 public:
  Validator(const std::string& field, FieldErrors& errors) : field_(field), errors_(errors) {}

  void check(const Json& value, const Json* old, const Schema& schema, const FieldPath& at) {
    if (old && *old == value) return;
    if (value.is_null() && schema.nullable) return;
    check_combinations(value, schema, at);
    if (!check_type(value, schema, at)) return;
    if (!schema.enum_values.empty()) check_enum(value, schema, at);
    switch (value.type()) {
      case Json::value_t::object:
        return check_object(value, old, schema, at);
      case Json::value_t::array:
        return check_array(value, old, schema, at);
      case Json::value_t::string:
        return check_string(value, schema, at);
      case Json::value_t::number_integer:
      case Json::value_t::number_unsigned:
      case Json::value_t::number_float:
        return check_number(value, schema, at);
      default:
        return;
    }
  }

 private:
  void add(std::string reason, const FieldPath& at, std::string message) {
    if (errors_.size() >= schema_errors_max) return;
    auto field = join_path(field_, at.text());
    errors_.push_back(
        {std::move(reason), field.empty() ? "<nil>" : std::move(field), std::move(message)});
  }
  /// An error that Kubernetes reports without saying where.
  void add_nowhere(std::string message) {
    if (errors_.size() >= schema_errors_max) return;
    errors_.push_back({"FieldValueInvalid", "<nil>", "Invalid value: \"\": " + std::move(message)});
  }
  void invalid(const FieldPath& at, const Json& shown, const std::string& rule) {
    add("FieldValueInvalid", at,
        "Invalid value: " + dump_json(shown) + ": " + at.text() + " in body " + rule);
  }
  void wrong_type(const FieldPath& at, std::string_view wanted, const std::string& shown) {
    const auto text = dump_json(Json(shown));
    add("FieldValueTypeInvalid", at,
        "Invalid value: " + text + ": " + at.text() + " in body must be of type " +
            std::string(wanted) + ": " + text);
  }

  bool check_type(const Json& value, const Schema& schema, const FieldPath& at) {
    if (schema.int_or_string) {
      if (value.is_string() || is_whole(value)) return true;
      wrong_type(at, "integer,string", type_name(value));
      return false;
    }
    if (has_type(value, schema.type)) return true;
    const bool whole_wanted = schema.type == SchemaType::integer && value.is_number();
    if (whole_wanted && !schema.format.empty()) {
      wrong_type(at, schema.format, "float64");
      check_integer_format(value, schema, at);
      return false;
    }
    wrong_type(at, name_of(schema.type), type_name(value));
    return false;
  }

  void check_integer_format(const Json& value, const Schema& schema, const FieldPath& at) {
    if (schema.format != "int32") return;
    const auto number = value.get<double>();
    const bool fits = number == std::trunc(number) &&
                      number >= std::numeric_limits<std::int32_t>::min() &&
                      number <= std::numeric_limits<std::int32_t>::max();
    if (fits) return;
    add_nowhere("Checked value must be of type integer with format int32 in " + at.text());
  }

  void check_enum(const Json& value, const Schema& schema, const FieldPath& at) {
    if (std::find(schema.enum_values.begin(), schema.enum_values.end(), value) !=
        schema.enum_values.end()) {
      return;
    }
    std::string supported;
    for (const auto& one : schema.enum_values) {
      if (!supported.empty()) supported += ", ";
      supported += dump_json(one);
    }
    add("FieldValueNotSupported", at,
        "Unsupported value: " + dump_json(value) + ": supported values: " + supported);
  }

  void check_object(const Json& value, const Json* old, const Schema& schema, const FieldPath& at) {
    for (const auto& name : schema.required) {
      if (!value.contains(name)) {
        add("FieldValueRequired", at.property(name), "Required value");
      }
    }
    const auto size = static_cast<std::int64_t>(value.size());
    if (schema.min_properties && size < *schema.min_properties) {
      invalid(at, size,
              "should have at least " + std::to_string(*schema.min_properties) + " properties");
    }
    if (schema.max_properties && size > *schema.max_properties)
      too_many(at, size, *schema.max_properties);
    if (schema.embedded_resource) check_embedded(value, at);
    for (auto member = value.begin(); member != value.end(); ++member) {
      const auto* child = schema.member(member.key());
      if (!child) continue;
      check(*member, member_of(old, member.key()), *child, at.property(member.key()));
    }
  }

  static const Json* member_of(const Json* old, const std::string& name) {
    if (!old || !old->is_object()) return nullptr;
    const auto at = old->find(name);
    return at == old->end() ? nullptr : &*at;
  }

  void check_embedded(const Json& value, const FieldPath& at) {
    for (const std::string name : {"apiVersion", "kind"}) {
      const auto field = value.find(name);
      if (field == value.end() ||
          (field->is_string() && field->get_ref<const std::string&>().empty())) {
        add("FieldValueRequired", at.property(name), "Required value: must not be empty");
      }
    }
  }

  void too_many(const FieldPath& at, std::int64_t size, std::int64_t max) {
    add("FieldValueTooMany", at,
        "Too many: " + std::to_string(size) + ": must have at most " + std::to_string(max) +
            " items");
  }

  void check_array(const Json& value, const Json* old, const Schema& schema, const FieldPath& at) {
    if (schema.items) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(value[i], correlated_item(value[i], old, schema), *schema.items, at.item(i));
      }
    }
    const auto size = static_cast<std::int64_t>(value.size());
    if (schema.min_items && size < *schema.min_items) {
      invalid(at, size, "should have at least " + std::to_string(*schema.min_items) + " items");
    }
    if (schema.max_items && size > *schema.max_items) too_many(at, size, *schema.max_items);
    if (schema.unique_items && std::set<Json>(value.begin(), value.end()).size() != value.size()) {
      invalid(at, value, "shouldn't contain duplicates");
    }
    if (schema.list_type == ListType::set) check_set(value, at);
    if (schema.list_type == ListType::map) check_map_list(value, schema, at);
  }

  void check_set(const Json& value, const FieldPath& at) {
    std::set<Json> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (seen.insert(value[i]).second) continue;
      add("FieldValueDuplicate", at.item(i), "Duplicate value: " + dump_json(value[i]));
    }
  }

  void check_map_list(const Json& value, const Schema& schema, const FieldPath& at) {
    std::set<Json> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!value[i].is_object()) continue;
      Json key = Json::object();
      for (const auto& name : schema.list_map_keys) {
        const auto member = value[i].find(name);
        if (member != value[i].end()) key[name] = *member;
      }
      if (key.empty() || seen.insert(key).second) continue;
      add("FieldValueDuplicate", at.item(i), "Duplicate value: " + dump_json(key));
    }
  }

  /// As in Kubernetes, only the first broken bound of a text is reported.
  void check_string(const Json& value, const Schema& schema, const FieldPath& at) {
    const auto& text = value.get_ref<const std::string&>();
    if (schema.max_length || schema.min_length) {
      const auto length = character_count(text);
      if (schema.max_length && length > *schema.max_length) {
        return add(
            "FieldValueTooLong", at,
            "Too long: may not be more than " + std::to_string(*schema.max_length) + " bytes");
      }
      if (schema.min_length && length < *schema.min_length) {
        return invalid(at, value,
                       "should be at least " + std::to_string(*schema.min_length) + " chars long");
      }
    }
    if (!schema.compiled_pattern.search(text)) {
      return invalid(at, value, "should match '" + schema.pattern + "'");
    }
    if (!schema.format.empty() && !has_format(text, schema.format)) {
      wrong_type(at, schema.format, text);
    }
  }

  void check_number(const Json& value, const Schema& schema, const FieldPath& at) {
    if (schema.type == SchemaType::integer) check_integer_format(value, schema, at);
    const auto number = value.get<double>();
    if (schema.minimum &&
        (number < *schema.minimum || (schema.exclusive_minimum && number == *schema.minimum))) {
      invalid(at, value,
              std::string("should be greater than ") +
                  (schema.exclusive_minimum ? "" : "or equal to ") + number_text(*schema.minimum));
    }
    if (schema.maximum &&
        (number > *schema.maximum || (schema.exclusive_maximum && number == *schema.maximum))) {
      invalid(at, value,
              std::string("should be less than ") +
                  (schema.exclusive_maximum ? "" : "or equal to ") + number_text(*schema.maximum));
    }
    if (schema.multiple_of && *schema.multiple_of > 0 &&
        std::remainder(number, *schema.multiple_of) != 0) {
      invalid(at, value, "should be a multiple of " + number_text(*schema.multiple_of));
    }
  }

  bool accepts(const Json& value, const Schema& schema) {
    FieldErrors errors;
    Validator(field_, errors).check(value, nullptr, schema, FieldPath{});
    return errors.empty();
  }

  void check_combinations(const Json& value, const Schema& schema, const FieldPath& at) {
    auto matching = [&](const std::vector<SchemaPtr>& schemas) {
      return std::count_if(schemas.begin(), schemas.end(),
                           [&](const auto& one) { return accepts(value, *one); });
    };
    if (!schema.any_of.empty() && !schema.int_or_string && matching(schema.any_of) == 0) {
      add_nowhere("\"" + at.text() + "\" must validate at least one schema (anyOf)");
    }
    if (!schema.one_of.empty()) {
      const auto found = matching(schema.one_of);
      if (found != 1) {
        add_nowhere("\"" + at.text() + "\" must validate one and only one schema (oneOf). Found " +
                    (found == 0 ? "none valid" : std::to_string(found) + " valid alternatives"));
      }
    }
    for (const auto& one : schema.all_of) check(value, nullptr, *one, at);
    if (schema.not_schema && accepts(value, *schema.not_schema)) {
      add_nowhere("\"" + at.text() + "\" must not validate the schema (not)");
    }
  }

  const std::string& field_;
  FieldErrors& errors_;
};

}  // namespace

void validate_schema(const Json& value, const Json* old, const Schema& schema,
                     const std::string& field, FieldErrors& errors) {
  Validator(field, errors).check(value, old, schema, FieldPath{});
}

bool blocks_rules(const FieldErrors& errors) {
  return std::any_of(errors.begin(), errors.end(), [](const FieldError& error) {
    return error.reason == "FieldValueTypeInvalid" || error.reason == "FieldValueRequired" ||
           error.reason == "FieldValueNotSupported" || error.reason == "FieldValueTooLong" ||
           error.reason == "FieldValueTooMany";
  });
}

FieldError rules_not_checked() {
  return {"FieldValueInvalid", "<nil>",
          "Invalid value: null: some validation rules were not checked because the object was "
          "invalid; correct the existing errors to complete validation"};
}

const Json* correlated_item(const Json& item, const Json* old, const Schema& list_schema) {
  if (!old || !old->is_array() || list_schema.list_type != ListType::map || !item.is_object()) {
    return nullptr;
  }
  auto same_key = [&](const Json& candidate) {
    if (!candidate.is_object()) return false;
    return std::all_of(list_schema.list_map_keys.begin(), list_schema.list_map_keys.end(),
                       [&](const std::string& key) {
                         const auto a = item.find(key), b = candidate.find(key);
                         if (a == item.end() || b == candidate.end()) {
                           return a == item.end() && b == candidate.end();
                         }
                         return *a == *b;
                       });
  };
  const auto at = std::find_if(old->begin(), old->end(), same_key);
  return at == old->end() ? nullptr : &*at;
}

}  // namespace regatta::manifest
