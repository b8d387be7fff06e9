#include "apiserver/selector.h"

#include "apiserver/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace regatta::apiserver {
namespace {

Failure unparsable(std::string why) {
  return bad_request("unable to parse requirement: " + std::move(why));
}

std::optional<std::int64_t> as_number(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

}  // namespace

class LabelSelectorParser {
 public:
  explicit LabelSelectorParser(std::string_view text) : text_(text) { advance(); }

  Answer<LabelSelector> parse() {
    LabelSelector selector;
    if (token_.empty()) return selector;
    while (true) {
      Answer<LabelSelector::Requirement> one = requirement();
      if (!one) return one.error();
      selector.requirements_.push_back(std::move(*one));
      if (token_.empty()) return selector;
      if (token_ != ",") return unparsable(found("',' or 'end of string'"));
      advance();
      if (token_.empty()) return unparsable("found '', expected: identifier after ','");
    }
  }

 private:
  using Operator = LabelSelector::Operator;

  std::string found(const std::string& expected) const {
    return "found '" + token_ + "', expected: " + expected;
  }

  static bool special(char c) {
    return std::string_view("=!(),<>").find(c) != std::string_view::npos;
  }

  bool identifier() const { return !token_.empty() && !special(token_.front()); }

  void advance() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::size_t start = at_;
    if (at_ < text_.size() && special(text_[at_])) {
      const std::string_view two = text_.substr(at_, 2);
      at_ += two == "==" || two == "!=" ? 2 : 1;
    } else {
      while (at_ < text_.size() && !special(text_[at_]) && text_[at_] != ' ' &&
             text_[at_] != '\t') {
        ++at_;
      }
    }
    token_ = std::string(text_.substr(start, at_ - start));
  }

  Answer<LabelSelector::Requirement> requirement() {
    LabelSelector::Requirement result;
    const bool negated = token_ == "!";
    if (negated) advance();
    if (!identifier()) return unparsable(found("identifier"));
    result.key = token_;
    advance();
    if (negated || token_.empty() || token_ == ",") {
      result.op = negated ? Operator::missing : Operator::exists;
      return result;
    }
    const std::string op = token_;
    advance();
    if (op == "in" || op == "notin") {
      result.op = op == "in" ? Operator::in : Operator::not_in;
      return list(std::move(result));
    }
    if (op == "=" || op == "==" || op == "!=") {
      result.op = op == "!=" ? Operator::not_in : Operator::in;
    } else if (op == ">" || op == "<") {
      result.op = op == ">" ? Operator::greater : Operator::less;
    } else {
      return unparsable("found '" + op + "', expected: in, notin, =, ==, !=, gt, lt");
    }
    if (token_.empty() || token_ == ",") {
      result.values.emplace_back();
      return result;
    }
    if (!identifier()) return unparsable(found("identifier"));
    result.values.push_back(token_);
    advance();
    return result;
  }

  Answer<LabelSelector::Requirement> list(LabelSelector::Requirement result) {
    if (token_ != "(") return unparsable(found("'('"));
    advance();
    while (token_ != ")") {
      if (token_ == ",") {
        advance();
        continue;
      }
      if (!identifier()) return unparsable(found("',', ')' or identifier"));
      result.values.push_back(token_);
      advance();
    }
    advance();
    if (result.values.empty()) result.values.emplace_back();
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string token_;
};

Answer<LabelSelector> LabelSelector::parse(std::string_view text) {
  return LabelSelectorParser(text).parse();
}

bool LabelSelector::matches(const Json& object) const {
  const Json* labels = member(object, "metadata", "labels");
  for (const Requirement& wanted : requirements_) {
    const std::string* value = labels ? string_member(*labels, wanted.key) : nullptr;
    const bool among = value && std::find(wanted.values.begin(), wanted.values.end(), *value) !=
                                    wanted.values.end();
    bool good = false;
    switch (wanted.op) {
      case Operator::in:
        good = among;
        break;
      case Operator::not_in:
        good = !among;
        break;
      case Operator::exists:
        good = value != nullptr;
        break;
      case Operator::missing:
        good = value == nullptr;
        break;
      case Operator::greater:
      case Operator::less: {
        const auto left = value ? as_number(*value) : std::nullopt;
        const auto right = as_number(wanted.values[0]);
        good = left && right && (wanted.op == Operator::greater ? *left > *right : *left < *right);
        break;
      }
    }
    if (!good) return false;
  }
  return true;
}

namespace {

Failure unknown_field(const std::string& field, const ResourceType& type, bool none_special) {
  if (type.custom || !none_special) return bad_request("field label not supported: " + field);
  const std::string known = type.namespaced ? "\"metadata.name\", \"metadata.namespace\""
                                            : "\"metadata.name\", \"metadata.namespace\"";
  return bad_request(in_quotes(field) + " is not a known field selector: only " + known);
}

}  // namespace

Answer<FieldSelector> FieldSelector::parse(std::string_view text, const ResourceType& type) {
  FieldSelector selector;
  if (text.empty()) return selector;
  const auto special = type.strategy->selectable_fields(Json::object());
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part(text.substr(at, end - at));
    at = end + 1;
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      return bad_request("invalid selector: '" + std::string(text) + "'; can't understand '" +
                         part + "'");
    }
    const bool negated = equals > 0 && part[equals - 1] == '!';
    const bool doubled = equals + 1 < part.size() && part[equals + 1] == '=';
    Term term{part.substr(0, equals - (negated ? 1 : 0)),
              part.substr(equals + (doubled && !negated ? 2 : 1)), !negated};
    const bool known = term.field == "metadata.name" || term.field == "metadata.namespace" ||
                       std::any_of(special.begin(), special.end(), [&term](const auto& field) {
                         return field.first == term.field;
                       });
    if (!known) return unknown_field(term.field, type, special.empty());
    selector.terms_.push_back(std::move(term));
  }
  return selector;
}

const std::string& FieldSelector::only_name() const {
  static const std::string none;
  for (const Term& term : terms_) {
    if (term.field == "metadata.name" && term.equal) return term.value;
  }
  return none;
}

bool FieldSelector::matches(const Json& object, const ResourceType& type) const {
  std::optional<std::vector<std::pair<std::string, std::string>>> fields;
  for (const Term& term : terms_) {
    std::string value;
    if (term.field == "metadata.name" || term.field == "metadata.namespace") {
      const Json* metadata = member(object, "metadata");
      const std::string* text =
          metadata ? string_member(*metadata, term.field.substr(sizeof("metadata.") - 1)) : nullptr;
      if (text) value = *text;
    } else {
      if (!fields) fields = type.strategy->selectable_fields(object);
      for (const auto& [name, found] : *fields) {
        if (name == term.field) value = found;
      }
    }
    if ((value == term.value) != term.equal) return false;
  }
  return true;
}

}  // namespace regatta::apiserver
