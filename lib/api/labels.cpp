#include "lib/api/labels.h"

#include "lib/api/matching.h"
#include "lib/api/validation.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace regatta::api {
namespace {

using Operator = Requirement::Operator;

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t out = 0;
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, out);
  if (problem != std::errc{} || at != end) return std::nullopt;
  return out;
}

bool compares(const std::string& value, const std::vector<std::string>& bound, bool greater) {
  const auto left = number(value);
  const auto right = bound.size() == 1 ? number(bound.front()) : std::nullopt;
  return left && right && (greater ? *left > *right : *left < *right);
}

bool holds(Operator op, const std::vector<std::string>& values, const std::string* value) {
  const bool in = value && std::find(values.begin(), values.end(), *value) != values.end();
  switch (op) {
    case Operator::in:
      return in;
    case Operator::not_in:
      return !in;
    case Operator::exists:
      return value != nullptr;
    case Operator::does_not_exist:
      return value == nullptr;
    case Operator::greater:
      return value && compares(*value, values, true);
    case Operator::less:
      return value && compares(*value, values, false);
  }
  return false;
}

const std::string* value_of(const StringMap& labels, const std::string& key) {
  const auto it = labels.find(key);
  return it == labels.end() ? nullptr : &it->second;
}

std::optional<Operator> operator_of(std::string_view text) {
  if (text == "In") return Operator::in;
  if (text == "NotIn") return Operator::not_in;
  if (text == "Exists") return Operator::exists;
  if (text == "DoesNotExist") return Operator::does_not_exist;
  if (text == "Gt") return Operator::greater;
  if (text == "Lt") return Operator::less;
  return std::nullopt;
}

std::string joined(const Complaints& complaints) {
  std::string out;
  for (const std::string& one : complaints) (out += out.empty() ? "" : "; ") += one;
  return out;
}

/// The rules of a requirement, in the API server's words.
Status check(const Requirement& requirement) {
  Complaints complaints = check_qualified_name(requirement.key);
  if (!complaints.empty()) {
    return Error(Errc::invalid,
                 "key: Invalid value: \"" + requirement.key + "\": " + joined(complaints));
  }
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    complaints = check_label_value(requirement.values[i]);
    if (complaints.empty()) continue;
    return Error(Errc::invalid, "values[" + std::to_string(i) + "][" + requirement.key +
                                    "]: Invalid value: \"" + requirement.values[i] +
                                    "\": " + joined(complaints));
  }
  const bool ordered = requirement.op == Operator::greater || requirement.op == Operator::less;
  if (ordered && !number(requirement.values.front())) {
    return Error(Errc::invalid, "values[0]: Invalid value: \"" + requirement.values.front() +
                                    "\": for 'Gt', 'Lt' operators, the value must be an integer");
  }
  return ok();
}

/// Splits the query form into words and the marks = == != ! ( ) , < >.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::string next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != npos) ++at_;
    if (at_ == text_.size()) return {};
    const std::size_t start = at_++;
    if (!is_mark(text_[start])) {
      while (at_ < text_.size() && !is_mark(text_[at_]) &&
             std::string_view(" \t\r\n").find(text_[at_]) == npos) {
        ++at_;
      }
    } else if (at_ < text_.size() && text_[at_] == '=' &&
               (text_[start] == '=' || text_[start] == '!')) {
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  static bool is_mark(char c) { return std::string_view("=!(),<>").find(c) != npos; }

 private:
  static constexpr std::size_t npos = std::string_view::npos;
  std::string_view text_;
  std::size_t at_ = 0;
};

class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : lexer_(text) { advance(); }

  Result<std::vector<Requirement>> parse() {
    std::vector<Requirement> out;
    while (!token_.empty()) {
      if (!is_word() && token_ != "!") return found("!, identifier, or 'end of string'");
      Result<Requirement> one = requirement();
      if (!one) return one.error();
      if (const Status status = check(*one); !status) return unparsable(status.error().what());
      out.push_back(std::move(*one));
      if (token_.empty()) break;
      if (token_ != ",") return found("',' or 'end of string'");
      advance();
      if (!is_word() && token_ != "!") return found("identifier after ','");
    }
    return out;
  }

 private:
  static Error unparsable(const std::string& why) {
    return Error(Errc::invalid, "unable to parse requirement: " + why);
  }
  Error found(std::string_view expected) const {
    return unparsable("found '" + token_ + "', expected: " + std::string(expected));
  }
  bool is_word() const { return !token_.empty() && !Lexer::is_mark(token_.front()); }
  void advance() { token_ = lexer_.next(); }

  Result<Requirement> requirement() {
    Requirement out;
    if (token_ == "!") {
      advance();
      out.op = Operator::does_not_exist;
    }
    if (!is_word()) return found("identifier");
    out.key = token_;
    advance();
    if (out.op == Operator::does_not_exist || token_.empty() || token_ == ",") return out;
    const std::string op = token_;
    if (op == "in" || op == "notin") {
      out.op = op == "in" ? Operator::in : Operator::not_in;
      advance();
      if (Status status = set(&out.values); !status) return status.error();
      return out;
    }
    if (op == "=" || op == "==") {
      out.op = Operator::in;
    } else if (op == "!=") {
      out.op = Operator::not_in;
    } else if (op == ">" || op == "<") {
      out.op = op == ">" ? Operator::greater : Operator::less;
    } else {
      return found("in, notin, =, ==, !=, gt, lt");
    }
    advance();
    if (token_.empty() || token_ == ",") {
      out.values.emplace_back();
      return out;
    }
    if (!is_word()) return found("identifier");
    out.values.push_back(token_);
    advance();
    return out;
  }

  /// Reads "(a,b,)"; an empty place is the empty value.
  Status set(std::vector<std::string>* values) {
    if (token_ != "(") return found("'('");
    advance();
    while (true) {
      if (is_word()) {
        values->push_back(token_);
        advance();
      } else if (token_ == "," || token_ == ")") {
        values->emplace_back();
      } else {
        return found("',', or identifier");
      }
      if (token_ == ")") break;
      if (token_ != ",") return found("',' or ')'");
      advance();
    }
    advance();
    std::sort(values->begin(), values->end());
    values->erase(std::unique(values->begin(), values->end()), values->end());
    return ok();
  }

  Lexer lexer_;
  std::string token_;
};

/// Sorts stably: requirements on one key keep their order.
void sort_by_key(std::vector<Requirement>* requirements) {
  std::multimap<std::string, Requirement> sorted;
  for (Requirement& one : *requirements) {
    std::string key = one.key;
    sorted.emplace(std::move(key), std::move(one));
  }
  requirements->clear();
  for (auto& [key, one] : sorted) requirements->push_back(std::move(one));
}

std::string text_of(const Requirement& requirement) {
  std::string values;
  for (const std::string& value : requirement.values) {
    if (&value != &requirement.values.front()) values += ',';
    values += value;
  }
  switch (requirement.op) {
    case Operator::exists:
      return requirement.key;
    case Operator::does_not_exist:
      return "!" + requirement.key;
    case Operator::greater:
      return requirement.key + ">" + values;
    case Operator::less:
      return requirement.key + "<" + values;
    case Operator::in:
      if (requirement.values.size() == 1) return requirement.key + "=" + values;
      return requirement.key + " in (" + values + ")";
    case Operator::not_in:
      if (requirement.values.size() == 1) return requirement.key + "!=" + values;
      return requirement.key + " notin (" + values + ")";
  }
  return {};
}

}  // namespace

bool matches(const LabelSelectorRequirement& requirement, const StringMap& labels) {
  const std::optional<Operator> op = operator_of(requirement.op);
  return op && holds(*op, requirement.values, value_of(labels, requirement.key));
}

bool Requirement::holds(const std::string* value) const {
  return api::holds(op, values, value);
}

bool Requirement::matches(const StringMap& labels) const {
  return holds(value_of(labels, key));
}

Result<Selector> Selector::parse(std::string_view text) {
  Result<std::vector<Requirement>> requirements = SelectorParser(text).parse();
  if (!requirements) return requirements.error();
  Selector out;
  out.requirements_ = std::move(*requirements);
  sort_by_key(&out.requirements_);
  return out;
}

Result<Selector> Selector::from(const LabelSelector& selector) {
  Selector out;
  for (const auto& [key, value] : selector.match_labels) {
    out.requirements_.push_back({key, Operator::in, {value}});
  }
  for (const LabelSelectorRequirement& expression : selector.match_expressions) {
    const std::optional<Operator> op = operator_of(expression.op);
    if (!op || *op == Operator::greater || *op == Operator::less) {
      return Error(Errc::invalid,
                   "\"" + expression.op + "\" is not a valid label selector operator");
    }
    const bool listed = *op == Operator::in || *op == Operator::not_in;
    if (listed && expression.values.empty()) {
      return Error(Errc::invalid,
                   "values: Invalid value: []: for 'in', 'notin' operators, values "
                   "set can't be empty");
    }
    if (!listed && !expression.values.empty()) {
      return Error(Errc::invalid,
                   "values: Invalid value: values set must be empty for exists and "
                   "does not exist");
    }
    Requirement requirement{expression.key, *op, expression.values};
    std::sort(requirement.values.begin(), requirement.values.end());
    out.requirements_.push_back(std::move(requirement));
  }
  for (const Requirement& requirement : out.requirements_) {
    if (Status status = check(requirement); !status) return status.error();
  }
  sort_by_key(&out.requirements_);
  return out;
}

Selector Selector::nothing() {
  Selector out;
  out.nothing_ = true;
  return out;
}

bool Selector::matches(const StringMap& labels) const {
  return !nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                  [&](const Requirement& one) { return one.matches(labels); });
}

std::string Selector::str() const {
  std::string out;
  for (const Requirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += text_of(requirement);
  }
  return out;
}

}  // namespace regatta::api
