#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/manifest/cel/program.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace regatta::jobs {

/// An expression in CEL over `object`, the job as the API server has it. Compiled once, immutable.
/// An evaluation has a limit of its cost; what fails is an `invalid` answer.
class Expression {
 public:
  enum class Answer { boolean, integer, text };

  /// `invalid` with what is wrong and where, also when the answer is of another type for certain.
  static Result<Expression> compile(std::string_view text, Answer answer);

  Result<bool> truth(const Json& object) const;
  Result<std::int64_t> number(const Json& object) const;
  /// Of at most 1024 bytes; a longer one is cut.
  Result<std::string> text(const Json& object) const;

 private:
  explicit Expression(manifest::cel::Program program) : program_(std::move(program)) {}

  manifest::cel::Program program_;
};

}  // namespace regatta::jobs
