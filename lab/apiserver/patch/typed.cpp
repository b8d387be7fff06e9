#include "lab/apiserver/patch/typed.h"

#include "lab/terms.h"
#include "lib/manifest/fields/go_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::apiserver {
namespace {

bool is_quantity(const Schema& schema) {
  return schema.ref_name.ends_with("resource.Quantity");
}

bool is_scalar_of_any_type(const Schema& schema) {
  return schema.int_or_string || is_quantity(schema);
}

bool is_builtin(const Schema& schema) {
  return schema.ref_name.starts_with("io.k8s.");
}

/// The default of a key field that an item leaves out; null when there is none.
const Json* key_default(const Schema& item, const std::string& key) {
  static const Json empty_string = "";
  const Schema* schema = item.member(key);
  if (!schema) return nullptr;
  if (schema->default_value) return schema->default_value.get();
  bool required = std::find(item.required.begin(), item.required.end(), key) != item.required.end();
  bool zero = is_builtin(item) && required && schema->type == SchemaType::string;
  return zero ? &empty_string : nullptr;
}

Result<std::string> key_element(const Schema& list, const Json& item) {
  if (item.is_null()) {
    return Error(Errc::invalid, "associative list with keys may not have a null element");
  }
  if (!item.is_object()) {
    return Error(Errc::invalid, "associative list with keys may not have non-map elements");
  }
  std::vector<std::string> keys = list.list_map_keys;
  std::sort(keys.begin(), keys.end());
  std::string element = "k:{";
  for (const std::string& key : keys) {
    auto found = item.find(key);
    const Json* value = found != item.end() ? &*found : nullptr;
    if (!value && list.items) value = key_default(*list.items, key);
    if (!value) {
      return Error(Errc::invalid,
                   "associative list with keys has an element that omits key field " +
                       go_quoted(key) + " (and doesn't have default value)");
    }
    if (value->is_structured()) {
      return Error(Errc::invalid, "associative list with keys has a key field " + go_quoted(key) +
                                      " that is no scalar");
    }
    if (element.size() > 3) element += ",";
    element += dump_json(key) + ":" + dump_json(*value);
  }
  return element + "}";
}

}  // namespace

Shape shape_of(const Schema* schema, const Json& value) {
  if (value.is_object()) {
    if (!schema) return Shape::map;
    if (schema->map_type == MapType::atomic || is_scalar_of_any_type(*schema)) return Shape::leaf;
    return Shape::map;
  }
  if (value.is_array() && schema && schema->list_type) {
    if (*schema->list_type == ListType::map) return Shape::map_list;
    if (*schema->list_type == ListType::set) return Shape::set_list;
  }
  return Shape::leaf;
}

Result<std::string> item_element(const Schema& list, const Json& item) {
  if (list.list_type == ListType::map) return key_element(list, item);
  if (item.is_null()) {
    return Error(Errc::invalid,
                 "associative list without keys has an element that's an explicit null");
  }
  if (item.is_structured()) {
    return Error(Errc::invalid,
                 item.is_object() ? "associative list without keys has an element that's a map type"
                                  : "not supported: associative list with lists as elements");
  }
  return "v:" + dump_json(item);
}

namespace {

/// Collects typing errors; the path is kept as text and cut back on the way up.
class Typing {
 public:
  std::vector<std::string> errors;

  void check(const Json& value, const Schema* schema) {
    if (!schema || value.is_null()) return check_untyped(value);
    if (is_scalar_of_any_type(*schema)) {
      if (value.is_structured()) fail("expected any scalar, got &{" + go_plain(value) + "}");
      return;
    }
    switch (schema->type) {
      case SchemaType::object:
        return check_map(value, *schema);
      case SchemaType::array:
        return check_list(value, *schema);
      case SchemaType::string:
        if (!value.is_string()) {
          fail("expected string, got &value.valueUnstructured{Value:" + go_syntax(value) + "}");
        }
        return;
      case SchemaType::boolean:
        if (!value.is_boolean()) fail("expected boolean, got &{" + go_plain(value) + "}");
        return;
      case SchemaType::integer:
      case SchemaType::number:
        if (!value.is_number()) {
          fail("expected numeric (int or float), got " + go_type(value));
        }
        return;
      case SchemaType::any:
        if (value.is_object() && schema->has_members()) check_map(value, *schema);
        return;
    }
  }

 private:
  void fail(const std::string& message) {
    if (errors.size() < errors_max)
      errors.push_back((path_.empty() ? "." : path_) + ": " + message);
  }

  void check_untyped(const Json&) {}

  void check_map(const Json& value, const Schema& schema) {
    if (!value.is_object()) return fail("expected map, got &{" + go_plain(value) + "}");
    for (const auto& [name, below] : value.items()) {
      MemberType type = member_type(&schema, name);
      std::size_t length = path_.size();
      path_ += "." + name;
      if (!type.declared) {
        fail("field not declared in schema");
      } else {
        check(below, type.schema);
      }
      path_.resize(length);
    }
  }

  void check_list(const Json& value, const Schema& schema) {
    if (!value.is_array()) return fail("expected list, got &{" + go_plain(value) + "}");
    bool keyed = schema.list_type && *schema.list_type != ListType::atomic;
    FieldSet seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string element = "i:" + std::to_string(i);
      if (keyed) {
        Result<std::string> found = item_element(schema, value[i]);
        if (!found) return fail("element " + std::to_string(i) + ": " + found.error().what());
        element = *found;
        FieldSet::Node& node = seen.at(element);
        if (node.member) fail("duplicate entries for key " + path_element_string(element));
        node.member = true;
      }
      std::size_t length = path_.size();
      path_ += path_element_string(element);
      check(value[i], schema.items.get());
      path_.resize(length);
    }
  }

  static constexpr std::size_t errors_max = 100;
  std::string path_;
};

void collect_fields(const Json& value, const Schema* schema, FieldSet::Node* node) {
  switch (shape_of(schema, value)) {
    case Shape::leaf:
      // Null, which may stand for an empty list, is not a member by itself; the caller decides.
      if (!value.is_null()) node->member = true;
      return;
    case Shape::map:
      for (const auto& [name, below] : value.items()) {
        MemberType type = member_type(schema, name);
        FieldSet::Node& child = node->children.at(field_element(name));
        collect_fields(below, type.schema, &child);
        bool hollow = below.is_null() || (below.is_object() && below.empty());
        if (hollow || !type.named) child.member = true;
        // Names are sorted, so the child is the last one.
        if (!child.member && child.children.empty()) node->children.nodes.pop_back();
      }
      return;
    case Shape::set_list:
    case Shape::map_list:
      for (const Json& item : value) {
        Result<std::string> element = item_element(*schema, item);
        if (!element) continue;
        FieldSet::Node& child = node->children.at(*element);
        collect_fields(item, schema->items.get(), &child);
        child.member = true;
      }
      return;
  }
}

}  // namespace

std::vector<std::string> typing_errors(const Json& object, const Schema* schema) {
  Typing typing;
  typing.check(object, schema);
  return std::move(typing.errors);
}

FieldSet field_set_of(const Json& object, const Schema* schema) {
  FieldSet::Node root;
  collect_fields(object, schema, &root);
  return std::move(root.children);
}

FieldSet with_named_parents(const FieldSet& set, const Schema* schema) {
  FieldSet result = set;
  for (FieldSet::Node& node : result.nodes) {
    const Schema* below = nullptr;
    if (node.element.starts_with("f:")) {
      MemberType type = member_type(schema, std::string_view(node.element).substr(2));
      below = type.schema;
      if (type.named && !node.children.empty()) node.member = true;
    } else if (schema) {
      below = schema->items.get();
    }
    node.children = with_named_parents(node.children, below);
  }
  return result;
}

Json remove_fields(const Json& object, const FieldSet& set, const Schema* schema) {
  Shape shape = shape_of(schema, object);
  if (shape == Shape::leaf || set.empty()) return object;
  Json kept = shape == Shape::map ? Json::object() : Json::array();
  auto keep = [&](const std::string& element, const Json& value, const Schema* below, auto&& put) {
    const FieldSet::Node* node = set.find(element);
    if (node && node->member) return;
    if (!node) return put(value);
    Json left = remove_fields(value, node->children, below);
    bool emptied = left.is_structured() && left.empty() && !value.empty();
    if (!emptied) put(std::move(left));
  };
  if (shape == Shape::map) {
    for (const auto& [name, below] : object.items()) {
      keep(field_element(name), below, member_type(schema, name).schema,
           [&kept, &name = name](Json value) { kept[name] = std::move(value); });
    }
    return kept;
  }
  for (const Json& item : object) {
    Result<std::string> element = item_element(*schema, item);
    if (!element) {
      kept.push_back(item);
      continue;
    }
    keep(*element, item, schema->items.get(),
         [&kept](Json value) { kept.push_back(std::move(value)); });
  }
  return kept;
}

}  // namespace regatta::apiserver
