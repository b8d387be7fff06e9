#include "lib/manifest/fields/field_validation.h"

#include "lib/manifest/fields/go_decode.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::manifest {
namespace {

constexpr std::size_t strict_errors_max = 100;

/// One pass over a JSON document next to the schema: over its text, members in the order they are
/// written, by way of nlohmann's event parser; or over a value. A stack of open containers says
/// where it is.
class BodyReader : public nlohmann::json_sax<Json> {
 public:
  BodyReader(const BodyKind& kind, BodyReport* report) : kind_(kind), report_(report) {
    next_schema_ = kind.schema;
    decodes_ = !kind.custom;
  }

  bool null() override { return value({Token::Kind::null, {}}); }
  bool boolean(bool) override { return value({Token::Kind::boolean, {}}); }
  bool number_integer(std::int64_t number) override {
    std::string text = std::to_string(number);
    return value({Token::Kind::number, text});
  }
  bool number_unsigned(std::uint64_t number) override {
    std::string text = std::to_string(number);
    return value({Token::Kind::number, text});
  }
  bool number_float(double, const std::string& text) override {
    return value({Token::Kind::number, text});
  }
  bool string(std::string& text) override { return value({Token::Kind::string, text}); }
  bool binary(Json::binary_t&) override { return true; }

  bool start_object(std::size_t) override { return open({Token::Kind::object, {}}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open({Token::Kind::array, {}}); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    std::set<std::string>& names = stack_.back().names;
    const bool ignored = stack_.back().ignored;
    const bool repeated = !ignored && !names.insert(name).second;
    return enter(name, repeated);
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  void read(const Json& of) {
    if (of.is_object()) {
      open({Token::Kind::object, {}});
      for (const auto& [name, member] : of.get_ref<const Json::object_t&>()) {
        enter(name, false);
        read(member);
      }
      close();
    } else if (of.is_array()) {
      open({Token::Kind::array, {}});
      for (const Json& item : of) read(item);
      close();
    } else if (of.is_string()) {
      value({Token::Kind::string, of.get_ref<const std::string&>()});
    } else if (of.is_number()) {
      const std::string text = dump_json(of);
      value({Token::Kind::number, text});
    } else {
      value({of.is_boolean() ? Token::Kind::boolean : Token::Kind::null, {}});
    }
  }

 private:
  struct Frame {
    const Schema* schema = nullptr;  ///< null: anything goes
    bool array = false;
    bool ignored = false;  ///< in a field that does not exist
    bool decoded = false;
    std::size_t index = 0;
    std::size_t path_length = 0;
    std::size_t go_path_length = 0;
    std::string_view structure;
    std::set<std::string> names;
  };

  bool enter(const std::string& name, bool repeated) {
    const Frame& frame = stack_.back();
    // Cut off the member before this one: the object's own path ends here.
    path_.resize(frame.path_length);
    go_path_.resize(frame.go_path_length);
    if (!path_.empty()) path_ += ".";
    path_ += name;
    next_ignored_ = frame.ignored;
    if (frame.ignored) return true;
    if (repeated) strict("duplicate field \"" + path_ + "\"");
    return enter_member(frame, name);
  }

  bool enter_member(const Frame& frame, const std::string& name) {
    bool root = stack_.size() == 1;
    if (kind_.custom && root) {
      // Only metadata is decoded; the schema's own validation checks the rest.
      decodes_ = name == "metadata";
      next_schema_ = decodes_ ? kind_.object_meta : nullptr;
      go_path_.clear();
      return true;
    }
    decodes_ = frame.decoded;
    MemberType type = member_type(frame.schema, name);
    next_schema_ = type.schema;
    if (!type.declared) {
      strict("unknown field \"" + path_ + "\"");
      next_ignored_ = true;
      return true;
    }
    if (type.named) {
      if (!go_path_.empty()) go_path_ += ".";
      go_path_ += name;
    }
    return true;
  }

  void strict(std::string message) {
    if (report_->strict.size() < strict_errors_max) report_->strict.push_back(std::move(message));
  }

  /// Sets what is known of the next value, when that is an item of an array.
  void enter_item() {
    if (stack_.empty() || !stack_.back().array) return;
    Frame& frame = stack_.back();
    path_.resize(frame.path_length);
    path_ += "[" + std::to_string(frame.index++) + "]";
    go_path_.resize(frame.go_path_length);
    next_schema_ = frame.schema ? frame.schema->items.get() : nullptr;
    next_ignored_ = frame.ignored;
    decodes_ = frame.decoded;
  }

  /// The Go structure that errors in the innermost open container name.
  std::string_view structure() const { return stack_.empty() ? "" : stack_.back().structure; }

  void check(const Token& token) {
    if (!next_schema_ || next_ignored_ || !decodes_ || report_->type_error) return;
    report_->type_error = go_decode_error(token, *next_schema_, GoField{structure(), go_path_});
  }

  bool value(const Token& token) {
    enter_item();
    check(token);
    return true;
  }

  bool open(const Token& token) {
    enter_item();
    check(token);
    Frame frame;
    frame.schema = next_schema_;
    frame.array = token.kind == Token::Kind::array;
    frame.ignored = next_ignored_;
    frame.decoded = decodes_;
    frame.path_length = path_.size();
    frame.go_path_length = go_path_.size();
    frame.structure = structure_of(frame.schema);
    stack_.push_back(std::move(frame));
    return true;
  }

  std::string_view structure_of(const Schema* schema) const {
    if (stack_.empty() && !kind_.custom) return kind_.kind;
    bool structure = schema && schema->type == SchemaType::object && !schema->properties.empty();
    return structure ? go_type_name(*schema) : this->structure();
  }

  bool close() {
    path_.resize(stack_.back().path_length);
    go_path_.resize(stack_.back().go_path_length);
    stack_.pop_back();
    return true;
  }

  const BodyKind& kind_;
  BodyReport* report_;
  std::vector<Frame> stack_;
  std::string path_;     ///< with indices and keys of maps
  std::string go_path_;  ///< names of fields only
  const Schema* next_schema_ = nullptr;
  bool next_ignored_ = false;
  bool decodes_ = true;
};

bool is_duplicate(const std::string& message) {
  return message.starts_with("duplicate");
}

void find_unknown(const Json& value, const Schema* schema, const std::string& path,
                  std::vector<std::string>* unknown) {
  if (unknown->size() >= strict_errors_max) return;
  if (value.is_array()) {
    const Schema* item = schema ? schema->items.get() : nullptr;
    for (std::size_t i = 0; item && i < value.size(); ++i) {
      find_unknown(value[i], item, path + "[" + std::to_string(i) + "]", unknown);
    }
    return;
  }
  if (!value.is_object() || !schema) return;
  for (const auto& [name, below] : value.items()) {
    std::string below_path = path.empty() ? name : path + "." + name;
    bool meta = schema->embedded_resource || path.empty();
    if (meta && (name == "apiVersion" || name == "kind" || name == "metadata")) continue;
    MemberType type = member_type(schema, name);
    if (type.declared) {
      find_unknown(below, type.schema, below_path, unknown);
    } else {
      unknown->push_back("unknown field \"" + below_path + "\"");
    }
  }
}

/// Custom resources: duplicates, then metadata, then the rest sorted by path.
void add_custom_unknown(const Json& value, const BodyKind& kind, BodyReport* report) {
  if (!kind.schema) return;
  std::vector<std::string> sorted, of_metadata;
  for (std::string& message : report->strict) {
    (is_duplicate(message) ? sorted : of_metadata).push_back(std::move(message));
  }
  sorted.insert(sorted.end(), of_metadata.begin(), of_metadata.end());
  report->strict = std::move(sorted);
  std::vector<std::string> unknown;
  find_unknown(value, kind.schema, "", &unknown);
  std::sort(unknown.begin(), unknown.end());
  report->strict.insert(report->strict.end(), unknown.begin(), unknown.end());
}

/// Members of all objects in `value`.
std::size_t count_members(const Json& value) {
  std::size_t count = value.is_object() ? value.size() : 0;
  if (value.is_structured()) {
    for (const Json& below : value) count += count_members(below);
  }
  return count;
}

/// Colons of well-formed JSON outside of strings: one for each member as it is written.
std::size_t count_written_members(std::string_view text) {
  std::size_t count = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') in_string = !in_string;
    if (in_string && text[i] == '\\') ++i;
    if (!in_string && text[i] == ':') ++count;
  }
  return count;
}

/// Whether some object of `text`, which was read as `value`, has two members of one name.
bool repeats_names(std::string_view text, const Json& value) {
  return count_written_members(text) != count_members(value);
}

}  // namespace

BodyReport check_body(std::string_view text, const BodyKind& kind, const Json& value) {
  if (!repeats_names(text, value)) {
    BodyReport report = check_body(value, kind);
    // Errors are reported in the order of the text, so a bad body is read again from its text.
    if (report.strict.empty() && !report.type_error) return report;
  }
  BodyReport report;
  BodyReader reader(kind, &report);
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return BodyReport{};
  if (kind.custom) add_custom_unknown(value, kind, &report);
  return report;
}

BodyReport check_body(const Json& value, const BodyKind& kind) {
  BodyReport report;
  BodyReader(kind, &report).read(value);
  if (kind.custom) add_custom_unknown(value, kind, &report);
  return report;
}

std::vector<std::string> duplicate_field_messages(std::string_view text, const Json& value) {
  if (!repeats_names(text, value)) return {};
  return check_body(text, BodyKind{}, value).strict;
}

std::string strict_error_text(const std::vector<std::string>& strict) {
  std::string text = "strict decoding error: ";
  for (std::size_t i = 0; i < strict.size(); ++i) text += (i ? ", " : "") + strict[i];
  return text;
}

void drop_empty_members(Json* object, const Schema& schema) {
  if (object->is_array()) {
    if (!schema.items) return;
    for (Json& item : *object) drop_empty_members(&item, *schema.items);
    return;
  }
  if (!object->is_object()) return;
  for (auto member = object->begin(); member != object->end();) {
    const Schema* below = schema.member(member.key());
    if (!below || !member->is_structured()) {
      ++member;
      continue;
    }
    const auto& required = schema.required;
    bool optional = std::find(required.begin(), required.end(), member.key()) == required.end();
    // An empty managedFields asks to reset the field managers.
    bool asks = member.key() == "managedFields";
    bool list_or_map = !asks && (member->is_array() || below->is_map());
    if (member->empty() && list_or_map && optional && schema.properties.contains(member.key())) {
      member = object->erase(member);
      continue;
    }
    drop_empty_members(&*member, *below);
    ++member;
  }
}

FieldValidation field_validation_of(std::string_view parameter) {
  if (parameter == "Ignore") return FieldValidation::ignore;
  if (parameter == "Strict") return FieldValidation::strict;
  return FieldValidation::warn;
}

}  // namespace regatta::manifest
