#pragma once

#include "lib/base/json.h"
#include "lib/manifest/schema/schema.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace regatta::manifest::cel {

class Value;

/// Text that belongs to a JSON document or to the program, or that the value owns.
struct Text {
  std::string_view view;
  std::shared_ptr<const std::string> owned;
};
/// A list or an object of a JSON document, read through its schema (null: whatever JSON says).
struct JsonRef {
  const Json* json = nullptr;
  const Schema* schema = nullptr;
};
using ListPtr = std::shared_ptr<const std::vector<Value>>;
using MapPtr = std::shared_ptr<const std::vector<std::pair<Value, Value>>>;
struct Bytes {
  std::string bytes;
};
struct Timestamp {
  std::int64_t nanoseconds = 0;  ///< since 1970
};
struct Duration {
  std::int64_t nanoseconds = 0;
};
/// A Kubernetes quantity, in 10^-9 units.
struct QuantityValue {
  long double units = 0;   ///< approximate, for asApproximateFloat
  std::int64_t whole = 0;  ///< units = whole + nanos / 10^9
  std::int64_t nanos = 0;
};
struct TypeName {
  std::string name;
};
struct OptionalValue {
  std::shared_ptr<const Value> value;  ///< null: none
};
/// The result of an expression that could not be evaluated. && and || may absorb it.
struct Failure {
  std::shared_ptr<const std::string> what;
};

/// A value of the Common Expression Language. Values that come from a JSON document refer to it:
/// the document outlives them.
class Value {
 public:
  using Data = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, Text, Bytes,
                            JsonRef, ListPtr, MapPtr, Timestamp, Duration, QuantityValue, TypeName,
                            OptionalValue, Failure>;

  Value() = default;
  template <class T>
    requires std::is_constructible_v<Data, T>
  explicit Value(T data) : data_(std::move(data)) {}

  static Value text(std::string owned);
  static Value failure(std::string what);
  static Value list(std::vector<Value> items);
  /// What `json` is when read through `schema` (null: by JSON type alone).
  static Value from_json(const Json& json, const Schema* schema);

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data_);
  }
  bool failed() const { return as<Failure>() != nullptr; }
  bool is_null() const { return as<std::nullptr_t>() != nullptr; }
  std::optional<std::string_view> string() const;
  std::optional<bool> boolean() const;
  bool is_number() const;
  double number() const;  ///< of an int, uint or double

  bool is_list() const;
  bool is_map() const;
  std::size_t size() const;             ///< of a list or map
  Value item(std::size_t index) const;  ///< of a list
  /// The keys of a map.
  std::vector<Value> keys() const;
  /// Member of a map or object; nothing when it is absent.
  std::optional<Value> member(const Value& key) const;
  std::optional<Value> member(std::string_view key) const;

  /// int, string, list …: as type() names it.
  std::string_view type_name() const;

  friend bool operator==(const Value& a, const Value& b);

 private:
  Data data_ = nullptr;
};

/// Less, equal, greater as <0, 0, >0; nothing when the two have no order.
std::optional<int> compare(const Value& a, const Value& b);

std::optional<Timestamp> parse_timestamp(std::string_view text);
std::optional<Duration> parse_duration(std::string_view text);
std::optional<QuantityValue> parse_quantity(std::string_view text);
std::string format_timestamp(Timestamp time);
std::string format_duration(Duration duration);

}  // namespace regatta::manifest::cel
