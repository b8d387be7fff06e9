#include "lib/manifest/crd/json_path.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace regatta::manifest {

class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : text_(text) {}

  Result<JsonPath> parse() {
    while (at_ < text_.size()) {
      const bool good = text_[at_] == '.' ? dot() : text_[at_] == '[' ? bracket() : false;
      if (!good) {
        return Error(Errc::invalid, "cannot read JSON path " + std::string(text_) +
                                        " at position " + std::to_string(at_));
      }
    }
    return std::move(out_);
  }

 private:
  using Step = JsonPath::Step;

  bool dot() {
    ++at_;
    if (at_ >= text_.size()) return out_.steps_.empty();
    if (text_[at_] == '[') return true;
    auto name = word(".[");
    if (name.empty()) return false;
    out_.steps_.push_back({.name = std::move(name)});
    return true;
  }

  /// The text up to one of `stops`; a backslash escapes the next character.
  std::string word(std::string_view stops) {
    std::string out;
    while (at_ < text_.size() && stops.find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out.push_back(text_[at_++]);
    }
    return out;
  }

  bool eat(std::string_view what) {
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }

  std::optional<std::string> quoted() {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return std::nullopt;
    ++at_;
    auto out = word(std::string_view(&quote, 1));
    if (!eat(std::string_view(&quote, 1))) return std::nullopt;
    return out;
  }

  bool bracket() {
    ++at_;
    if (eat("*]")) {
      out_.steps_.push_back({.kind = Step::Kind::all});
      return true;
    }
    if (eat("?(")) return filter();
    if (auto name = quoted()) {
      out_.steps_.push_back({.name = std::move(*name)});
      return eat("]");
    }
    const auto range = word("]");
    const auto colon = range.find(':');
    Step step{.kind = colon == std::string::npos ? Step::Kind::index : Step::Kind::slice};
    const bool good = step.kind == Step::Kind::index ? number(range, &step.index)
                                                     : bound(range.substr(0, colon), &step.from) &&
                                                           bound(range.substr(colon + 1), &step.to);
    if (!good) return false;
    out_.steps_.push_back(std::move(step));
    return eat("]");
  }

  static bool number(const std::string& digits, long* out) {
    const auto* end = digits.data() + digits.size();
    const auto [at, failed] = std::from_chars(digits.data(), end, *out);
    return failed == std::errc() && at == end;
  }

  static bool bound(const std::string& digits, std::optional<long>* out) {
    return digits.empty() || number(digits, &out->emplace());
  }

  void spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool filter() {
    Step step{.kind = Step::Kind::filter};
    spaces();
    if (!eat("@")) return false;
    while (eat(".")) step.left.push_back(word(".=! )"));
    spaces();
    step.equal = eat("==");
    if (!step.equal && !eat("!=")) return false;
    spaces();
    auto value = quoted();
    if (!value) value = word(" )");
    step.name = std::move(*value);
    spaces();
    out_.steps_.push_back(std::move(step));
    return eat(")]");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  JsonPath out_;
};

Result<JsonPath> JsonPath::parse(std::string_view text) {
  if (text.size() > 1024) return Error(Errc::invalid, "JSON path is longer than 1024 bytes");
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  return JsonPathParser(text).parse();
}

std::vector<const Json*> JsonPath::find(const Json& root) const {
  std::vector<const Json*> found = {&root};
  for (const auto& step : steps_) {
    std::vector<const Json*> next;
    for (const auto* value : found) {
      if (step.kind == Step::Kind::field) {
        if (!value->is_object()) continue;
        const auto at = value->find(step.name);
        if (at != value->end()) next.push_back(&*at);
      } else if (step.kind == Step::Kind::index) {
        const auto size = static_cast<long>(value->is_array() ? value->size() : 0);
        const auto at = step.index < 0 ? step.index + size : step.index;
        if (at >= 0 && at < size) next.push_back(&(*value)[static_cast<std::size_t>(at)]);
      } else if (step.kind == Step::Kind::slice) {
        const auto size = static_cast<long>(value->is_array() ? value->size() : 0);
        const auto within = [size](long at) {
          return std::clamp(at < 0 ? at + size : at, 0L, size);
        };
        const auto end = within(step.to.value_or(size));
        for (auto at = within(step.from.value_or(0)); at < end; ++at) {
          next.push_back(&(*value)[static_cast<std::size_t>(at)]);
        }
      } else if (value->is_structured()) {
        for (const auto& item : *value) {
          const auto* left = &item;
          for (const auto& name : step.left) {
            const auto at = left->is_object() ? left->find(name) : left->end();
            left = left->is_object() && at != left->end() ? &*at : nullptr;
            if (!left) break;
          }
          const bool same =
              left && (left->is_string() ? left->get_ref<const std::string&>() == step.name
                                         : dump_json(*left) == step.name);
          if (step.kind == Step::Kind::all || (left && same == step.equal)) next.push_back(&item);
        }
      }
    }
    found = std::move(next);
  }
  return found;
}

const Json* JsonPath::first(const Json& root) const {
  const auto found = find(root);
  return found.empty() ? nullptr : found.front();
}

std::vector<std::string> JsonPath::fields() const {
  std::vector<std::string> out;
  for (const auto& step : steps_) {
    if (step.kind != Step::Kind::field) return {};
    out.push_back(step.name);
  }
  return out;
}

}  // namespace regatta::manifest
