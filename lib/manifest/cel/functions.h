#pragma once

#include "lib/manifest/cel/program.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace regatta::manifest::cel {

/// One function or method of the library. A method's receiver is its first argument.
struct Function {
  std::string_view name;
  bool method = false;
  std::size_t arguments_min = 0;  ///< the receiver included
  std::size_t arguments_max = 0;
  /// Kinds the first argument may have; empty: any.
  std::vector<Kind> first;
  Kind result = Kind::dynamic;
  /// The result has the type of the receiver (lists), or of its elements.
  enum class Shape { plain, receiver, element } shape = Shape::plain;
  Value (*call)(std::span<const Value> arguments) = nullptr;
};

const std::vector<Function>& functions();

}  // namespace regatta::manifest::cel
