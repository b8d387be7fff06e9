#include "lib/manifest/fields/go_decode.h"

#include "lib/base/base64.h"
#include "lib/manifest/fields/go_text.h"

#include <charconv>

namespace regatta::manifest {
namespace {

std::string_view name_of(Token::Kind kind) {
  switch (kind) {
    case Token::Kind::null:
      return "null";
    case Token::Kind::boolean:
      return "bool";
    case Token::Kind::number:
      return "number";
    case Token::Kind::string:
      return "string";
    case Token::Kind::array:
      return "array";
    case Token::Kind::object:
      return "object";
  }
  return "";
}

std::string go_type_of(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::string:
      return schema.format == "byte" ? "[]uint8" : "string";
    case SchemaType::boolean:
      return "bool";
    case SchemaType::integer:
      return schema.format == "int32" ? "int32" : "int64";
    case SchemaType::number:
      return "float64";
    case SchemaType::array:
      return "[]" + (schema.items ? go_type_of(*schema.items) : "string");
    case SchemaType::object:
      if (schema.additional_properties) {
        return "map[string]" + go_type_of(*schema.additional_properties);
      }
      return schema.ref_name.empty() ? "map[string]interface {}"
                                     : "v1." + std::string(go_type_name(schema));
    case SchemaType::any:
      return "interface {}";
  }
  return "";
}

std::string mismatch(std::string_view what, const Schema& schema, const GoField& field) {
  std::string text = "json: cannot unmarshal " + std::string(what) + " into Go ";
  if (field.structure.empty()) return text + "value of type " + go_type_of(schema);
  return text + "struct field " + std::string(field.structure) + "." + std::string(field.path) +
         " of type " + go_type_of(schema);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads a time by Go's layout, of which only the parts of RFC 3339 occur, and says where it fails.
class TimeLayout {
 public:
  TimeLayout(std::string_view text, bool micro) : text_(text), micro_(micro) {}

  std::optional<std::string> error() {
    for (const auto& [digits, name, after] : parts) {
      if (!take_digits(static_cast<std::size_t>(digits))) return failed(name);
      if (after != '\0' && !take(after)) return failed(std::string_view(&after, 1));
    }
    if (micro_) {
      if (!take_fraction(6)) return failed(".000000");
    } else if (!rest().empty() && rest()[0] == '.') {
      take('.');
      while (!rest().empty() && is_digit(rest()[0])) ++at_;
    }
    if (take('Z')) return rest().empty() ? std::nullopt : extra();
    if (!take_offset()) return failed("Z07:00");
    return rest().empty() ? std::nullopt : extra();
  }

 private:
  struct Part {
    int digits;
    std::string_view name;
    char after;
  };
  static constexpr Part parts[] = {{4, "2006", '-'}, {2, "01", '-'}, {2, "02", 'T'},
                                   {2, "15", ':'},   {2, "04", ':'}, {2, "05", '\0'}};

  std::string_view rest() const { return text_.substr(at_); }
  std::string layout() const {
    return micro_ ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  }
  std::string heading() const {
    return "parsing time " + go_quoted(text_) + " as " + go_quoted(layout()) + ": ";
  }
  std::string failed(std::string_view part) const {
    return heading() + "cannot parse " + go_quoted(rest()) + " as " + go_quoted(part);
  }
  std::optional<std::string> extra() const {
    return "parsing time " + go_quoted(text_) + ": extra text: " + go_quoted(rest());
  }
  bool take(char c) {
    if (rest().empty() || rest()[0] != c) return false;
    ++at_;
    return true;
  }
  bool take_digits(std::size_t count) {
    if (rest().size() < count) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(rest()[i])) return false;
    }
    at_ += count;
    return true;
  }
  bool take_fraction(std::size_t count) {
    if (rest().empty() || rest()[0] != '.') return false;
    ++at_;
    if (take_digits(count)) return true;
    --at_;
    return false;
  }
  bool take_offset() {
    std::string_view r = rest();
    bool fits = r.size() >= 6 && (r[0] == '+' || r[0] == '-') && is_digit(r[1]) && is_digit(r[2]) &&
                r[3] == ':' && is_digit(r[4]) && is_digit(r[5]);
    if (fits) at_ += 6;
    return fits;
  }

  std::string_view text_;
  bool micro_;
  std::size_t at_ = 0;
};

std::optional<std::string> base64_error(std::string_view text) {
  const auto decoded = base64_decode(text);
  if (decoded) return std::nullopt;
  return decoded.error().what();
}

bool is_quantity(std::string_view text) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  std::size_t number = i;
  while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) ++i;
  if (i == number) return false;
  static constexpr std::string_view suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                                  "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::string_view suffix = text.substr(i);
  for (std::string_view known : suffixes) {
    if (suffix == known) return true;
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return false;
  std::size_t j = suffix[1] == '+' || suffix[1] == '-' ? 2 : 1;
  if (j == suffix.size()) return false;
  while (j < suffix.size() && is_digit(suffix[j])) ++j;
  return j == suffix.size();
}

std::optional<std::string> integer_error(const Token& token, const Schema& schema,
                                         const GoField& field) {
  const char* end = token.text.data() + token.text.size();
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  std::from_chars_result result = schema.format == "int32"
                                      ? std::from_chars(token.text.data(), end, narrow)
                                      : std::from_chars(token.text.data(), end, wide);
  if (result.ec == std::errc() && result.ptr == end) return std::nullopt;
  return mismatch("number " + std::string(token.text), schema, field);
}

std::optional<std::string> string_error(const Token& token, const Schema& schema) {
  if (schema.ref_name.ends_with(".MicroTime")) return TimeLayout(token.text, true).error();
  if (schema.format == "date-time") return TimeLayout(token.text, false).error();
  if (schema.format == "byte") return base64_error(token.text);
  return std::nullopt;
}

}  // namespace

std::string_view go_type_name(const Schema& schema) {
  std::string_view name = schema.ref_name;
  std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::optional<std::string> go_decode_error(const Token& token, const Schema& schema,
                                           const GoField& field) {
  using Kind = Token::Kind;
  if (token.kind == Kind::null) return std::nullopt;
  if (schema.ref_name.ends_with("resource.Quantity")) {
    bool fits =
        (token.kind == Kind::string || token.kind == Kind::number) && is_quantity(token.text);
    if (fits) return std::nullopt;
    return "quantities must match the regular expression "
           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  }
  if (schema.int_or_string) {
    if (token.kind == Kind::string || token.kind == Kind::number) return std::nullopt;
    return "json: cannot unmarshal " + std::string(name_of(token.kind)) +
           " into Go value of type int32";
  }
  Kind wanted = Kind::null;
  switch (schema.type) {
    case SchemaType::string:
      wanted = Kind::string;
      break;
    case SchemaType::boolean:
      wanted = Kind::boolean;
      break;
    case SchemaType::integer:
    case SchemaType::number:
      wanted = Kind::number;
      break;
    case SchemaType::array:
      wanted = Kind::array;
      break;
    case SchemaType::object:
      wanted = Kind::object;
      break;
    case SchemaType::any:
      return std::nullopt;
  }
  if (token.kind != wanted) return mismatch(name_of(token.kind), schema, field);
  if (schema.type == SchemaType::integer) return integer_error(token, schema, field);
  if (schema.type == SchemaType::string) return string_error(token, schema);
  return std::nullopt;
}

}  // namespace regatta::manifest
