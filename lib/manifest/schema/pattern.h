#pragma once

#include "lib/base/error.h"

#include <memory>
#include <string_view>

namespace regatta::manifest {

/// A regular expression in (the commonly used part of) RE2 syntax, over bytes of UTF-8, matched in
/// time linear in the text. Copies share the program. Back-references and look-around are refused,
/// as RE2 refuses them.
class Pattern {
 public:
  /// Matches everything.
  Pattern() = default;

  /// `invalid` when the expression is malformed or too large.
  static Result<Pattern> compile(std::string_view expression);

  /// Whether the expression is found anywhere in `text` (`^` and `$` anchor).
  bool search(std::string_view text) const;

 private:
  struct Program;
  friend class PatternCompiler;
  std::shared_ptr<const Program> program_;
};

}  // namespace regatta::manifest
