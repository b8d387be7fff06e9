#include "lib/manifest/cel/library.h"

namespace regatta::manifest::cel {
namespace {

Value is_sorted(Arguments arguments) {
  const auto& list = arguments[0];
  if (!list.is_list()) return no_overload();
  for (std::size_t i = 1; i < list.size(); ++i) {
    const auto order = compare(list.item(i - 1), list.item(i));
    if (!order) return no_overload();
    if (*order > 0) return Value(false);
  }
  return Value(true);
}

Value sum(Arguments arguments) {
  const auto& list = arguments[0];
  if (!list.is_list()) return no_overload();
  std::int64_t whole = 0;
  double fraction = 0;
  bool doubles = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto item = list.item(i);
    if (const auto* number = item.as<std::int64_t>()) {
      if (__builtin_add_overflow(whole, *number, &whole)) return Value::failure("integer overflow");
    } else if (const auto* number = item.as<double>()) {
      doubles = true;
      fraction += *number;
    } else {
      return no_overload();
    }
  }
  return doubles ? Value(fraction + static_cast<double>(whole)) : Value(whole);
}

template <int wanted>
Value extreme(Arguments arguments) {
  const auto& list = arguments[0];
  if (!list.is_list()) return no_overload();
  if (list.size() == 0) {
    return Value::failure(std::string(wanted < 0 ? "min" : "max") + " called on empty list");
  }
  auto out = list.item(0);
  for (std::size_t i = 1; i < list.size(); ++i) {
    auto item = list.item(i);
    const auto order = compare(item, out);
    if (!order) return no_overload();
    if (*order == wanted) out = std::move(item);
  }
  return out;
}

template <bool last>
Value index_of(Arguments arguments) {
  const auto& list = arguments[0];
  if (!list.is_list()) return no_overload();
  std::int64_t found = -1;
  for (std::size_t i = 0; i < list.size() && (last || found < 0); ++i) {
    if (list.item(i) == arguments[1]) found = static_cast<std::int64_t>(i);
  }
  return Value(found);
}

}  // namespace

std::vector<Function> list_functions() {
  using enum Kind;
  using enum Function::Shape;
  const std::vector<Kind> lists = {list};
  return {
      {"isSorted", true, 1, 1, lists, boolean, {}, is_sorted},
      {"sum", true, 1, 1, lists, dynamic, element, sum},
      {"min", true, 1, 1, lists, dynamic, element, extreme<-1>},
      {"max", true, 1, 1, lists, dynamic, element, extreme<1>},
      {"indexOf", true, 2, 2, lists, integer, {}, index_of<false>},
      {"lastIndexOf", true, 2, 2, lists, integer, {}, index_of<true>},
  };
}

}  // namespace regatta::manifest::cel
