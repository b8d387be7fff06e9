#include "lib/api/field_errors.h"

#include "lib/base/json_text.h"

#include <nlohmann/json.hpp>

#include <set>

namespace regatta::api {
namespace {

/// The escape of a character that has one; else null.
const char* short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\a':
      return "\\a";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\v':
      return "\\v";
    default:
      return nullptr;
  }
}

}  // namespace

std::string to_text(const FieldErrors& errors) {
  std::string out;
  for (const FieldError& error : errors) {
    if (!out.empty()) out += ", ";
    out += error.text();
  }
  return errors.size() > 1 ? "[" + out + "]" : out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const char* escape = short_escape(c)) {
      out += escape;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string json_quotes(std::string_view text) {
  std::string out;
  append_json(out, Json(std::string(text)), Escapes::html);
  return out;
}

void ErrorList::not_supported(std::string field, std::string_view value,
                              const std::vector<std::string>& supported) {
  std::string why;
  for (const std::string& one : supported) {
    why += (why.empty() ? "supported values: " : ", ") + in_quotes(one);
  }
  add(std::move(field), field_error::not_supported, "Unsupported value", value, why);
}

void ErrorList::too_long(std::string field, std::size_t limit) {
  add(std::move(field), field_error::too_long, "Too long", {},
      "may not be more than " + std::to_string(limit) + " bytes");
}

void ErrorList::too_many(std::string field, std::size_t count, std::size_t limit) {
  add(std::move(field), field_error::too_many, "Too many", std::to_string(count),
      "must have at most " + std::to_string(limit) + " items");
}

FieldErrors ErrorList::take() {
  FieldErrors out;
  std::set<std::string> seen;
  for (FieldError& error : errors_) {
    if (seen.insert(error.text()).second) out.push_back(std::move(error));
  }
  errors_.clear();
  return out;
}

void ErrorList::add(std::string field, std::string_view type, std::string_view words,
                    std::string_view value, std::string_view why) {
  std::string message(words);
  if (!value.empty()) message.append(": ").append(value);
  if (!why.empty()) message.append(": ").append(why);
  errors_.push_back({std::move(field), std::move(message), type, std::string(why)});
}

}  // namespace regatta::api
