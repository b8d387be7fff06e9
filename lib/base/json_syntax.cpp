#include "lib/base/json_syntax.h"

#include "lib/base/json.h"

namespace regatta {
namespace {

/// The byte as a character in quotes. A byte beyond ASCII is taken for the character of that code.
std::string quoted(char c) {
  constexpr const char* digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  std::string out = "'";
  if (c == '\'') {
    out += "\\'";
  } else if (c == '\\') {
    out += "\\\\";
  } else if (c >= '\a' && c <= '\r') {
    out += '\\';
    out += std::string_view("abtnvfr")[static_cast<std::size_t>(c - '\a')];
  } else if (byte < 0x20 || byte == 0x7f) {
    out += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
  } else if (byte < 0x80) {
    out += c;
  } else if (byte < 0xa1 || byte == 0xad) {
    out += {'\\', 'u', '0', '0', digits[byte >> 4U], digits[byte & 15U]};
  } else {
    out += static_cast<char>(0xc0U | (byte >> 6U));
    out += static_cast<char>(0x80U | (byte & 0x3fU));
  }
  return out + "'";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Reads until something is wrong; `error` is set then.
class SyntaxReader {
 public:
  explicit SyntaxReader(std::string_view text) : text_(text) {}

  std::string document() {
    if (value(0)) {
      skip_space();
      if (!at_end()) wrong("after top-level value");
    }
    return error_;
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  char here() const { return text_[at_]; }

  void skip_space() {
    while (!at_end() && (here() == ' ' || here() == '\n' || here() == '\r' || here() == '\t')) {
      ++at_;
    }
  }

  /// False, so that a reader can return it.
  bool wrong(const std::string& where) {
    error_ = at_end() ? "unexpected end of JSON input"
                      : "invalid character " + quoted(here()) + " " + where;
    return false;
  }

  bool value(int depth) {
    constexpr const char* where = "looking for beginning of value";
    skip_space();
    if (at_end()) return wrong(where);
    switch (here()) {
      case '{':
      case '[':
        if (depth == json_depth_max) {
          error_ = "exceeded max depth";
          return false;
        }
        return here() == '{' ? object(depth + 1) : array(depth + 1);
      case '"':
        return string();
      case 't':
        return literal("true");
      case 'f':
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return here() == '-' || is_digit(here()) ? number() : wrong(where);
    }
  }

  bool literal(std::string_view word) {
    for (const char c : word) {
      if (at_end() || here() != c) {
        return wrong("in literal " + std::string(word) + " (expecting '" + c + "')");
      }
      ++at_;
    }
    return true;
  }

  bool object(int depth) {
    ++at_;
    skip_space();
    if (!at_end() && here() == '}') return ++at_, true;
    for (;;) {
      skip_space();
      if (at_end() || here() != '"') return wrong("looking for beginning of object key string");
      if (!string()) return false;
      skip_space();
      if (at_end() || here() != ':') return wrong("after object key");
      ++at_;
      if (!value(depth)) return false;
      skip_space();
      if (!at_end() && here() == '}') return ++at_, true;
      if (at_end() || here() != ',') return wrong("after object key:value pair");
      ++at_;
    }
  }

  bool array(int depth) {
    ++at_;
    skip_space();
    if (!at_end() && here() == ']') return ++at_, true;
    for (;;) {
      if (!value(depth)) return false;
      skip_space();
      if (!at_end() && here() == ']') return ++at_, true;
      if (at_end() || here() != ',') return wrong("after array element");
      ++at_;
    }
  }

  bool string() {
    ++at_;
    while (!at_end() && here() != '"') {
      if (static_cast<unsigned char>(here()) < 0x20) return wrong("in string literal");
      if (here() == '\\') {
        if (!escape()) return false;
      } else {
        ++at_;
      }
    }
    if (at_end()) return wrong("in string literal");
    ++at_;
    return true;
  }

  bool escape() {
    constexpr int hexadecimal_digits = 4;
    ++at_;
    if (at_end() || std::string_view("bfnrt\\/\"u").find(here()) == std::string_view::npos) {
      return wrong("in string escape code");
    }
    const bool by_code = here() == 'u';
    ++at_;
    for (int i = 0; by_code && i < hexadecimal_digits; ++i, ++at_) {
      if (at_end() || !is_hexadecimal(here())) {
        return wrong("in \\u hexadecimal character escape");
      }
    }
    return true;
  }

  bool digits(const char* where) {
    if (at_end() || !is_digit(here())) return wrong(where);
    while (!at_end() && is_digit(here())) ++at_;
    return true;
  }

  bool number() {
    if (here() == '-') ++at_;
    if (!at_end() && here() == '0') {
      ++at_;
    } else if (!digits("in numeric literal")) {
      return false;
    }
    if (!at_end() && here() == '.') {
      ++at_;
      if (!digits("after decimal point in numeric literal")) return false;
    }
    if (at_end() || (here() != 'e' && here() != 'E')) return true;
    ++at_;
    if (!at_end() && (here() == '+' || here() == '-')) ++at_;
    return digits("in exponent of numeric literal");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

std::string json_syntax_error(std::string_view text) {
  return SyntaxReader(text).document();
}

}  // namespace regatta
