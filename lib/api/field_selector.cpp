#include "lib/api/labels.h"

#include <optional>

namespace regatta::api {
namespace {

/// The terms between unescaped commas; empty terms are left out.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\\') {
      ++i;
    } else if (i == text.size() || text[i] == ',') {
      if (i > start) out.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (start < text.size()) out.push_back(text.substr(start));
  return out;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i == text.size() || std::string_view("\\,=").find(text[i]) == std::string_view::npos) {
        return std::nullopt;
      }
    } else if (text[i] == ',' || text[i] == '=') {
      return std::nullopt;
    }
    out += text[i];
  }
  return out;
}

}  // namespace

Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text) {
  std::vector<FieldRequirement> out;
  for (const std::string_view term : terms_of(text)) {
    const std::size_t equal = term.find('=');
    if (equal == std::string_view::npos) {
      return Error(Errc::invalid, "invalid selector: '" + std::string(text) +
                                      "'; can't understand '" + std::string(term) + "'");
    }
    const bool negated = equal > 0 && term[equal - 1] == '!';
    const bool doubled = !negated && equal + 1 < term.size() && term[equal + 1] == '=';
    FieldRequirement requirement;
    requirement.field = term.substr(0, negated ? equal - 1 : equal);
    requirement.equals = !negated;
    const std::string_view value = term.substr(equal + (doubled ? 2 : 1));
    std::optional<std::string> plain = unescaped(value);
    if (!plain) {
      return Error(Errc::invalid, "invalid field selector: in \"" + std::string(value) +
                                      "\" a comma, an equals sign or a backslash needs a backslash "
                                      "before it, and nothing else may have one");
    }
    requirement.value = std::move(*plain);
    out.push_back(std::move(requirement));
  }
  return out;
}

}  // namespace regatta::api
