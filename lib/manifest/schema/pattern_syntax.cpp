#include "lib/manifest/schema/pattern_syntax.h"

#include <cctype>
#include <optional>
#include <string>
#include <utility>

namespace regatta::manifest {
namespace {

using Kind = PatternNode::Kind;

ByteSet range(int from, int to) {
  ByteSet out;
  for (int c = from; c <= to; ++c) out.set(static_cast<std::size_t>(c));
  return out;
}

PatternNode bytes(ByteSet set) {
  return {.kind = Kind::bytes, .bytes = set};
}

PatternNode sequence(std::vector<PatternNode> children) {
  return {.kind = Kind::sequence, .children = std::move(children)};
}

/// One character of UTF-8: one of `ascii`, or any beyond ASCII.
PatternNode any_character(ByteSet ascii) {
  const auto tail = bytes(range(0x80, 0xbf));
  PatternNode out{.kind = Kind::alternatives};
  out.children.push_back(bytes(ascii));
  out.children.push_back(sequence({bytes(range(0xc0, 0xdf)), tail}));
  out.children.push_back(sequence({bytes(range(0xe0, 0xef)), tail, tail}));
  out.children.push_back(sequence({bytes(range(0xf0, 0xf7)), tail, tail, tail}));
  return out;
}

std::optional<ByteSet> perl_class(char c) {
  switch (c) {
    case 'd':
      return range('0', '9');
    case 'w':
      return range('0', '9') | range('a', 'z') | range('A', 'Z') | range('_', '_');
    case 's':
      return range('\t', '\n') | range('\f', '\r') | range(' ', ' ');
    default:
      return std::nullopt;
  }
}

std::optional<ByteSet> posix_class(std::string_view name) {
  if (name == "alpha") return range('a', 'z') | range('A', 'Z');
  if (name == "digit") return range('0', '9');
  if (name == "alnum") return range('0', '9') | range('a', 'z') | range('A', 'Z');
  if (name == "lower") return range('a', 'z');
  if (name == "upper") return range('A', 'Z');
  if (name == "space") return range('\t', '\r') | range(' ', ' ');
  if (name == "xdigit") return range('0', '9') | range('a', 'f') | range('A', 'F');
  if (name == "word") return perl_class('w');
  if (name == "punct") return range('!', '/') | range(':', '@') | range('[', '`') | range('{', '~');
  return std::nullopt;
}

/// Recursive descent; a member returns nothing after recording why in error_.
class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  Result<PatternNode> parse() {
    auto root = alternatives(0);
    if (root && at_ < text_.size()) root = fail("unexpected )");
    if (!root) {
      return Error(Errc::invalid,
                   "error parsing regexp: " + error_ + ": `" + std::string(text_) + "`");
    }
    return std::move(*root);
  }

 private:
  using Node = std::optional<PatternNode>;

  std::nullopt_t fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return std::nullopt;
  }
  bool more() const { return at_ < text_.size(); }
  char peek() const { return text_[at_]; }
  bool eat(std::string_view what) {
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }

  Node alternatives(int depth) {
    if (depth > pattern_depth_max) return fail("expression nests too deeply");
    PatternNode out{.kind = Kind::alternatives};
    do {
      auto branch = concatenation(depth);
      if (!branch) return std::nullopt;
      out.children.push_back(std::move(*branch));
    } while (eat("|"));
    if (out.children.size() == 1) return std::move(out.children.front());
    return out;
  }

  Node concatenation(int depth) {
    PatternNode out;
    while (more() && peek() != '|' && peek() != ')') {
      auto item = atom(depth);
      if (!item) return std::nullopt;
      auto repeated = repetition(std::move(*item));
      if (!repeated) return std::nullopt;
      out.children.push_back(std::move(*repeated));
    }
    return out;
  }

  Node repetition(PatternNode item) {
    while (more()) {
      int min = 0, max = -1;
      if (eat("?")) {
        max = 1;
      } else if (eat("+")) {
        min = 1;
      } else if (peek() == '{' && counted(min, max)) {
        if (min > pattern_repeat_max || max > pattern_repeat_max || (max >= 0 && max < min)) {
          return fail("invalid repeat count");
        }
      } else if (!eat("*")) {
        break;
      }
      eat("?");  // which match is found does not matter, only whether there is one
      PatternNode repeat{.kind = Kind::repeat, .min = min, .max = max};
      repeat.children.push_back(std::move(item));
      item = std::move(repeat);
    }
    return item;
  }

  /// `{2}`, `{2,}`, `{2,5}`; anything else is a literal brace.
  bool counted(int& min, int& max) {
    const auto close = text_.find('}', at_);
    if (close == std::string_view::npos) return false;
    auto inside = text_.substr(at_ + 1, close - at_ - 1);
    const auto comma = inside.find(',');
    auto number = [](std::string_view digits, int& out) {
      if (digits.empty() || digits.size() > 6) return false;
      out = 0;
      for (const char c : digits) {
        if (!std::isdigit(static_cast<unsigned char>(c))) return false;
        out = out * 10 + (c - '0');
      }
      return true;
    };
    if (!number(inside.substr(0, comma), min)) return false;
    max = min;
    if (comma != std::string_view::npos) {
      const auto upper = inside.substr(comma + 1);
      max = -1;
      if (!upper.empty() && !number(upper, max)) return false;
    }
    at_ = close + 1;
    return true;
  }

  Node atom(int depth) {
    const char c = text_[at_++];
    switch (c) {
      case '^':
        return PatternNode{.kind = Kind::begin};
      case '$':
        return PatternNode{.kind = Kind::end};
      case '.':
        return any_character(range(0, 127) & ~range('\n', '\n'));
      case '(':
        return group(depth);
      case '[':
        return bracket();
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
        return fail("missing argument to repetition operator: `" + std::string(1, c) + "`");
      default:
        return bytes(literal(static_cast<unsigned char>(c)));
    }
  }

  ByteSet literal(unsigned char c) const {
    auto out = range(c, c);
    if (fold_case_ && std::isalpha(c) && c < 128) {
      out.set(static_cast<std::size_t>(std::tolower(c)));
      out.set(static_cast<std::size_t>(std::toupper(c)));
    }
    return out;
  }

  Node group(int depth) {
    const bool fold_outside = fold_case_;
    if (eat("?")) {
      if (eat("P<") || (text_.substr(at_, 1) == "<" && text_.substr(at_, 2) != "<=" &&
                        text_.substr(at_, 2) != "<!" && eat("<"))) {
        const auto close = text_.find('>', at_);
        if (close == std::string_view::npos) return fail("invalid named capture");
        at_ = close + 1;
      } else {
        while (more() && (peek() == 'i' || peek() == 's')) fold_case_ |= text_[at_++] == 'i';
        if (eat(")")) return PatternNode{};  // flags for the rest
        if (!eat(":")) return fail("invalid or unsupported Perl syntax");
      }
    }
    auto inside = alternatives(depth + 1);
    fold_case_ = fold_outside;
    if (!inside) return std::nullopt;
    if (!eat(")")) return fail("missing closing )");
    return inside;
  }

  Node escape() {
    if (!more()) return fail("trailing backslash at end of expression");
    const char c = text_[at_++];
    if (c == 'A') return PatternNode{.kind = Kind::begin};
    if (c == 'z') return PatternNode{.kind = Kind::end};
    if (auto set = perl_class(c)) return bytes(*set);
    if (auto set = perl_class(static_cast<char>(std::tolower(c)))) {
      return any_character(range(0, 127) & ~*set);
    }
    const auto code = escaped(c);
    if (!code) return std::nullopt;
    return bytes(literal(*code));
  }

  std::optional<unsigned char> escaped(char c) {
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'x':
        return hexadecimal();
      default:
        break;
    }
    if (std::isalnum(static_cast<unsigned char>(c))) {
      return fail(std::string("invalid escape sequence: `\\") + c + "`");
    }
    return static_cast<unsigned char>(c);
  }

  std::optional<unsigned char> hexadecimal() {
    const auto digits = text_.substr(at_, 2);
    int code = 0;
    for (const char c : digits) {
      if (!std::isxdigit(static_cast<unsigned char>(c))) return fail("invalid escape sequence");
      code = code * 16 +
             (std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (digits.size() != 2 || code > 127) return fail("invalid escape sequence");
    at_ += 2;
    return static_cast<unsigned char>(code);
  }

  Node bracket() {
    const bool negated = eat("^");
    ByteSet set;
    for (bool first = true; first || !eat("]"); first = false) {
      if (!more()) return fail("missing closing ]");
      if (eat("[:")) {
        const auto close = text_.find(":]", at_);
        if (close == std::string_view::npos) return fail("invalid character class");
        const auto named = posix_class(text_.substr(at_, close - at_));
        if (!named) return fail("invalid character class range");
        set |= *named;
        at_ = close + 2;
        continue;
      }
      ByteSet shorthand;
      const auto from = bracket_character(shorthand);
      if (!from) {
        if (!error_.empty()) return std::nullopt;
        set |= shorthand;
        continue;
      }
      auto to = from;
      if (text_.substr(at_, 1) == "-" && text_.substr(at_, 2) != "-]" && at_ + 1 < text_.size()) {
        ++at_;
        to = bracket_character(shorthand);
        if (!to) return fail("invalid character class range");
      }
      if (*to < *from) return fail("invalid character class range");
      for (int c = *from; c <= *to; ++c) set |= literal(static_cast<unsigned char>(c));
    }
    if (negated) return any_character(range(0, 127) & ~set);
    return bytes(set);
  }

  /// A character, or nothing with `shorthand` set to the class (`\d`).
  std::optional<unsigned char> bracket_character(ByteSet& shorthand) {
    if (!more()) return fail("missing closing ]");
    const char c = text_[at_++];
    if (c != '\\') return static_cast<unsigned char>(c);
    if (!more()) return fail("trailing backslash at end of expression");
    const char escape = text_[at_++];
    if (auto set = perl_class(escape)) {
      shorthand = *set;
      return std::nullopt;
    }
    if (auto set = perl_class(static_cast<char>(std::tolower(escape)))) {
      shorthand = range(0, 127) & ~*set;
      return std::nullopt;
    }
    return escaped(escape);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool fold_case_ = false;
  std::string error_;
};

}  // namespace

Result<PatternNode> parse_pattern(std::string_view expression) {
  if (expression.size() > pattern_length_max) {
    return Error(Errc::invalid, "regular expression is longer than " +
                                    std::to_string(pattern_length_max) + " bytes");
  }
  return PatternParser(expression).parse();
}

}  // namespace regatta::manifest
