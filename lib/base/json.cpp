#include "lib/base/json.h"

#include "lib/base/json_scan.h"
#include "lib/base/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace regatta {
namespace {

/// Reads the JSON that API servers and Regatta itself write: ASCII, whole numbers, simple escapes,
/// members mostly in order. On anything else, errors included, it gives up and the general parser
/// decides. So it has to be right, but not complete.
class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool document(Json* out) {
    if (!value(out, 0)) return false;
    skip_space();
    return at_ == end_;
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool eat(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool literal(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size()) return false;
    if (std::string_view(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool value(Json* out, int depth) {
    skip_space();
    if (at_ == end_) return false;
    switch (*at_) {
      case '{':
        return object(out, depth + 1);
      case '[':
        return array(out, depth + 1);
      case '"':
        *out = Json::value_t::string;
        return string(&out->get_ref<std::string&>());
      case 't':
        *out = true;
        return literal("true");
      case 'f':
        *out = false;
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return number(out);
    }
  }

  bool object(Json* out, int depth) {
    if (depth > json_depth_max) return false;
    ++at_;
    *out = Json::value_t::object;
    auto& members = out->get_ref<Json::object_t&>();
    if (eat('}')) return true;
    do {
      skip_space();
      std::string name;
      if (at_ == end_ || *at_ != '"' || !string(&name) || !eat(':')) return false;
      const auto member = members.emplace_hint(members.end(), std::move(name), nullptr);
      // Of two members with one name the last one counts.
      if (!member->second.is_null()) member->second = nullptr;
      if (!value(&member->second, depth)) return false;
    } while (eat(','));
    return eat('}');
  }

  bool array(Json* out, int depth) {
    if (depth > json_depth_max) return false;
    ++at_;
    *out = Json::value_t::array;
    auto& items = out->get_ref<Json::array_t&>();
    if (eat(']')) return true;
    do {
      items.emplace_back();
      if (!value(&items.back(), depth)) return false;
    } while (eat(','));
    return eat(']');
  }

  bool string(std::string* out) {
    ++at_;
    for (;;) {
      const char* begin = at_;
      at_ += plain_prefix({at_, end_});
      out->append(begin, at_);
      if (at_ == end_) return false;
      if (*at_ == '"') break;
      if (*at_ != '\\' || !escape(out)) return false;
    }
    ++at_;
    return true;
  }

  bool escape(std::string* out) {
    if (end_ - at_ < 2) return false;
    switch (at_[1]) {
      case '"':
      case '\\':
      case '/':
        out->push_back(at_[1]);
        break;
      case 'n':
        out->push_back('\n');
        break;
      case 't':
        out->push_back('\t');
        break;
      case 'u': {
        unsigned code = 0;
        if (end_ - at_ < 6) return false;
        const auto [stop, error] = std::from_chars(at_ + 2, at_ + 6, code, 16);
        if (error != std::errc() || stop != at_ + 6 || code >= 0x80) return false;
        out->push_back(static_cast<char>(code));
        at_ += 4;
        break;
      }
      default:
        return false;
    }
    at_ += 2;
    return true;
  }

  /// Reads a whole number that surely fits. Like the general parser it tells signed from unsigned.
  bool number(Json* out) {
    constexpr std::ptrdiff_t digits_max = 18;
    const bool negative = *at_ == '-';
    const char* digits = at_ + (negative ? 1 : 0);
    const char* stop = digits;
    while (stop != end_ && *stop >= '0' && *stop <= '9') ++stop;
    const auto count = stop - digits;
    if (count == 0 || count > digits_max || (*digits == '0' && (count > 1 || negative))) {
      return false;
    }
    if (stop != end_ && (*stop == '.' || *stop == 'e' || *stop == 'E')) return false;
    std::int64_t whole = 0;
    std::from_chars(at_, stop, whole);
    at_ = stop;
    if (negative) {
      *out = whole;
    } else {
      *out = static_cast<std::uint64_t>(whole);
    }
    return true;
  }

  const char* at_;
  const char* end_;
};

/// The deepest nesting in `text`. Brackets in strings do not count.
int nesting(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

constexpr std::size_t dump_bytes_usual = 500;

void append_html_escaped(std::string& out, std::string_view json) {
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else if (c == '\xe2' && json.substr(i, 3) == "\u2028") {
      out += "\\u2028";
      i += 2;
    } else if (c == '\xe2' && json.substr(i, 3) == "\u2029") {
      out += "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
}

void append_general(std::string& out, const Json& value, Escapes escapes) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (escapes == Escapes::none) {
    out += text;
  } else {
    append_html_escaped(out, text);
  }
}

/// Appends `text` in quotes. Text that needs more than quotes is left to the general writer.
void append_string(std::string& out, const std::string& text, Escapes escapes) {
  const std::size_t plain =
      escapes == Escapes::html ? plain_prefix<'<', '>', '&'>(text) : plain_prefix(text);
  if (plain == text.size()) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  const auto written = [html = escapes == Escapes::html](char c) {
    return c >= 0x20 && c < 0x7f && !(html && (c == '<' || c == '>' || c == '&'));
  };
  if (!std::all_of(text.begin(), text.end(), written)) {
    return append_general(out, Json(text), escapes);
  }
  append_quoted(out, text);
}

template <class Number>
void append_number(std::string& out, Number number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t begin = 0;
  for (std::size_t at; (at = find_quote_or_backslash(text, begin)) != text.npos; begin = at + 1) {
    out.append(text, begin, at - begin);
    out += '\\';
    out += text[at];
  }
  out.append(text, begin);
  out += '"';
}

void append_json(std::string& out, const Json& value, Escapes escapes) {
  char before = value.is_object() ? '{' : '[';
  switch (value.type()) {
    case Json::value_t::object:
      for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
        out += before;
        append_string(out, key, escapes);
        out += ':';
        append_json(out, member, escapes);
        before = ',';
      }
      out += value.empty() ? "{}" : "}";
      return;
    case Json::value_t::array:
      for (const Json& item : value.get_ref<const Json::array_t&>()) {
        out += before;
        append_json(out, item, escapes);
        before = ',';
      }
      out += value.empty() ? "[]" : "]";
      return;
    case Json::value_t::string:
      return append_string(out, value.get_ref<const std::string&>(), escapes);
    case Json::value_t::number_integer:
      return append_number(out, value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return append_number(out, value.get<std::uint64_t>());
    default:
      return append_general(out, value, escapes);
  }
}

void discard(Json* value) {
  if (value->is_object()) {
    auto& members = value->get_ref<Json::object_t&>();
    for (auto& [name, member] : members) discard(&member);
    members.clear();
  } else if (value->is_array()) {
    auto& items = value->get_ref<Json::array_t&>();
    for (Json& item : items) discard(&item);
    items.clear();
  }
}

Result<Json> parse_json(std::string_view text) {
  Json plain;
  if (PlainReader(text).document(&plain)) return plain;
  if (nesting(text) > json_depth_max) {
    return Error(Errc::invalid, "JSON nests deeper than " + std::to_string(json_depth_max));
  }
  // JSON has no null bytes, but the general parser takes one for the end of the text.
  if (const std::size_t null = text.find('\0'); null != text.npos) {
    return Error(Errc::invalid, "JSON has a null byte at byte " + std::to_string(null + 1));
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::exception& e) {
    return Error(Errc::invalid, e.what());
  }
}

std::string dump_json(const Json& value) {
  std::string out;
  out.reserve(dump_bytes_usual);
  append_json(out, value, Escapes::none);
  return out;
}

std::string dump_json_pretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace regatta
