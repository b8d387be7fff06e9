#include "lib/api/field_errors.h"

#include "lib/base/json_text.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::api {
namespace {

constexpr std::size_t errors_max = 100, errors_bytes_max = 256 * 1024;
/// Of supported values that are listed. No list that an API names by itself is longer.
constexpr std::size_t values_max = 20, values_bytes_max = 8 * 1024;

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
  if (is_full()) return leave_out();
  std::string why;
  std::size_t listed = 0;
  for (const std::string& one : supported) {
    if (listed == values_max || why.size() + one.size() > values_bytes_max) break;
    why += (listed++ == 0 ? "supported values: " : ", ") + in_quotes(one);
  }
  if (const std::size_t more = supported.size() - listed; more > 0) {
    why += (listed == 0 ? "" : " and ") + std::to_string(more) + " more";
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

void ErrorList::whole(std::string message) {
  *this = ErrorList();
  keep({"", std::move(message), field_error::invalid, ""});
}

void ErrorList::append(const FieldErrors& more) {
  for (const FieldError& error : more) keep(error);
}

bool ErrorList::is_full() const {
  return errors_.size() >= errors_max || bytes_ > errors_bytes_max;
}

FieldErrors ErrorList::take() {
  ErrorList taken = std::exchange(*this, ErrorList());
  if (taken.left_out_) {
    taken.errors_.push_back({"", "more errors were left out", field_error::invalid, ""});
  }
  return std::move(taken.errors_);
}

void ErrorList::add(std::string field, std::string_view type, std::string_view words,
                    std::string_view value, std::string_view why) {
  std::string message(words);
  if (!value.empty()) message.append(": ").append(value);
  if (!why.empty()) message.append(": ").append(why);
  keep({std::move(field), std::move(message), type, std::string(why)});
}

void ErrorList::keep(FieldError error) {
  std::string text = error.text();
  if (is_full()) {
    left_out_ = left_out_ || !seen_.contains(text);
    return;
  }
  const std::size_t bytes = text.size();
  if (!seen_.insert(std::move(text)).second) return;
  bytes_ += bytes;
  errors_.push_back(std::move(error));
}

}  // namespace regatta::api
