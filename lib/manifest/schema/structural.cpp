#include "lib/manifest/schema/structural.h"

#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/field_path.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace regatta::manifest {
namespace {

constexpr auto object_meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Walks an object along its schema, notes every unknown member and removes it if asked to. J is
/// Json or const Json.
template <class J>
class UnknownFields {
 public:
  UnknownFields(std::vector<std::string>* unknown, bool remove)
      : unknown_(unknown), remove_(remove) {}

  void visit(J& value, const Schema& schema, const FieldPath& at, bool resource) {
    if (value.is_object()) return visit_object(value, schema, at, resource);
    if (!value.is_array() || !schema.items) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      visit(value[i], *schema.items, at.item(i), schema.items->embedded_resource);
    }
  }

 private:
  void visit_object(J& value, const Schema& schema, const FieldPath& at, bool resource) {
    const bool keep = schema.keeps_unknown_members();
    if (resource) visit_metadata(value, at);
    for (auto member = value.begin(); member != value.end();) {
      const auto& name = member.key();
      if (resource && (name == "metadata" || name == "apiVersion" || name == "kind")) {
        ++member;
        continue;
      }
      const auto property = schema.properties.find(name);
      const bool known = property != schema.properties.end();
      const auto* child = known ? property->second.get() : schema.additional_properties.get();
      if (child) {
        visit(*member, *child, known ? at.property(name) : at.map_key(name),
              child->embedded_resource);
        ++member;
      } else if (keep) {
        ++member;
      } else {
        member = drop(value, member, at.property(name));
      }
    }
  }

  /// Metadata has the same fields in every kind; a custom resource's schema rarely names them.
  void visit_metadata(J& value, const FieldPath& at) {
    const auto metadata = value.find("metadata");
    if (metadata == value.end()) return;
    static const Schema* const schema = builtin_type(object_meta);
    if (schema) visit(*metadata, *schema, at.property("metadata"), false);
  }

  template <class Iterator>
  Iterator drop(J& value, Iterator member, const FieldPath& at) {
    if (unknown_ && unknown_->size() < unknown_fields_max) unknown_->push_back(at.text());
    if constexpr (!std::is_const_v<J>) {
      if (remove_) return value.erase(member);
    }
    return ++member;
  }

  std::vector<std::string>* unknown_;
  bool remove_;
};

bool null_to_drop(const Json& value, const Schema& schema) {
  return value.is_null() && !schema.nullable;
}

void default_object(Json& value, const Schema& schema) {
  if (schema.defaults_below) {
    for (const auto& [name, property] : schema.properties) {
      if (!property->default_value) continue;
      const auto at = value.find(name);
      if (at == value.end()) {
        value.emplace(name, *property->default_value);
      } else if (null_to_drop(*at, *property)) {
        *at = *property->default_value;
      }
    }
  }
  for (auto member = value.begin(); member != value.end();) {
    const auto* child = schema.member(member.key());
    if (!child) {
      ++member;
    } else if (!null_to_drop(*member, *child)) {
      set_schema_defaults(*member, *child);
      ++member;
    } else if (child->default_value) {
      *member = *child->default_value;
      ++member;
    } else {
      member = value.erase(member);
    }
  }
}

/// Reads JSON text as events and notes the keys each open object has had.
class DuplicateFinder : public nlohmann::json_sax<Json> {
 public:
  std::vector<std::string> duplicates;

  bool null() override { return scalar(); }
  bool boolean(bool) override { return scalar(); }
  bool number_integer(number_integer_t) override { return scalar(); }
  bool number_unsigned(number_unsigned_t) override { return scalar(); }
  bool number_float(number_float_t, const string_t&) override { return scalar(); }
  bool string(string_t&) override { return scalar(); }
  bool binary(binary_t&) override { return scalar(); }
  bool start_object(std::size_t) override {
    enter();
    levels_.push_back({});
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    enter();
    levels_.push_back({.is_array = true});
    return true;
  }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    auto& level = levels_.back();
    level.key = name;
    if (!level.keys.insert(name).second && duplicates.size() < unknown_fields_max) {
      duplicates.push_back(path());
    }
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Level {
    bool is_array = false;
    std::size_t next = 0;
    std::string key;
    std::set<std::string> keys;
  };
  bool scalar() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().next;
    return true;
  }
  void enter() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().next;
  }
  bool leave() {
    levels_.pop_back();
    return true;
  }
  std::string path() const {
    std::string out;
    for (const auto& level : levels_) {
      out = join_path(out, level.is_array ? "[" + std::to_string(level.next - 1) + "]" : level.key);
    }
    return out;
  }

  std::vector<Level> levels_;
};

}  // namespace

void prune(Json& object, const Schema& schema, std::vector<std::string>* unknown) {
  UnknownFields<Json>(unknown, true).visit(object, schema, FieldPath{}, true);
}

std::vector<std::string> unknown_fields(const Json& object, const Schema& schema) {
  std::vector<std::string> out;
  UnknownFields<const Json>(&out, false).visit(object, schema, FieldPath{}, true);
  return out;
}

void set_schema_defaults(Json& value, const Schema& schema) {
  if (value.is_object()) return default_object(value, schema);
  if (!value.is_array() || !schema.items) return;
  for (auto& item : value) {
    if (null_to_drop(item, *schema.items) && schema.items->default_value) {
      item = *schema.items->default_value;
    }
    set_schema_defaults(item, *schema.items);
  }
}

std::vector<std::string> duplicate_fields(std::string_view json_text) {
  DuplicateFinder finder;
  Json::sax_parse(json_text, &finder);
  return std::move(finder.duplicates);
}

SchemaPtr complete_schema(const Schema& custom_resource, SchemaPtr object_meta) {
  auto text = std::make_shared<Schema>();
  text->type = SchemaType::string;
  auto whole = std::make_shared<Schema>(custom_resource);
  whole->properties["apiVersion"] = text;
  whole->properties["kind"] = text;
  if (object_meta) whole->properties["metadata"] = std::move(object_meta);
  return whole;
}

}  // namespace regatta::manifest
