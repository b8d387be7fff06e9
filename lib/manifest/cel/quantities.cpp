#include "lib/manifest/cel/library.h"

#include <cmath>
#include <string>

namespace regatta::manifest::cel {
namespace {

Value quantity(Arguments arguments) {
  if (arguments[0].as<QuantityValue>()) return arguments[0];
  const auto text = arguments[0].string();
  if (!text) return no_overload();
  const auto out = parse_quantity(*text);
  return out ? Value(*out)
             : Value::failure(
                   "quantities must match the regular expression "
                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

Value is_quantity(Arguments arguments) {
  const auto text = arguments[0].string();
  return text ? Value(parse_quantity(*text).has_value()) : no_overload();
}

template <class F>
Value compared(Arguments arguments, F&& answer) {
  if (!arguments[0].as<QuantityValue>() || !arguments[1].as<QuantityValue>()) return no_overload();
  const auto order = compare(arguments[0], arguments[1]);
  return order ? Value(answer(*order)) : no_overload();
}

Value is_less(Arguments arguments) {
  return compared(arguments, [](int order) { return order < 0; });
}
Value is_greater(Arguments arguments) {
  return compared(arguments, [](int order) { return order > 0; });
}
Value compare_to(Arguments arguments) {
  return compared(arguments, [](int order) { return std::int64_t{order}; });
}

template <int sign>
Value combine(Arguments arguments) {
  const auto* a = arguments[0].as<QuantityValue>();
  if (!a) return no_overload();
  QuantityValue b;
  if (const auto* other = arguments[1].as<QuantityValue>()) {
    b = *other;
  } else if (const auto* whole = arguments[1].as<std::int64_t>()) {
    b = {.units = static_cast<long double>(*whole), .whole = *whole};
  } else {
    return no_overload();
  }
  QuantityValue out{.units = a->units + sign * b.units};
  if (std::abs(out.units) > 9e18L) return Value(out);
  out.whole = a->whole + sign * b.whole;
  out.nanos = a->nanos + sign * b.nanos;
  if (out.nanos < 0 || out.nanos >= 1'000'000'000) {
    out.whole += out.nanos < 0 ? -1 : 1;
    out.nanos += out.nanos < 0 ? 1'000'000'000 : -1'000'000'000;
  }
  return Value(out);
}

Value quantity_sign(Arguments arguments) {
  const auto* value = arguments[0].as<QuantityValue>();
  if (!value) return no_overload();
  return Value(std::int64_t{value->units > 0 ? 1 : value->units < 0 ? -1 : 0});
}
Value is_integer(Arguments arguments) {
  const auto* value = arguments[0].as<QuantityValue>();
  return value ? Value(value->nanos == 0 && std::abs(value->units) <= 9e18L) : no_overload();
}
Value as_integer(Arguments arguments) {
  const auto* value = arguments[0].as<QuantityValue>();
  if (!value) return no_overload();
  if (value->nanos != 0 || std::abs(value->units) > 9e18L) {
    return Value::failure("cannot convert value to integer");
  }
  return Value(value->whole);
}
Value as_number(Arguments arguments) {
  const auto* value = arguments[0].as<QuantityValue>();
  return value ? Value(static_cast<double>(value->units)) : no_overload();
}

}  // namespace

std::vector<Function> quantity_functions() {
  using enum Kind;
  const std::vector<Kind> first = {Kind::quantity};
  return {
      {"quantity", false, 1, 1, {string}, Kind::quantity, {}, cel::quantity},
      {"isQuantity", false, 1, 1, {string}, boolean, {}, is_quantity},
      {"isLessThan", true, 2, 2, first, boolean, {}, is_less},
      {"isGreaterThan", true, 2, 2, first, boolean, {}, is_greater},
      {"compareTo", true, 2, 2, first, integer, {}, compare_to},
      {"add", true, 2, 2, first, Kind::quantity, {}, combine<1>},
      {"sub", true, 2, 2, first, Kind::quantity, {}, combine<-1>},
      {"sign", true, 1, 1, first, integer, {}, quantity_sign},
      {"isInteger", true, 1, 1, first, boolean, {}, is_integer},
      {"asInteger", true, 1, 1, first, integer, {}, as_integer},
      {"asApproximateFloat", true, 1, 1, first, number, {}, as_number},
  };
}

}  // namespace regatta::manifest::cel
