#pragma once

#include "lib/manifest/cel/functions.h"

#include <vector>

namespace regatta::manifest::cel {

using Arguments = std::span<const Value>;

// The parts of the library; together they are functions().
std::vector<Function> conversion_functions();  ///< size, int, string, type, optional …
std::vector<Function> text_functions();
std::vector<Function> list_functions();
std::vector<Function> time_functions();
std::vector<Function> quantity_functions();

inline Value no_overload() {
  return Value::failure("no such overload");
}

}  // namespace regatta::manifest::cel
