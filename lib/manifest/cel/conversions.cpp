#include "lib/manifest/cel/library.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace regatta::manifest::cel {
namespace {

Value size(Arguments arguments) {
  const auto& value = arguments[0];
  if (const auto text = value.string()) {
    return Value(static_cast<std::int64_t>(std::count_if(text->begin(), text->end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    })));
  }
  if (const auto* bytes = value.as<Bytes>()) {
    return Value(static_cast<std::int64_t>(bytes->bytes.size()));
  }
  if (!value.is_list() && !value.is_map()) return no_overload();
  return Value(static_cast<std::int64_t>(value.size()));
}

template <class T>
std::optional<T> read(std::string_view text) {
  T out{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

Value to_int(Arguments arguments) {
  const auto& value = arguments[0];
  if (value.as<std::int64_t>()) return value;
  if (const auto* time = value.as<Timestamp>()) {
    return Value(time->nanoseconds / std::int64_t{1'000'000'000});
  }
  if (value.is_number()) {
    const auto number = std::trunc(value.number());
    if (!(std::abs(number) < 9.2e18)) return Value::failure("integer overflow");
    return Value(static_cast<std::int64_t>(number));
  }
  const auto text = value.string();
  if (!text) return no_overload();
  if (const auto number = read<std::int64_t>(*text)) return Value(*number);
  return Value::failure("strconv.ParseInt: parsing \"" + std::string(*text) + "\": invalid syntax");
}

Value to_uint(Arguments arguments) {
  const auto& value = arguments[0];
  if (value.as<std::uint64_t>()) return value;
  if (value.is_number()) {
    const auto number = std::trunc(value.number());
    if (!(number >= 0 && number < 1.8e19)) return Value::failure("unsigned integer overflow");
    return Value(static_cast<std::uint64_t>(number));
  }
  const auto text = value.string();
  if (!text) return no_overload();
  if (const auto number = read<std::uint64_t>(*text)) return Value(*number);
  return Value::failure("strconv.ParseUint: parsing \"" + std::string(*text) +
                        "\": invalid syntax");
}

Value to_double(Arguments arguments) {
  if (arguments[0].is_number()) return Value(arguments[0].number());
  const auto text = arguments[0].string();
  if (!text) return no_overload();
  if (const auto number = read<double>(*text)) return Value(*number);
  return Value::failure("strconv.ParseFloat: parsing \"" + std::string(*text) +
                        "\": invalid syntax");
}

Value to_bool(Arguments arguments) {
  if (arguments[0].as<bool>()) return arguments[0];
  const auto text = arguments[0].string();
  if (!text) return no_overload();
  if (*text == "true" || *text == "True" || *text == "TRUE" || *text == "t" || *text == "1") {
    return Value(true);
  }
  if (*text == "false" || *text == "False" || *text == "FALSE" || *text == "f" || *text == "0") {
    return Value(false);
  }
  return Value::failure("strconv.ParseBool: parsing \"" + std::string(*text) +
                        "\": invalid syntax");
}

Value to_string(Arguments arguments) {
  const auto& value = arguments[0];
  if (value.string()) return value;
  if (const auto* flag = value.as<bool>()) return Value::text(*flag ? "true" : "false");
  if (const auto* number = value.as<std::int64_t>()) return Value::text(std::to_string(*number));
  if (const auto* number = value.as<std::uint64_t>()) return Value::text(std::to_string(*number));
  if (const auto* number = value.as<double>()) {
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), *number).ptr;
    return Value::text(std::string(text.data(), end));
  }
  if (const auto* bytes = value.as<Bytes>()) return Value::text(bytes->bytes);
  if (const auto* time = value.as<Timestamp>()) return Value::text(format_timestamp(*time));
  if (const auto* duration = value.as<Duration>()) return Value::text(format_duration(*duration));
  return no_overload();
}

Value to_bytes(Arguments arguments) {
  if (const auto text = arguments[0].string()) return Value(Bytes{std::string(*text)});
  return arguments[0].as<Bytes>() ? arguments[0] : no_overload();
}

Value type(Arguments arguments) {
  return Value(TypeName{std::string(arguments[0].type_name())});
}

Value same(Arguments arguments) {
  return arguments[0];
}

Value some(Arguments arguments) {
  return Value(OptionalValue{std::make_shared<const Value>(arguments[0])});
}
Value none(Arguments) {
  return Value(OptionalValue{});
}

Value has_value(Arguments arguments) {
  const auto* optional = arguments[0].as<OptionalValue>();
  return optional ? Value(optional->value != nullptr) : no_overload();
}
Value value_of(Arguments arguments) {
  const auto* optional = arguments[0].as<OptionalValue>();
  if (!optional) return no_overload();
  return optional->value ? *optional->value : Value::failure("optional.none() dereference");
}
Value or_value(Arguments arguments) {
  const auto* optional = arguments[0].as<OptionalValue>();
  if (!optional) return no_overload();
  return optional->value ? *optional->value : arguments[1];
}
Value or_optional(Arguments arguments) {
  const auto* optional = arguments[0].as<OptionalValue>();
  if (!optional) return no_overload();
  return optional->value ? arguments[0] : arguments[1];
}

}  // namespace

std::vector<Function> conversion_functions() {
  using enum Kind;
  const std::vector<Kind> sized = {string, bytes, list, map};
  const std::vector<Kind> scalars = {boolean, integer, unsigned_integer, number,
                                     string,  bytes,   timestamp,        duration};
  return {
      {"size", false, 1, 1, sized, integer, {}, size},
      {"size", true, 1, 1, sized, integer, {}, size},
      {"int",
       false,
       1,
       1,
       {integer, unsigned_integer, number, string, timestamp},
       integer,
       {},
       to_int},
      {"uint",
       false,
       1,
       1,
       {integer, unsigned_integer, number, string},
       unsigned_integer,
       {},
       to_uint},
      {"double", false, 1, 1, {integer, unsigned_integer, number, string}, number, {}, to_double},
      {"bool", false, 1, 1, {boolean, string}, boolean, {}, to_bool},
      {"string", false, 1, 1, scalars, string, {}, to_string},
      {"bytes", false, 1, 1, {string, bytes}, bytes, {}, to_bytes},
      {"type", false, 1, 1, {}, Kind::type, {}, cel::type},
      {"dyn", false, 1, 1, {}, dynamic, {}, same},
      {"optional.of", false, 1, 1, {}, optional, {}, some},
      {"optional.none", false, 0, 0, {}, optional, {}, none},
      {"hasValue", true, 1, 1, {optional}, boolean, {}, has_value},
      {"value", true, 1, 1, {optional}, dynamic, Function::Shape::element, value_of},
      {"orValue", true, 2, 2, {optional}, dynamic, Function::Shape::element, or_value},
      {"or", true, 2, 2, {optional}, optional, Function::Shape::receiver, or_optional},
  };
}

}  // namespace regatta::manifest::cel
