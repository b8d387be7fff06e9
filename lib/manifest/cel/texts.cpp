#include "lib/manifest/cel/library.h"
#include "lib/manifest/schema/pattern.h"

#include <algorithm>
#include <cctype>
#include <string>

// Functions of texts. Positions count characters in the language and bytes here, which is the same
// for the ASCII texts of the API.

namespace regatta::manifest::cel {
namespace {

constexpr std::int64_t text_max = 1'000'000;

Value starts_with(Arguments arguments) {
  const auto text = arguments[0].string(), part = arguments[1].string();
  return text && part ? Value(text->starts_with(*part)) : no_overload();
}
Value ends_with(Arguments arguments) {
  const auto text = arguments[0].string(), part = arguments[1].string();
  return text && part ? Value(text->ends_with(*part)) : no_overload();
}
Value contains(Arguments arguments) {
  const auto text = arguments[0].string(), part = arguments[1].string();
  return text && part ? Value(text->find(*part) != std::string_view::npos) : no_overload();
}
Value matches(Arguments arguments) {
  const auto text = arguments[0].string(), expression = arguments[1].string();
  if (!text || !expression) return no_overload();
  const auto pattern = Pattern::compile(*expression);
  return pattern ? Value(pattern->search(*text)) : Value::failure(pattern.error().what());
}

template <int (*convert)(int)>
Value each_character(Arguments arguments) {
  const auto text = arguments[0].string();
  if (!text) return no_overload();
  std::string out(*text);
  for (auto& c : out) {
    if (static_cast<unsigned char>(c) < 128) {
      c = static_cast<char>(convert(static_cast<unsigned char>(c)));
    }
  }
  return Value::text(std::move(out));
}

Value trim(Arguments arguments) {
  auto text = arguments[0].string();
  if (!text) return no_overload();
  constexpr std::string_view space = " \t\n\v\f\r";
  const auto from = std::min(text->find_first_not_of(space), text->size());
  text->remove_prefix(from);
  text->remove_suffix(text->size() - (text->find_last_not_of(space) + 1));
  return Value::text(std::string(*text));
}

Value split(Arguments arguments) {
  const auto text = arguments[0].string(), separator = arguments[1].string();
  if (!text || !separator) return no_overload();
  std::int64_t limit = -1;
  if (arguments.size() > 2) {
    const auto* wanted = arguments[2].as<std::int64_t>();
    if (!wanted) return no_overload();
    limit = *wanted;
  }
  std::vector<Value> out;
  if (limit == 0) return Value::list(std::move(out));
  std::size_t at = 0;
  while (limit < 0 || static_cast<std::int64_t>(out.size()) + 1 < limit) {
    auto end = separator->empty() ? at + 1 : text->find(*separator, at);
    if (end == std::string_view::npos || end >= text->size() + (separator->empty() ? 0 : 1)) break;
    out.push_back(Value::text(std::string(text->substr(at, end - at))));
    at = end + separator->size();
  }
  out.push_back(Value::text(std::string(text->substr(at))));
  return Value::list(std::move(out));
}

Value join(Arguments arguments) {
  const auto separator = arguments.size() > 1 ? arguments[1].string() : std::string_view();
  if (!arguments[0].is_list() || !separator) return no_overload();
  std::string out;
  for (std::size_t i = 0; i < arguments[0].size(); ++i) {
    const auto item = arguments[0].item(i);
    const auto text = item.string();
    if (!text) return no_overload();
    if (i > 0) out += *separator;
    out += *text;
    if (out.size() > text_max) return Value::failure("text is too long");
  }
  return Value::text(std::move(out));
}

Value replace(Arguments arguments) {
  const auto text = arguments[0].string(), from = arguments[1].string(), to = arguments[2].string();
  if (!text || !from || !to) return no_overload();
  std::int64_t left = -1;
  if (arguments.size() > 3) {
    const auto* wanted = arguments[3].as<std::int64_t>();
    if (!wanted) return no_overload();
    left = *wanted;
  }
  std::string out(*text);
  std::size_t at = 0;
  while (left != 0 && !from->empty() && (at = out.find(*from, at)) != std::string::npos) {
    out.replace(at, from->size(), *to);
    at += to->size();
    --left;
    if (out.size() > text_max) return Value::failure("text is too long");
  }
  return Value::text(std::move(out));
}

Value substring(Arguments arguments) {
  const auto text = arguments[0].string();
  const auto* from = arguments[1].as<std::int64_t>();
  const auto* to = arguments.size() > 2 ? arguments[2].as<std::int64_t>() : nullptr;
  if (!text || !from || (arguments.size() > 2 && !to)) return no_overload();
  const auto size = static_cast<std::int64_t>(text->size());
  const auto end = to ? *to : size;
  if (*from < 0 || *from > size) {
    return Value::failure("index out of range: " + std::to_string(*from));
  }
  if (end < *from || end > size) {
    return Value::failure("invalid substring range. start: " + std::to_string(*from) +
                          ", end: " + std::to_string(end));
  }
  return Value::text(std::string(
      text->substr(static_cast<std::size_t>(*from), static_cast<std::size_t>(end - *from))));
}

Value char_at(Arguments arguments) {
  const auto text = arguments[0].string();
  const auto* at = arguments[1].as<std::int64_t>();
  if (!text || !at) return no_overload();
  if (*at < 0 || *at > static_cast<std::int64_t>(text->size())) {
    return Value::failure("index out of range: " + std::to_string(*at));
  }
  return Value::text(std::string(text->substr(static_cast<std::size_t>(*at), 1)));
}

template <bool last>
Value text_index_of(Arguments arguments) {
  const auto text = arguments[0].string(), part = arguments[1].string();
  if (!text || !part) return no_overload();
  const auto at = last ? text->rfind(*part) : text->find(*part);
  return Value(at == std::string_view::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at));
}

/// '%s is %d'.format([…]): %s, %d and %% only.
Value format(Arguments arguments) {
  const auto text = arguments[0].string();
  if (!text || !arguments[1].is_list()) return no_overload();
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text->size(); ++i) {
    if ((*text)[i] != '%') {
      out.push_back((*text)[i]);
      continue;
    }
    const char verb = ++i < text->size() ? (*text)[i] : '\0';
    if (verb == '%') {
      out.push_back('%');
      continue;
    }
    if ((verb != 's' && verb != 'd') || next >= arguments[1].size()) {
      return Value::failure("could not parse formatting clause");
    }
    const auto item = arguments[1].item(next++);
    if (const auto inner = item.string()) {
      out += *inner;
    } else if (const auto* number = item.as<std::int64_t>()) {
      out += std::to_string(*number);
    } else if (const auto* flag = item.as<bool>()) {
      out += *flag ? "true" : "false";
    } else {
      return Value::failure("could not format a value of type " + std::string(item.type_name()));
    }
  }
  return Value::text(std::move(out));
}

}  // namespace

std::vector<Function> text_functions() {
  using enum Kind;
  const std::vector<Kind> text = {string};
  return {
      {"startsWith", true, 2, 2, text, boolean, {}, starts_with},
      {"endsWith", true, 2, 2, text, boolean, {}, ends_with},
      {"contains", true, 2, 2, text, boolean, {}, contains},
      {"matches", true, 2, 2, text, boolean, {}, matches},
      {"matches", false, 2, 2, text, boolean, {}, matches},
      {"lowerAscii", true, 1, 1, text, string, {}, each_character<std::tolower>},
      {"upperAscii", true, 1, 1, text, string, {}, each_character<std::toupper>},
      {"trim", true, 1, 1, text, string, {}, trim},
      {"split", true, 2, 3, text, list, {}, split},
      {"join", true, 1, 2, {list}, string, {}, join},
      {"replace", true, 3, 4, text, string, {}, replace},
      {"substring", true, 2, 3, text, string, {}, substring},
      {"charAt", true, 2, 2, text, string, {}, char_at},
      {"indexOf", true, 2, 2, text, integer, {}, text_index_of<false>},
      {"lastIndexOf", true, 2, 2, text, integer, {}, text_index_of<true>},
      {"format", true, 2, 2, text, string, {}, format},
  };
}

}  // namespace regatta::manifest::cel
