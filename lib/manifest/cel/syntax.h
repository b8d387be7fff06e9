#pragma once

#include "lib/base/error.h"
#include "lib/manifest/cel/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest::cel {

constexpr std::size_t expression_length_max = 65536;
constexpr int expression_depth_max = 150;

enum class Op {
  constant,
  identifier,
  select,           ///< child.name
  optional_select,  ///< child.?name
  index,            ///< a[b]
  optional_index,   ///< a[?b]
  call,             ///< name(children)
  method,           ///< children[0].name(rest)
  list,
  map,  ///< key, value, key, value …
  logical_not,
  negate,
  logical_and,
  logical_or,
  conditional,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  has,  ///< has(child.name): children[0] is the operand
  // Comprehensions: range, body; `name` is the variable.
  all,
  exists,
  exists_one,
  filter,
  transform,         ///< map(x, body)
  filter_transform,  ///< map(x, condition, body): range, condition, body
};

/// The name of an operator in messages: `_>_`.
std::string_view operator_name(Op op);

struct Node {
  Op op = Op::constant;
  std::size_t position = 0;  ///< in the expression, for messages
  std::string name;
  Value constant;
  std::vector<Node> children;
  int slot = -1;      ///< identifier, comprehension: the variable, set by the checker
  int function = -1;  ///< call, method: set by the checker
  /// Of matches() with a constant expression, set by the checker.
  std::shared_ptr<const Pattern> pattern;
};

/// Reads an expression; `invalid` names line and column.
Result<Node> parse_expression(std::string_view text);

/// A message as the CEL compilers print it, with the line and a mark below the place.
std::string error_at(std::string_view expression, std::size_t position, std::string_view what);

}  // namespace regatta::manifest::cel
