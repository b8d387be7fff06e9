#include "lib/manifest/cel/syntax.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace regatta::manifest::cel {
namespace {

struct Token {
  enum class Kind { end, identifier, integer, unsigned_integer, number, string, bytes, symbol };
  Kind kind = Kind::end;
  std::size_t position = 0;
  std::string text;
};

void append_utf8(std::string& out, std::uint32_t code) {
  auto byte = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      byte(0xe0 | (code >> 12));
    } else {
      byte(0xf0 | (code >> 18));
      byte(0x80 | ((code >> 12) & 0x3f));
    }
    byte(0x80 | ((code >> 6) & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  /// The tokens; nothing when one is malformed, with error() and position() set.
  std::optional<std::vector<Token>> run() {
    std::vector<Token> out;
    for (;;) {
      skip_space();
      Token token{.position = at_};
      if (at_ >= text_.size()) {
        out.push_back(token);
        return out;
      }
      if (!next(token)) return std::nullopt;
      out.push_back(std::move(token));
    }
  }
  const std::string& error() const { return error_; }
  std::size_t position() const { return at_; }

 private:
  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }
  char at(std::size_t offset) const {
    return at_ + offset < text_.size() ? text_[at_ + offset] : '\0';
  }
  static bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
  static bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  void skip_space() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      if (text_.substr(at_, 2) != "//") return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  bool next(Token& token) {
    const char c = at(0);
    if (digit(c) || (c == '.' && digit(at(1)))) return number(token);
    if (const auto quote = string_start()) return string(token, *quote);
    if (word(c)) {
      const auto start = at_;
      while (word(at(0))) ++at_;
      token.kind = Token::Kind::identifier;
      token.text = text_.substr(start, at_ - start);
      return true;
    }
    token.kind = Token::Kind::symbol;
    constexpr std::array<std::string_view, 6> pairs = {"==", "!=", "<=", ">=", "&&", "||"};
    if (std::find(pairs.begin(), pairs.end(), text_.substr(at_, 2)) != pairs.end()) {
      token.text = text_.substr(at_, 2);
      at_ += 2;
      return true;
    }
    if (std::string_view("<>!+-*/%?:.,()[]{}").find(c) == std::string_view::npos) {
      return fail("Syntax error: token recognition error at: '" + std::string(1, c) + "'");
    }
    token.text = text_.substr(at_++, 1);
    return true;
  }

  bool number(Token& token) {
    const auto start = at_;
    token.kind = Token::Kind::integer;
    if (at(0) == '0' && (at(1) == 'x' || at(1) == 'X')) {
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(at(0)))) ++at_;
    } else {
      while (digit(at(0))) ++at_;
      if (at(0) == '.' && digit(at(1))) {
        token.kind = Token::Kind::number;
        ++at_;
        while (digit(at(0))) ++at_;
      }
      const std::size_t sign = at(1) == '+' || at(1) == '-' ? 2 : 1;
      if ((at(0) == 'e' || at(0) == 'E') && digit(at(sign))) {
        token.kind = Token::Kind::number;
        at_ += sign;
        while (digit(at(0))) ++at_;
      }
    }
    token.text = text_.substr(start, at_ - start);
    if (token.kind == Token::Kind::integer && (at(0) == 'u' || at(0) == 'U')) {
      token.kind = Token::Kind::unsigned_integer;
      ++at_;
    }
    return true;
  }

  struct Quote {
    bool raw = false, bytes = false;
    std::size_t prefix = 0;
  };
  std::optional<Quote> string_start() const {
    Quote out;
    while (out.prefix < 2) {
      const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(at(out.prefix))));
      if (c == 'r' && !out.raw) {
        out.raw = true;
      } else if (c == 'b' && !out.bytes) {
        out.bytes = true;
      } else {
        break;
      }
      ++out.prefix;
    }
    const char c = at(out.prefix);
    if (c != '\'' && c != '"') return std::nullopt;
    return out;
  }

  bool string(Token& token, Quote quote) {
    token.kind = quote.bytes ? Token::Kind::bytes : Token::Kind::string;
    at_ += quote.prefix;
    std::string close(1, at(0));
    if (at(1) == close[0] && at(2) == close[0]) close.append(2, close[0]);
    at_ += close.size();
    while (text_.substr(at_, close.size()) != close) {
      if (at_ >= text_.size() || (close.size() == 1 && at(0) == '\n')) {
        return fail("Syntax error: unterminated string");
      }
      if (at(0) != '\\' || quote.raw) {
        token.text.push_back(text_[at_++]);
      } else if (!escape(token.text)) {
        return false;
      }
    }
    at_ += close.size();
    return true;
  }

  bool escape(std::string& out) {
    const char c = at(1);
    at_ += 2;
    constexpr std::string_view plain = "\\'\"`?", letters = "abfnrtv", codes = "\a\b\f\n\r\t\v";
    if (plain.find(c) != std::string_view::npos) {
      out.push_back(c);
      return true;
    }
    if (const auto letter = letters.find(c); c != '\0' && letter != std::string_view::npos) {
      out.push_back(codes[letter]);
      return true;
    }
    if (c == 'x' || c == 'X') return code_point(out, 2, 16);
    if (c == 'u') return code_point(out, 4, 16);
    if (c == 'U') return code_point(out, 8, 16);
    if (c >= '0' && c <= '3') {
      --at_;
      return code_point(out, 3, 8);
    }
    return fail("Syntax error: invalid escape sequence");
  }

  bool code_point(std::string& out, std::size_t digits, int base) {
    const auto text = text_.substr(at_, digits);
    std::uint32_t code = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), code, base);
    if (failed != std::errc() || end != text.data() + digits || code > 0x10ffff) {
      return fail("Syntax error: invalid escape sequence");
    }
    append_utf8(out, code);
    at_ += digits;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

/// Recursive descent. A member that fails records why and where; callers stop when failed_.
class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  Result<Node> parse() {
    auto root = expression(0);
    if (!failed_ && !at_end()) unexpected();
    if (failed_) return Error(Errc::invalid, error_at(text_, where_, error_));
    return root;
  }

 private:
  const Token& peek() const { return tokens_[at_]; }
  bool at_end() const { return peek().kind == Token::Kind::end; }
  bool is(std::string_view symbol) const {
    return peek().kind == Token::Kind::symbol && peek().text == symbol;
  }
  bool eat(std::string_view symbol) {
    if (!is(symbol)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view symbol) {
    if (!eat(symbol)) unexpected();
  }
  Node fail(std::size_t position, std::string what) {
    if (!std::exchange(failed_, true)) {
      where_ = position;
      error_ = std::move(what);
    }
    return {};
  }
  Node unexpected() {
    const auto& token = peek();
    return fail(token.position, "Syntax error: mismatched input '" +
                                    (at_end() ? std::string("<EOF>") : token.text) + "'");
  }

  Node binary(Op op, std::size_t position, Node left, Node right) {
    Node out{.op = op, .position = position};
    out.children.push_back(std::move(left));
    out.children.push_back(std::move(right));
    return out;
  }

  Node expression(int depth) {
    if (depth > expression_depth_max) {
      return fail(peek().position, "expression recursion limit exceeded");
    }
    auto condition = logical(depth, true);
    if (failed_ || !is("?")) return condition;
    Node out{.op = Op::conditional, .position = peek().position};
    ++at_;
    out.children.push_back(std::move(condition));
    out.children.push_back(logical(depth + 1, true));
    expect(":");
    out.children.push_back(expression(depth + 1));
    return out;
  }

  Node logical(int depth, bool either) {
    auto left = either ? logical(depth, false) : relation(depth);
    const std::string_view symbol = either ? "||" : "&&";
    while (!failed_ && is(symbol)) {
      const auto position = peek().position;
      ++at_;
      auto right = either ? logical(depth, false) : relation(depth);
      left = binary(either ? Op::logical_or : Op::logical_and, position, std::move(left),
                    std::move(right));
    }
    return left;
  }

  std::optional<Op> relation_operator() const {
    const auto& token = peek();
    if (token.kind == Token::Kind::identifier && token.text == "in") return Op::in;
    if (token.kind != Token::Kind::symbol) return std::nullopt;
    if (token.text == "==") return Op::equal;
    if (token.text == "!=") return Op::not_equal;
    if (token.text == "<") return Op::less;
    if (token.text == "<=") return Op::less_equal;
    if (token.text == ">") return Op::greater;
    if (token.text == ">=") return Op::greater_equal;
    return std::nullopt;
  }

  Node relation(int depth) {
    auto left = sum(depth);
    while (!failed_) {
      const auto op = relation_operator();
      if (!op) break;
      const auto position = peek().position;
      ++at_;
      left = binary(*op, position, std::move(left), sum(depth));
    }
    return left;
  }

  Node sum(int depth) {
    auto left = product(depth);
    while (!failed_ && (is("+") || is("-"))) {
      const auto op = is("+") ? Op::add : Op::subtract;
      const auto position = peek().position;
      ++at_;
      left = binary(op, position, std::move(left), product(depth));
    }
    return left;
  }

  Node product(int depth) {
    auto left = unary(depth);
    while (!failed_ && (is("*") || is("/") || is("%"))) {
      const auto op = is("*") ? Op::multiply : is("/") ? Op::divide : Op::modulo;
      const auto position = peek().position;
      ++at_;
      left = binary(op, position, std::move(left), unary(depth));
    }
    return left;
  }

  Node unary(int depth) {
    if (!is("!") && !is("-")) return member(depth);
    if (depth > expression_depth_max) {
      return fail(peek().position, "expression recursion limit exceeded");
    }
    const bool negate = is("-");
    const auto position = peek().position;
    ++at_;
    if (negate && peek().kind == Token::Kind::integer && peek().position == position + 1) {
      tokens_[at_].text.insert(0, "-");
      return member(depth);
    }
    Node out{.op = negate ? Op::negate : Op::logical_not, .position = position};
    out.children.push_back(unary(depth + 1));
    return out;
  }

  Node member(int depth) {
    auto out = primary(depth);
    for (int links = 0; !failed_; ++links) {
      const auto position = peek().position;
      if (links > 100) return fail(position, "expression recursion limit exceeded");
      if (eat(".")) {
        out = selection(std::move(out), position, depth);
      } else if (eat("[")) {
        const bool optional = eat("?");
        out = binary(optional ? Op::optional_index : Op::index, position, std::move(out),
                     expression(depth + 1));
        expect("]");
      } else {
        break;
      }
    }
    return out;
  }

  Node selection(Node operand, std::size_t position, int depth) {
    const bool optional = eat("?");
    if (peek().kind != Token::Kind::identifier) return unexpected();
    Node out{.op = optional ? Op::optional_select : Op::select, .position = position};
    out.name = peek().text;
    ++at_;
    out.children.push_back(std::move(operand));
    if (optional || !is("(")) {
      out.name = unescape(std::move(out.name));
      return out;
    }
    out.op = Op::method;
    out.position = peek().position;
    ++at_;
    arguments(out, ")", depth);
    return macro(std::move(out));
  }

  /// Field names that are no identifiers are written with escapes.
  static std::string unescape(std::string name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> escapes = {
        {{"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}, {"__underscores__", "__"}}};
    constexpr std::array<std::string_view, 21> words = {
        "true",     "false",   "null",      "in",       "as",  "break",  "const",
        "continue", "else",    "for",       "function", "if",  "import", "let",
        "loop",     "package", "namespace", "return",   "var", "void",   "while"};
    if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
      const auto word = std::string_view(name).substr(2, name.size() - 4);
      if (std::find(words.begin(), words.end(), word) != words.end()) return std::string(word);
    }
    std::string out;
    for (std::size_t i = 0; i < name.size();) {
      const auto rest = std::string_view(name).substr(i);
      const auto found = std::find_if(escapes.begin(), escapes.end(), [&](const auto& escape) {
        return rest.starts_with(escape.first);
      });
      out.append(found == escapes.end() ? rest.substr(0, 1) : found->second);
      i += found == escapes.end() ? 1 : found->first.size();
    }
    return out;
  }

  void arguments(Node& out, std::string_view close, int depth) {
    if (eat(close)) return;
    do {
      if (is(close)) break;  // a comma may end the list
      out.children.push_back(expression(depth + 1));
    } while (!failed_ && eat(","));
    if (!failed_) expect(close);
  }

  /// all, exists, exists_one, filter, map bind a variable.
  Node macro(Node call) {
    const auto& name = call.name;
    const bool three = call.children.size() == 3;
    Op op{};
    if (name == "all" && three) {
      op = Op::all;
    } else if (name == "exists" && three) {
      op = Op::exists;
    } else if ((name == "exists_one" || name == "existsOne") && three) {
      op = Op::exists_one;
    } else if (name == "filter" && three) {
      op = Op::filter;
    } else if (name == "map" && three) {
      op = Op::transform;
    } else if (name == "map" && call.children.size() == 4) {
      op = Op::filter_transform;
    } else {
      return call;
    }
    const auto& variable = call.children[1];
    if (variable.op != Op::identifier) {
      return fail(variable.position, "argument must be a simple name");
    }
    Node out{.op = op, .position = call.position, .name = variable.name};
    for (std::size_t i = 0; i < call.children.size(); ++i) {
      if (i != 1) out.children.push_back(std::move(call.children[i]));
    }
    return out;
  }

  Node primary(int depth) {
    const auto token = peek();
    if (token.kind == Token::Kind::symbol) return bracketed(token, depth);
    if (token.kind == Token::Kind::end) {
      return fail(token.position,
                  "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', "
                  "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
                  "IDENTIFIER}");
    }
    ++at_;
    Node out{.op = Op::constant, .position = token.position};
    switch (token.kind) {
      case Token::Kind::string:
        out.constant = Value::text(token.text);
        return out;
      case Token::Kind::bytes:
        out.constant = Value(Bytes{token.text});
        return out;
      case Token::Kind::identifier:
        return named(token, depth);
      default:
        return number(token);
    }
  }

  Node number(const Token& token) {
    Node out{.op = Op::constant, .position = token.position};
    const auto invalid = [&] { return fail(token.position, "invalid number literal"); };
    if (token.kind == Token::Kind::number) {
      out.constant = Value(std::strtod(token.text.c_str(), nullptr));
      return out;
    }
    auto text = std::string_view(token.text);
    const bool negative = text.starts_with("-");
    if (negative) text.remove_prefix(1);
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    std::uint64_t number = 0;
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
    if (failed != std::errc() || end != text.data() + text.size()) return invalid();
    if (token.kind == Token::Kind::unsigned_integer) {
      out.constant = Value(number);
      return out;
    }
    if (number > static_cast<std::uint64_t>(INT64_MAX) + (negative ? 1 : 0)) return invalid();
    out.constant = Value(static_cast<std::int64_t>(negative ? 0 - number : number));
    return out;
  }

  Node named(const Token& token, int depth) {
    Node out{.op = Op::constant, .position = token.position};
    if (token.text == "true" || token.text == "false") {
      out.constant = Value(token.text == "true");
      return out;
    }
    if (token.text == "null") return out;
    if (token.text == "in") {
      --at_;
      return unexpected();
    }
    out.name = token.text;
    out.op = Op::identifier;
    if (!is("(")) return out;
    out.op = Op::call;
    out.position = peek().position;
    ++at_;
    arguments(out, ")", depth);
    if (failed_ || out.name != "has") return out;
    if (out.children.size() != 1 || out.children[0].op != Op::select) {
      return fail(out.position, "invalid argument to has() macro");
    }
    auto selected = std::move(out.children[0]);
    selected.op = Op::has;
    return selected;
  }

  Node bracketed(const Token& token, int depth) {
    if (eat("(")) {
      auto out = expression(depth + 1);
      if (!failed_) expect(")");
      return out;
    }
    if (eat("[")) {
      Node out{.op = Op::list, .position = token.position};
      arguments(out, "]", depth);
      return out;
    }
    if (!eat("{")) return unexpected();
    Node out{.op = Op::map, .position = token.position};
    while (!failed_ && !eat("}")) {
      out.children.push_back(expression(depth + 1));
      if (!failed_) expect(":");
      if (!failed_) out.children.push_back(expression(depth + 1));
      if (!failed_ && !is("}")) expect(",");
    }
    return out;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::size_t where_ = 0;
  std::string error_;
};

}  // namespace

std::string_view operator_name(Op op) {
  switch (op) {
    case Op::index:
      return "_[_]";
    case Op::logical_not:
      return "!_";
    case Op::negate:
      return "-_";
    case Op::logical_and:
      return "_&&_";
    case Op::logical_or:
      return "_||_";
    case Op::conditional:
      return "_?_:_";
    case Op::equal:
      return "_==_";
    case Op::not_equal:
      return "_!=_";
    case Op::less:
      return "_<_";
    case Op::less_equal:
      return "_<=_";
    case Op::greater:
      return "_>_";
    case Op::greater_equal:
      return "_>=_";
    case Op::in:
      return "@in";
    case Op::add:
      return "_+_";
    case Op::subtract:
      return "_-_";
    case Op::multiply:
      return "_*_";
    case Op::divide:
      return "_/_";
    case Op::modulo:
      return "_%_";
    default:
      return "";
  }
}

std::string error_at(std::string_view expression, std::size_t position, std::string_view what) {
  position = std::min(position, expression.size());
  const auto before = expression.substr(0, position);
  const auto line_number = std::count(before.begin(), before.end(), '\n') + 1;
  const auto newline = before.rfind('\n');
  const auto start = newline == std::string_view::npos ? 0 : newline + 1;
  const auto line = expression.substr(start, expression.find('\n', start) - start);
  const auto column = position - start;
  return "ERROR: <input>:" + std::to_string(line_number) + ":" + std::to_string(column + 1) + ": " +
         std::string(what) + "\n | " + std::string(line) + "\n | " + std::string(column, '.') + "^";
}

Result<Node> parse_expression(std::string_view text) {
  if (text.size() > expression_length_max) {
    return Error(Errc::invalid,
                 "expression is longer than " + std::to_string(expression_length_max) + " bytes");
  }
  Lexer lexer(text);
  auto tokens = lexer.run();
  if (!tokens) return Error(Errc::invalid, error_at(text, lexer.position(), lexer.error()));
  return Parser(text, std::move(*tokens)).parse();
}

}  // namespace regatta::manifest::cel
