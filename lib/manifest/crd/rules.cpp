#include "lib/manifest/crd/rules.h"

#include "lib/api/field_errors.h"
#include "lib/manifest/schema/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace regatta::manifest {
namespace {

using cel::Value;

std::string go_rule(const ValidationRule& rule) {
  const auto text = api::json_quotes;
  return "{\"Rule\":" + text(rule.rule) + ",\"Message\":" + text(rule.message) +
         ",\"MessageExpression\":" + text(rule.message_expression) +
         ",\"Reason\":" + (rule.reason.empty() ? "null" : text(rule.reason)) +
         ",\"FieldPath\":" + text(rule.field_path) + ",\"OptionalOldSelf\":" +
         (!rule.optional_old_self   ? "null"
          : *rule.optional_old_self ? "true"
                                    : "false") +
         "}";
}

/// The message of a broken rule: `Forbidden: …`, or with the value if it is a scalar.
std::string cause_message(const std::string& reason, const Json& value, const std::string& text) {
  const bool shown = !value.is_structured();
  if (reason == "FieldValueForbidden") return "Forbidden: " + text;
  if (reason == "FieldValueRequired") return "Required value: " + text;
  if (reason == "FieldValueDuplicate") {
    return "Duplicate value: " + (shown ? dump_json(value) : text);
  }
  return "Invalid value: " + (shown ? dump_json(value) + ": " : "") + text;
}

/// The message of a rule that could not be evaluated, with the type in the place of the value.
std::string failure_message(const Schema& schema, const ValidationRule& rule,
                            const std::string& what) {
  const std::string named = rule.message.empty() ? rule.rule : rule.message;
  const std::string head = "Invalid value: \"" + std::string(name_of(schema.type)) + "\": ";
  if (what.starts_with("no such overload")) {
    return head + "'" + what +
           "': call arguments did not match a supported operator, function or macro signature for "
           "rule: " +
           named;
  }
  return head + what + " evaluating rule: " + named;
}

constexpr std::string_view exceeds_budget =
    "exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, "
    "maxProperties, and maxLength where arrays, maps, and strings are declared)";

void forbidden(FieldErrors& errors, std::string field, const std::string& why) {
  errors.push_back({"FieldValueForbidden", std::move(field), "Forbidden: " + why});
}

/// `.a['b']` below a field as errors name it: `field.a[b]`.
std::string below(const std::string& field, std::string_view path) {
  std::string out = field;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\'' || path[i] == '"') continue;
    if (path[i] == '.' && out.empty()) continue;
    out.push_back(path[i]);
  }
  return out;
}

const Json* member_of(const Json* old, std::string_view name) {
  if (!old || !old->is_object()) return nullptr;
  const auto at = old->find(name);
  return at == old->end() ? nullptr : &*at;
}

}  // namespace

SchemaRules SchemaRules::compile(const Schema& schema, const std::string& path,
                                 FieldErrors& errors) {
  SchemaRules out;
  if (!schema.rules_below) return out;
  const auto before = errors.size();
  out.root_ = build(schema, path, true, errors);
  const bool too_costly =
      std::any_of(errors.begin() + static_cast<std::ptrdiff_t>(before), errors.end(),
                  [](const FieldError& error) { return error.reason == "FieldValueForbidden"; });
  if (too_costly) {
    forbidden(errors, path,
              "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema " +
                  std::string(exceeds_budget));
  }
  return out;
}

std::unique_ptr<const SchemaRules::Node> SchemaRules::build(const Schema& schema,
                                                            const std::string& path,
                                                            bool correlated, FieldErrors& errors) {
  auto node = std::make_unique<Node>();
  node->schema = &schema;
  for (std::size_t i = 0; i < schema.rules.size(); ++i) {
    auto rule = compile_rule(schema, schema.rules[i],
                             path + ".x-kubernetes-validations[" + std::to_string(i) + "]",
                             correlated, errors);
    if (rule) node->rules.push_back(std::move(*rule));
  }
  for (const auto& [name, child] : schema.properties) {
    if (!child->rules_below) continue;
    node->properties[name] = build(*child, path + ".properties[" + name + "]", correlated, errors);
  }
  if (schema.items && schema.items->rules_below) {
    node->items = build(*schema.items, path + ".items",
                        correlated && schema.list_type == ListType::map, errors);
  }
  if (schema.additional_properties && schema.additional_properties->rules_below) {
    node->members =
        build(*schema.additional_properties, path + ".additionalProperties", correlated, errors);
  }
  return node;
}

std::optional<SchemaRules::Rule> SchemaRules::compile_rule(const Schema& schema,
                                                           const ValidationRule& source,
                                                           const std::string& path, bool correlated,
                                                           FieldErrors& errors) {
  if (source.rule.empty()) {
    errors.push_back(
        {"FieldValueRequired", path + ".rule", "Required value: rule is not specified"});
    return std::nullopt;
  }
  auto invalid = [&](const char* field, const std::string& why) {
    errors.push_back(
        {"FieldValueInvalid", path + field, "Invalid value: " + go_rule(source) + ": " + why});
  };
  const auto self = cel::Type::of(&schema);
  auto old_self = self;
  if (source.optional_old_self == true) {
    old_self = {.kind = cel::Kind::optional, .element = std::make_shared<const cel::Type>(self)};
  }
  const std::vector<cel::Variable> variables = {{"self", self}, {"oldSelf", old_self}};
  auto program = cel::Program::compile(source.rule, variables);
  if (!program) {
    invalid(".rule", "compilation failed: " + program.error().what());
    return std::nullopt;
  }
  const auto kind = program->type().kind;
  if (kind != cel::Kind::boolean && kind != cel::Kind::dynamic) {
    invalid(".rule", "cel expression must evaluate to a bool");
    return std::nullopt;
  }
  Rule rule{.source = source, .program = std::move(*program)};
  rule.transition = rule.program.uses("oldSelf");
  if (rule.transition && !correlated) {
    invalid(".rule",
            "oldSelf cannot be used on the uncorrelatable portion of the schema within " + path);
    return std::nullopt;
  }
  if (!source.message_expression.empty()) {
    auto message = cel::Program::compile(source.message_expression, variables);
    if (!message) {
      invalid(".messageExpression",
              "messageExpression compilation failed: " + message.error().what());
      return std::nullopt;
    }
    if (message->type().kind != cel::Kind::string && message->type().kind != cel::Kind::dynamic) {
      invalid(".messageExpression", "messageExpression must evaluate to a string");
      return std::nullopt;
    }
    if (message->joins_unbounded_texts()) {
      forbidden(errors, path + ".messageExpression",
                "estimated messageExpression cost " + std::string(exceeds_budget));
      forbidden(errors, path + ".messageExpression",
                "contributed to estimated rule cost total exceeding cost limit for entire "
                "OpenAPIv3 schema");
      return std::nullopt;
    }
    rule.message = std::move(*message);
  }
  return rule;
}

void SchemaRules::check(const Json& value, const Json* old, FieldErrors& errors) const {
  if (!root_) return;
  Walk walk{.errors = errors};
  check_node(*root_, value, old, FieldPath{}, walk);
}

void SchemaRules::check_node(const Node& node, const Json& value, const Json* old,
                             const FieldPath& at, Walk& walk) {
  if (value.is_null() || walk.budget.exhausted) return;
  if (!node.rules.empty()) {
    const bool unchanged = old && *old == value;
    for (const auto& rule : node.rules) {
      if (rule.transition ? (!old && rule.source.optional_old_self != true) : unchanged) continue;
      check_rule(node, rule, value, old, at, walk);
    }
  }
  if (value.is_object()) {
    for (const auto& [name, child] : node.properties) {
      const auto member = value.find(name);
      if (member != value.end()) {
        check_node(*child, *member, member_of(old, name), at.property(name), walk);
      }
    }
    if (!node.members) return;
    for (auto member = value.begin(); member != value.end(); ++member) {
      if (node.schema->properties.contains(member.key())) continue;
      check_node(*node.members, *member, member_of(old, member.key()), at.map_key(member.key()),
                 walk);
    }
  } else if (value.is_array() && node.items) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      check_node(*node.items, value[i], correlated_item(value[i], old, *node.schema), at.item(i),
                 walk);
    }
  }
}

void SchemaRules::check_rule(const Node& node, const Rule& rule, const Json& value, const Json* old,
                             const FieldPath& at, Walk& walk) {
  if (walk.errors.size() >= schema_errors_max) return;
  std::array<Value, 2> values = {Value::from_json(value, node.schema), Value()};
  if (rule.source.optional_old_self == true) {
    values[1] = old ? Value(cel::OptionalValue{
                          std::make_shared<const Value>(Value::from_json(*old, node.schema))})
                    : Value(cel::OptionalValue{});
  } else if (old) {
    values[1] = Value::from_json(*old, node.schema);
  }
  const auto answer = rule.program.evaluate(values, walk.budget);
  if (answer.boolean() == true) return;
  if (const auto* failure = answer.as<cel::Failure>()) {
    walk.errors.push_back({"FieldValueInvalid", at.text(true).empty() ? "<nil>" : at.text(true),
                           failure_message(*node.schema, rule.source, *failure->what)});
    return;
  }

  auto text =
      rule.source.message.empty() ? "failed rule: " + rule.source.rule : rule.source.message;
  if (rule.message) {
    const auto made = rule.message->evaluate(values, walk.budget);
    const auto message = made.string();
    if (message && !message->empty() && message->find('\n') == std::string_view::npos) {
      text = std::string(*message);
    }
  }
  auto field = below(at.text(true), rule.source.field_path);
  if (field.empty()) field = "<nil>";
  const auto reason = rule.source.reason.empty() ? "FieldValueInvalid" : rule.source.reason;
  walk.errors.push_back({reason, std::move(field), cause_message(reason, value, text)});
}

}  // namespace regatta::manifest
