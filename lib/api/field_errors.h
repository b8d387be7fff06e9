#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// What is wrong with the fields of an object, worded as Kubernetes words it.
namespace regatta::api {

/// The types of field errors, as the causes of a Status name them.
namespace field_error {
constexpr std::string_view invalid = "FieldValueInvalid";
constexpr std::string_view required = "FieldValueRequired";
constexpr std::string_view forbidden = "FieldValueForbidden";
constexpr std::string_view not_supported = "FieldValueNotSupported";
constexpr std::string_view not_found = "FieldValueNotFound";
constexpr std::string_view duplicate = "FieldValueDuplicate";
constexpr std::string_view too_long = "FieldValueTooLong";
constexpr std::string_view too_many = "FieldValueTooMany";
}  // namespace field_error

/// One refused field: "spec.x[0].y" and "Invalid value: \"-1\": must be greater than or equal to
/// 0", of which the detail is what stands behind the value.
struct FieldError {
  std::string field;
  std::string message;
  std::string_view type = field_error::invalid;
  std::string detail;
  std::string text() const { return field.empty() ? message : field + ": " + message; }
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

using FieldErrors = std::vector<FieldError>;

/// "field: message" for one error, "[a, b]" for several.
std::string to_text(const FieldErrors& errors);

/// In double quotes, as messages show a plain text: with the escapes of Go's %q.
std::string in_quotes(std::string_view text);
/// In double quotes, as messages show a name of some type: as JSON in Go's way.
std::string json_quotes(std::string_view text);

inline std::string at(const std::string& field, std::size_t index) {
  return field + "[" + std::to_string(index) + "]";
}
inline std::string at(const std::string& field, const std::string& key) {
  return field + "[" + key + "]";
}

/// Collects errors. Values are texts as messages show them.
///
/// An object may break rules as often as its author likes, so the list has a limit: with 100
/// errors, or with more than 256 KiB of their texts, it is full. What comes then is left out, and
/// one more error says so.
class ErrorList {
 public:
  void invalid(std::string field, std::string_view value, std::string_view why) {
    add(std::move(field), field_error::invalid, "Invalid value", value, why);
  }
  /// For a message that does not repeat the value.
  void invalid_value(std::string field, std::string_view why) {
    add(std::move(field), field_error::invalid, "Invalid value", {}, why);
  }
  void duplicate(std::string field, std::string_view value, std::string_view why = {}) {
    add(std::move(field), field_error::duplicate, "Duplicate value", value, why);
  }
  void forbidden(std::string field, std::string_view why) {
    add(std::move(field), field_error::forbidden, "Forbidden", {}, why);
  }
  void not_found(std::string field, std::string_view value) {
    add(std::move(field), field_error::not_found, "Not found", value, {});
  }
  void required(std::string field, std::string_view why = {}) {
    add(std::move(field), field_error::required, "Required value", {}, why);
  }
  /// Of a long list of supported values the first ones are told, and how many more there are.
  void not_supported(std::string field, std::string_view value,
                     const std::vector<std::string>& supported);
  void too_long(std::string field, std::size_t limit);
  void too_many(std::string field, std::size_t count, std::size_t limit);
  template <class Complaints>
  void invalid_each(const std::string& field, std::string_view value, const Complaints& whys) {
    for (const std::string& why : whys) invalid(field, in_quotes(value), why);
  }
  /// Nothing but what is wrong with the object as a whole, without a field.
  void whole(std::string message);
  void append(const FieldErrors& more);
  /// Then an error that costs much to word can be left out instead.
  bool is_full() const;
  void leave_out() { left_out_ = true; }
  /// The errors in order. The same error twice counts once.
  FieldErrors take();

 private:
  void add(std::string field, std::string_view type, std::string_view words, std::string_view value,
           std::string_view why);
  void keep(FieldError error);

  FieldErrors errors_;
  std::set<std::string> seen_;  ///< their texts
  std::size_t bytes_ = 0;       ///< of these
  bool left_out_ = false;
};

}  // namespace regatta::api
