#pragma once

#include "lib/api/kueue_rules.h"

#include <string_view>

// Wording of field errors, for the rules of this folder.
namespace regatta::api {

inline std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}
inline std::string at(const std::string& field, std::size_t index) {
  return field + "[" + std::to_string(index) + "]";
}
inline std::string at(const std::string& field, const std::string& key) {
  return field + "[" + key + "]";
}

class ErrorList {
 public:
  void invalid(std::string field, std::string_view value, std::string_view why) {
    add(std::move(field), "Invalid value: " + std::string(value) + ": " + std::string(why));
  }
  /// For a message that does not repeat the value.
  void invalid_value(std::string field, std::string_view why) {
    add(std::move(field), "Invalid value: " + std::string(why));
  }
  void duplicate(std::string field, std::string_view value) {
    add(std::move(field), "Duplicate value: " + std::string(value));
  }
  void forbidden(std::string field, std::string_view why) {
    add(std::move(field), "Forbidden: " + std::string(why));
  }
  void not_found(std::string field, std::string_view value) {
    add(std::move(field), "Not found: " + in_quotes(value));
  }
  void required(std::string field, std::string_view why) {
    add(std::move(field), "Required value: " + std::string(why));
  }
  void too_many(std::string field, std::size_t count, std::size_t limit) {
    add(std::move(field), "Too many: " + std::to_string(count) + ": must have at most " +
                              std::to_string(limit) + " items");
  }
  template <class Complaints>
  void invalid_each(const std::string& field, std::string_view value, const Complaints& whys) {
    for (const std::string& why : whys) invalid(field, in_quotes(value), why);
  }
  FieldErrors take() { return std::move(errors_); }

 private:
  void add(std::string field, std::string message) {
    errors_.push_back({std::move(field), std::move(message)});
  }
  FieldErrors errors_;
};

}  // namespace regatta::api
