#include "lib/manifest/builtin/scalars.h"

#include "lib/api/quantity.h"
#include "lib/base/base64.h"
#include "lib/base/clock.h"

#include <nlohmann/json.hpp>

#include <cctype>

namespace regatta::manifest {

namespace {

using Problem = std::optional<std::string>;

constexpr const char* quantity_rule =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::size_t seconds_length = 19;  // of 2026-01-01T00:00:00
constexpr std::size_t micro_digits = 6;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Problem quantity(Json& value) {
  if (value.is_null()) return std::nullopt;
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (value.is_string() && text.empty()) {
    value = "0";
    return std::nullopt;
  }
  const auto parsed = api::Quantity::parse(text);
  if (!parsed) return quantity_rule;
  value = parsed->str();
  return std::nullopt;
}

Problem bytes(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto decoded = base64_decode(value.get_ref<const std::string&>());
  if (decoded) return std::nullopt;
  return decoded.error().what();
}

std::string cannot_parse(const std::string& text, const char* layout, std::string_view rest,
                         std::string_view wanted) {
  return "parsing time \"" + text + "\" as \"" + layout + "\": cannot parse \"" +
         std::string(rest) + "\" as \"" + std::string(wanted) + "\"";
}

Problem micro_time(Json& value) {
  if (!value.is_string()) return std::nullopt;
  constexpr const char* layout = "2006-01-02T15:04:05.000000Z07:00";
  const std::string text = value.get<std::string>();
  const auto parsed = parse_rfc3339(text);
  if (!parsed) return cannot_parse(text, layout, text, "2006");
  const std::string_view rest = std::string_view(text).substr(seconds_length);
  std::size_t digits = 0;
  while (digits + 1 < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits + 1]))) {
    ++digits;
  }
  if (rest.empty() || rest.front() != '.' || digits < micro_digits) {
    return cannot_parse(text, layout, rest, ".000000");
  }
  if (digits > micro_digits) {
    return cannot_parse(text, layout, rest.substr(1 + micro_digits), "Z07:00");
  }
  const std::string whole = format_rfc3339(*parsed);
  value = whole.substr(0, seconds_length) + std::string(rest.substr(0, 1 + micro_digits)) + "Z";
  return std::nullopt;
}

Problem time(Json& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string text = value.get<std::string>();
  const auto parsed = parse_rfc3339(text);
  if (!parsed) return cannot_parse(text, "2006-01-02T15:04:05Z07:00", text, "2006");
  if (text.size() != seconds_length + 1) value = format_rfc3339(*parsed);
  return std::nullopt;
}

Problem visit(Json& value, const Schema& schema, std::string* path);

Problem visit_object(Json& value, const Schema& schema, std::string* path) {
  for (auto& [name, child] : value.items()) {
    const Schema* child_schema = schema.member(name);
    if (child_schema == nullptr) continue;
    if (Problem problem = visit(child, *child_schema, path)) {
      if (path) path->insert(0, path->empty() || path->front() == '[' ? name : name + ".");
      return problem;
    }
  }
  return std::nullopt;
}

Problem visit(Json& value, const Schema& schema, std::string* path) {
  if (ends_with(schema.ref_name, ".Quantity")) return quantity(value);
  if (value.is_object()) return visit_object(value, schema, path);
  if (value.is_array()) {
    if (!schema.items) return std::nullopt;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (Problem problem = visit(value[i], *schema.items, path)) {
        const char* dot = path && !path->empty() && path->front() != '[' ? "." : "";
        if (path) path->insert(0, "[" + std::to_string(i) + "]" + dot);
        return problem;
      }
    }
    return std::nullopt;
  }
  if (ends_with(schema.ref_name, ".MicroTime")) return micro_time(value);
  if (schema.format == "byte") return bytes(value);
  if (schema.format == "date-time") return time(value);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> normalize_scalars(Json& object, const Schema& schema,
                                             std::string* path) {
  return visit(object, schema, path);
}

}  // namespace regatta::manifest
