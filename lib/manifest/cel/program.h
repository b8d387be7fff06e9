#pragma once

#include "lib/manifest/cel/syntax.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace regatta::manifest::cel {

enum class Kind {
  dynamic,
  null,
  boolean,
  integer,
  unsigned_integer,
  number,
  string,
  bytes,
  list,
  map,
  object,
  timestamp,
  duration,
  quantity,
  type,
  optional,
};

/// The static type of an expression. Lists, maps and objects of documents have a schema, others an
/// element type (null: dynamic).
struct Type {
  Kind kind = Kind::dynamic;
  const Schema* schema = nullptr;
  std::shared_ptr<const Type> element;

  static Type of(const Schema* schema);
  std::string name() const;  ///< int, list(string), …
};

struct Variable {
  std::string name;
  Type type;
};

/// What evaluations may still cost; shared by all the rules of one request.
struct Budget {
  std::int64_t left = 10'000'000;
  bool exhausted = false;
};
/// What one evaluation may cost.
constexpr std::int64_t evaluation_cost_max = 1'000'000;

/// A compiled expression. Schemas of its variables must outlive it; it is immutable and evaluates
/// without other effects than spending the budget.
class Program {
 public:
  /// `invalid` with a compiler's message: what is wrong and where.
  static Result<Program> compile(std::string_view expression, std::vector<Variable> variables);

  const std::string& expression() const { return expression_; }
  const Type& type() const { return type_; }
  /// Whether the expression mentions the variable.
  bool uses(std::string_view variable) const;

  /// Whether it joins texts one of which may have any length: string(x) where x is not constant.
  /// Kubernetes estimates the cost of such an expression as unbounded.
  bool joins_unbounded_texts() const;

  /// One value for each variable, in order. The answer may be a Failure.
  Value evaluate(std::span<const Value> values, Budget& budget) const;

 private:
  std::string expression_;
  std::shared_ptr<const Node> root_;
  Type type_;
  std::vector<Variable> variables_;
  std::vector<bool> used_;
  int slots_ = 0;
};

}  // namespace regatta::manifest::cel
