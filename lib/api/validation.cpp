#include "lib/api/validation.h"

#include <algorithm>

namespace regatta::api {
namespace {

constexpr std::size_t label_max = 63;
constexpr std::size_t subdomain_max = 253;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower_alnum(char c) {
  return is_lower(c) || is_digit(c);
}
bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/// Kubernetes' messages count names in characters and labels in bytes; its checks count bytes in
/// both.
std::string too_long(std::size_t limit, std::string_view unit) {
  return "must be no more than " + std::to_string(limit) + " " + std::string(unit);
}

std::string rule(std::string_view words, std::string_view examples, std::string_view regex) {
  std::string out(words);
  out.append(" (e.g. ").append(examples).append(", regex used for validation is '");
  return out.append(regex).append("')");
}

bool label_shape(std::string_view value) {
  if (value.empty() || !is_lower_alnum(value.front()) || !is_lower_alnum(value.back())) {
    return false;
  }
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool subdomain_shape(std::string_view value) {
  while (true) {
    const std::size_t dot = value.find('.');
    if (!label_shape(value.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    value.remove_prefix(dot + 1);
  }
}

/// "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
bool name_shape(std::string_view value) {
  if (value.empty() || !is_alnum(value.front()) || !is_alnum(value.back())) return false;
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

constexpr std::string_view name_words =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character";
constexpr std::string_view name_examples = "'MyName',  or 'my.name',  or '123-abc'";
constexpr std::string_view name_regex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// `what` is what the message calls the value, `unit` what it counts in a prefix.
Complaints check_prefixed_name(std::string_view value, std::string_view what,
                               std::string_view unit) {
  Complaints out;
  std::string_view name = value;
  const std::size_t slash = value.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = value.substr(0, slash);
    name = value.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      const std::string words = std::string(what) + " " + std::string(name_words);
      return {rule(words, name_examples, name_regex) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) out.push_back("prefix part must be non-empty");
    if (!prefix.empty()) {
      for (const std::string& complaint : check_dns1123_subdomain(prefix, unit)) {
        out.push_back("prefix part " + complaint);
      }
    }
  }
  if (name.empty()) out.push_back("name part must be non-empty");
  if (name.size() > label_max) out.push_back("name part " + too_long(label_max, "bytes"));
  if (!name_shape(name)) {
    out.push_back(rule("name part " + std::string(name_words), name_examples, name_regex));
  }
  return out;
}

}  // namespace

Complaints check_dns1123_label(std::string_view value) {
  Complaints out;
  if (value.size() > label_max) out.push_back(too_long(label_max, "characters"));
  if (!label_shape(value)) {
    out.push_back(
        rule("a lowercase RFC 1123 label must consist of lower case alphanumeric "
             "characters or '-', and must start and end with an alphanumeric character",
             "'my-name',  or '123-abc'", "[a-z0-9]([-a-z0-9]*[a-z0-9])?"));
  }
  return out;
}

Complaints check_dns1123_subdomain(std::string_view value) {
  return check_dns1123_subdomain(value, "characters");
}

Complaints check_dns1123_subdomain(std::string_view value, std::string_view unit) {
  Complaints out;
  if (value.size() > subdomain_max) out.push_back(too_long(subdomain_max, unit));
  if (!subdomain_shape(value)) {
    out.push_back(
        rule("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
             "characters, '-' or '.', and must start and end with an alphanumeric "
             "character",
             "'example.com'", "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"));
  }
  return out;
}

Complaints check_dns1035_label(std::string_view value) {
  Complaints out;
  if (value.size() > label_max) out.push_back(too_long(label_max, "characters"));
  if (!label_shape(value) || !is_lower(value.front())) {
    out.push_back(
        rule("a DNS-1035 label must consist of lower case alphanumeric characters or "
             "'-', start with an alphabetic character, and end with an alphanumeric "
             "character",
             "'my-name',  or 'abc-123'", "[a-z]([-a-z0-9]*[a-z0-9])?"));
  }
  return out;
}

Complaints check_qualified_name(std::string_view value) {
  return check_prefixed_name(value, "a qualified name", "characters");
}

Complaints check_label_key(std::string_view key) {
  return check_prefixed_name(key, "a valid label key", "bytes");
}

Complaints check_label_value(std::string_view value) {
  Complaints out;
  if (value.size() > label_max) out.push_back(too_long(label_max, "bytes"));
  if (!value.empty() && !name_shape(value)) {
    out.push_back(rule(
        "a valid label must be an empty string or consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character",
        "'MyValue',  or 'my_value',  or '12345'", "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"));
  }
  return out;
}

}  // namespace regatta::api
