#include "lib/manifest/schema/builtin.h"

#include "lib/base/check.h"
#include "lib/manifest/schema/builtin_types.h"

#include <nlohmann/json.hpp>

#include <array>
#include <sstream>
#include <utility>

namespace regatta::manifest {
namespace {

constexpr std::string_view core_package = "io.k8s.api.core.v1.";
constexpr std::string_view meta_package = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// Reads the texts of builtin_types.h. They are part of the program, so a mistake in them ends it.
class Catalogue {
 public:
  Catalogue() {
    add_scalars();
    const std::array texts = {builtin_meta_text, builtin_pod_text, builtin_core_text,
                              builtin_groups_text, builtin_more_text};
    for (const auto text : texts) {
      for_lines(text, [this](std::string_view line) { declare(line); });
    }
    for (const auto text : texts) {
      for_lines(text, [this](std::string_view line) { define(line); });
    }
    for (const auto& [name, schema] : own_) types_.emplace(name, schema);
    finish_references();
  }

  const std::map<std::string, SchemaPtr, std::less<>>& types() const { return types_; }

  const Schema* kind(std::string_view group, std::string_view version,
                     std::string_view kind) const {
    const auto at =
        kinds_.find(std::string(group) + "/" + std::string(version) + "/" + std::string(kind));
    return at == kinds_.end() ? nullptr : at->second;
  }

 private:
  /// A field that has the schema of a type and marks of its own. It is made when all types are
  /// there.
  struct Reference {
    Schema* owner;
    std::string field;
    const Schema* target;
    Schema marks;
  };

  template <class F>
  static void for_lines(std::string_view text, F&& each) {
    while (!text.empty()) {
      auto end = text.find('\n');
      while (end != std::string_view::npos && end > 0 && text[end - 1] == '+') {
        end = text.find('\n', end + 1);
      }
      if (const auto line = text.substr(0, end); !line.empty()) each(line);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  static std::vector<std::string> words_of(std::string_view line) {
    std::istringstream in{std::string(line.substr(0, line.find(" -- ")))};
    std::vector<std::string> out;
    for (std::string word; in >> word;) {
      if (word != "+") out.push_back(word);
    }
    return out;
  }
  static std::string description_of(std::string_view line) {
    const auto at = line.find(" -- ");
    return at == std::string_view::npos ? std::string() : std::string(line.substr(at + 4));
  }

  void add_scalar(const std::string& name, SchemaType type, const std::string& format,
                  const std::string& ref_name = "") {
    auto schema = std::make_shared<Schema>();
    schema->type = type;
    schema->format = format;
    schema->ref_name = ref_name;
    scalars_[name] = schema;
    if (!ref_name.empty()) own_[ref_name] = schema;
  }

  void add_scalars() {
    const std::string meta(meta_package);
    add_scalar("string", SchemaType::string, "");
    add_scalar("bool", SchemaType::boolean, "");
    add_scalar("int32", SchemaType::integer, "int32");
    add_scalar("int64", SchemaType::integer, "int64");
    add_scalar("number", SchemaType::number, "double");
    add_scalar("bytes", SchemaType::string, "byte");
    add_scalar("time", SchemaType::string, "date-time", meta + "Time");
    add_scalar("microtime", SchemaType::string, "date-time", meta + "MicroTime");
    add_scalar("quantity", SchemaType::string, "", "io.k8s.apimachinery.pkg.api.resource.Quantity");
    add_scalar("intstr", SchemaType::string, "int-or-string",
               "io.k8s.apimachinery.pkg.util.intstr.IntOrString");
    add_scalar("any", SchemaType::any, "");
    scalars_["quantity"]->int_or_string = true;
    scalars_["intstr"]->int_or_string = true;
    scalars_["any"]->preserve_unknown_fields = true;
  }

  void declare(std::string_view line) {
    const auto words = words_of(line);
    if (line.front() == ' ') return;
    if (words[0] == "package") {
      package_ = words[1] + ".";
      return;
    }
    auto schema = std::make_shared<Schema>();
    schema->type = SchemaType::object;
    if (words.size() > 3 && words[2] == "=") *schema = *scalars_.at(words[3]);
    schema->ref_name = package_ + words[1];
    schema->description = description_of(line);
    if (words.size() > 2 && words[2] == "atomic") schema->map_type = MapType::atomic;
    own_[schema->ref_name] = std::move(schema);
  }

  void define(std::string_view line) {
    const auto words = words_of(line);
    if (line.front() == ' ') return add_field(words, description_of(line));
    if (words[0] == "package") {
      package_ = words[1] + ".";
      return;
    }
    current_ = own_.at(package_ + words[1]).get();
    if (words[0] == "kind") add_kind(words);
  }

  void add_kind(const std::vector<std::string>& words) {
    add_field({"apiVersion", "string"}, "Group and version of this representation.");
    add_field({"kind", "string"}, "The kind of object this is.");
    add_field({"metadata", "ObjectMeta"}, "Standard metadata of every object.");
    auto& kind = current_->group_version_kinds.emplace_back();
    kind.kind = words[1];
    for (const auto& word : words) {
      const auto equals = word.find('=');
      if (equals == std::string::npos) continue;
      const auto name = word.substr(0, equals);
      const auto value = word.substr(equals + 1);
      if (name == "group") kind.group = value;
      if (name == "version") kind.version = value;
      if (name == "spec") add_field({name, value}, "What is wanted.");
      if (name == "status") add_field({name, value}, "What is observed; written by the system.");
    }
    kinds_[kind.group + "/" + kind.version + "/" + kind.kind] = current_;
  }

  const Schema* resolve(const std::string& name) const {
    const Schema* known = find(name);
    REGATTA_CHECK(known, "a built-in type refers to the unknown type " + name);
    return known;
  }

  const Schema* find(const std::string& name) const {
    if (const auto at = scalars_.find(name); at != scalars_.end()) return at->second.get();
    for (const auto& package : {std::string_view(package_), core_package, meta_package}) {
      const auto at = own_.find(std::string(package) + name);
      if (at != own_.end()) return at->second.get();
    }
    return nullptr;
  }

  /// Types refer to each other without owning: the catalogue owns them all.
  static SchemaPtr borrowed(const Schema* schema) { return SchemaPtr(SchemaPtr{}, schema); }

  void add_field(const std::vector<std::string>& words, std::string description) {
    const auto& name = words[0];
    const auto& type = words[1];
    Schema marks;
    marks.description = std::move(description);
    const bool container = type.starts_with("[]") || type.starts_with("{}");
    for (std::size_t i = 2; i < words.size(); ++i) mark(words[i], name, type, marks);
    if (!container) {
      references_.push_back({current_, name, resolve(type), std::move(marks)});
      return;
    }
    auto field = std::make_shared<Schema>(std::move(marks));
    const auto* element = resolve(type.substr(2));
    if (type.front() == '[') {
      field->type = SchemaType::array;
      field->items = borrowed(element);
    } else {
      field->type = SchemaType::object;
      field->additional_properties = borrowed(element);
    }
    current_->properties[name] = std::move(field);
  }

  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');) out.push_back(item);
    return out;
  }

  void mark(const std::string& word, const std::string& field, const std::string& type,
            Schema& out) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto value = equals == std::string::npos ? std::string() : word.substr(equals + 1);
    if (name == "!") {
      current_->required.push_back(field);
    } else if (name == "map") {
      out.list_type = ListType::map;
      out.list_map_keys = split(value);
    } else if (name == "set") {
      out.list_type = ListType::set;
    } else if (name == "atomic" && type.starts_with("[]")) {
      out.list_type = ListType::atomic;
    } else if (name == "atomic") {
      out.map_type = MapType::atomic;
    } else if (name == "default") {
      out.default_value = std::make_shared<const Json>(Json::parse(value));
    } else {
      out.patch_strategy = name;
      out.patch_merge_key = value;
    }
  }

  void finish_references() {
    for (auto& reference : references_) {
      const auto& marks = reference.marks;
      auto field = std::make_shared<Schema>(*reference.target);
      if (!marks.description.empty()) field->description = marks.description;
      if (marks.default_value) field->default_value = marks.default_value;
      if (marks.map_type) field->map_type = marks.map_type;
      field->patch_strategy = marks.patch_strategy;
      field->patch_merge_key = marks.patch_merge_key;
      // A copy lacks the fields that its type has yet to get. So an object without marks is shared,
      // and a copy with marks gets its fields at the end.
      const bool plain = !marks.default_value && !marks.map_type && marks.patch_strategy.empty();
      const bool object = reference.target->type == SchemaType::object;
      reference.owner->properties[reference.field] =
          plain && object ? borrowed(reference.target) : field;
      if (!(plain && object) && object) late_.emplace_back(field, reference.target);
    }
    for (auto& [field, target] : late_) field->properties = target->properties;
  }

  std::string package_;
  Schema* current_ = nullptr;
  std::map<std::string, std::shared_ptr<Schema>> scalars_;
  std::map<std::string, std::shared_ptr<Schema>> own_;
  std::map<std::string, SchemaPtr, std::less<>> types_;
  std::map<std::string, const Schema*> kinds_;
  std::vector<Reference> references_;
  std::vector<std::pair<std::shared_ptr<Schema>, const Schema*>> late_;
};

/// Built once, never changed.
const Catalogue& catalogue() {
  static const Catalogue instance;
  return instance;
}

}  // namespace

const Schema* builtin_schema(std::string_view group, std::string_view version,
                             std::string_view kind) {
  return catalogue().kind(group, version, kind);
}

const Schema* builtin_type(std::string_view ref_name) {
  const auto& types = catalogue().types();
  const auto at = types.find(ref_name);
  return at == types.end() ? nullptr : at->second.get();
}

const std::map<std::string, SchemaPtr, std::less<>>& builtin_types() {
  return catalogue().types();
}

const Schema* object_meta_schema() {
  return builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
}

}  // namespace regatta::manifest
