#include "lib/manifest/cel/value.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace regatta::manifest::cel {
namespace {

Value from_string(const Json& json, const Schema* schema) {
  const auto& text = json.get_ref<const std::string&>();
  if (schema && !schema->format.empty()) {
    if (schema->format == "date-time" || schema->format == "date") {
      const auto full = schema->format == "date" ? text + "T00:00:00Z" : text;
      if (const auto time = parse_timestamp(full)) return Value(*time);
    } else if (schema->format == "duration") {
      if (const auto duration = parse_duration(text)) return Value(*duration);
    }
  }
  return Value(Text{text, nullptr});
}

bool equal_lists(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  const auto* json = a.as<JsonRef>();
  const bool ordered = !json || !json->schema || !json->schema->list_type ||
                       *json->schema->list_type == ListType::atomic;
  std::vector<bool> taken(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto item = a.item(i);
    if (i < b.size() && !taken[i] && item == b.item(i)) {
      taken[i] = true;
      continue;
    }
    if (ordered) return false;
    std::size_t at = 0;
    while (at < b.size() && (taken[at] || !(item == b.item(at)))) ++at;
    if (at == b.size()) return false;
    taken[at] = true;
  }
  return true;
}

bool equal_maps(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  for (const auto& key : a.keys()) {
    const auto left = a.member(key);
    const auto right = b.member(key);
    if (!left || !right || !(*left == *right)) return false;
  }
  return true;
}

template <class T>
int sign_of(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

Value Value::text(std::string owned) {
  auto shared = std::make_shared<const std::string>(std::move(owned));
  const std::string_view view = *shared;
  return Value(Text{view, std::move(shared)});
}

Value Value::failure(std::string what) {
  return Value(Failure{std::make_shared<const std::string>(std::move(what))});
}

Value Value::list(std::vector<Value> items) {
  return Value(ListPtr(std::make_shared<const std::vector<Value>>(std::move(items))));
}

Value Value::from_json(const Json& json, const Schema* schema) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::string:
      return from_string(json, schema);
    case Json::value_t::object:
    case Json::value_t::array:
      return Value(JsonRef{&json, schema});
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      if (schema && schema->type == SchemaType::number) return Value(json.get<double>());
      return Value(json.get<std::int64_t>());
    case Json::value_t::number_float: {
      const auto number = json.get<double>();
      const bool whole = schema && schema->type == SchemaType::integer &&
                         number == std::trunc(number) && std::abs(number) < 9e18;
      if (whole) return Value(static_cast<std::int64_t>(number));
      return Value(number);
    }
    default:
      return {};
  }
}

std::optional<std::string_view> Value::string() const {
  if (const auto* text = as<Text>()) return text->view;
  return std::nullopt;
}

std::optional<bool> Value::boolean() const {
  if (const auto* value = as<bool>()) return *value;
  return std::nullopt;
}

bool Value::is_number() const {
  return as<std::int64_t>() || as<std::uint64_t>() || as<double>();
}

double Value::number() const {
  if (const auto* value = as<std::int64_t>()) return static_cast<double>(*value);
  if (const auto* value = as<std::uint64_t>()) return static_cast<double>(*value);
  if (const auto* value = as<double>()) return *value;
  return 0;
}

bool Value::is_list() const {
  const auto* json = as<JsonRef>();
  return json ? json->json->is_array() : as<ListPtr>() != nullptr;
}

bool Value::is_map() const {
  const auto* json = as<JsonRef>();
  return json ? json->json->is_object() : as<MapPtr>() != nullptr;
}

std::size_t Value::size() const {
  if (const auto* json = as<JsonRef>()) return json->json->size();
  if (const auto* list = as<ListPtr>()) return (*list)->size();
  if (const auto* map = as<MapPtr>()) return (*map)->size();
  return 0;
}

Value Value::item(std::size_t index) const {
  if (const auto* json = as<JsonRef>()) {
    return from_json((*json->json)[index], json->schema ? json->schema->items.get() : nullptr);
  }
  return (**as<ListPtr>())[index];
}

std::vector<Value> Value::keys() const {
  std::vector<Value> out;
  if (const auto* json = as<JsonRef>(); json && json->json->is_object()) {
    for (auto member = json->json->begin(); member != json->json->end(); ++member) {
      out.emplace_back(Text{member.key(), nullptr});
    }
  } else if (const auto* map = as<MapPtr>()) {
    for (const auto& [key, value] : **map) out.push_back(key);
  }
  return out;
}

std::optional<Value> Value::member(std::string_view key) const {
  if (const auto* json = as<JsonRef>()) {
    if (!json->json->is_object()) return std::nullopt;
    const auto at = json->json->find(key);
    if (at == json->json->end()) return std::nullopt;
    return from_json(*at, json->schema ? json->schema->member(key) : nullptr);
  }
  return member(Value(Text{key, nullptr}));
}

std::optional<Value> Value::member(const Value& key) const {
  if (as<JsonRef>()) {
    const auto text = key.string();
    return text ? member(*text) : std::nullopt;
  }
  if (const auto* map = as<MapPtr>()) {
    for (const auto& [known, value] : **map) {
      if (known == key) return value;
    }
  }
  return std::nullopt;
}

std::string_view Value::type_name() const {
  if (is_list()) return "list";
  if (is_map()) return "map";
  if (as<std::nullptr_t>()) return "null_type";
  if (as<bool>()) return "bool";
  if (as<std::int64_t>()) return "int";
  if (as<std::uint64_t>()) return "uint";
  if (as<double>()) return "double";
  if (as<Text>()) return "string";
  if (as<Bytes>()) return "bytes";
  if (as<Timestamp>()) return "google.protobuf.Timestamp";
  if (as<Duration>()) return "google.protobuf.Duration";
  if (as<QuantityValue>()) return "kubernetes.Quantity";
  if (as<TypeName>()) return "type";
  if (as<OptionalValue>()) return "optional_type";
  return "error";
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_list()) return b.is_list() && equal_lists(a, b);
  if (a.is_map()) return b.is_map() && equal_maps(a, b);
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  if (a.as<bool>() && b.as<bool>()) return *a.as<bool>() == *b.as<bool>();
  if (a.as<TypeName>() && b.as<TypeName>()) return a.as<TypeName>()->name == b.as<TypeName>()->name;
  if (a.as<OptionalValue>() && b.as<OptionalValue>()) {
    const auto &left = a.as<OptionalValue>()->value, &right = b.as<OptionalValue>()->value;
    return left && right ? *left == *right : left == right;
  }
  const auto order = compare(a, b);
  return order && *order == 0;
}

std::optional<int> compare(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.as<std::int64_t>() && b.as<std::int64_t>()) {
      return sign_of(*a.as<std::int64_t>(), *b.as<std::int64_t>());
    }
    if (a.as<std::uint64_t>() && b.as<std::uint64_t>()) {
      return sign_of(*a.as<std::uint64_t>(), *b.as<std::uint64_t>());
    }
    const auto left = a.number(), right = b.number();
    if (std::isnan(left) || std::isnan(right)) return std::nullopt;
    return sign_of(left, right);
  }
  if (const auto left = a.string()) {
    const auto right = b.string();
    if (!right) return std::nullopt;
    return sign_of(*left, *right);
  }
  if (a.as<bool>() && b.as<bool>()) return sign_of(*a.as<bool>(), *b.as<bool>());
  if (a.as<Bytes>() && b.as<Bytes>()) return sign_of(a.as<Bytes>()->bytes, b.as<Bytes>()->bytes);
  if (a.as<Timestamp>() && b.as<Timestamp>()) {
    return sign_of(a.as<Timestamp>()->nanoseconds, b.as<Timestamp>()->nanoseconds);
  }
  if (a.as<Duration>() && b.as<Duration>()) {
    return sign_of(a.as<Duration>()->nanoseconds, b.as<Duration>()->nanoseconds);
  }
  if (const auto *left = a.as<QuantityValue>(), *right = b.as<QuantityValue>(); left && right) {
    if (std::abs(left->units) > 9e18L || std::abs(right->units) > 9e18L) {
      return sign_of(left->units, right->units);
    }
    return sign_of(std::pair(left->whole, left->nanos), std::pair(right->whole, right->nanos));
  }
  return std::nullopt;
}

}  // namespace regatta::manifest::cel
