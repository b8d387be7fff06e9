#pragma once

#include "lib/base/error.h"

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace regatta::manifest {

constexpr std::size_t pattern_length_max = 4096;

/// A regular expression as the API server reads it: in the syntax that Go and RE2 share, over
/// UTF-8, matched in time linear in the text. Copies share the program.
class Pattern {
 public:
  /// Matches everything.
  Pattern() = default;

  /// `invalid`, worded as Go words it, when the expression is malformed or its program too large.
  static Result<Pattern> compile(std::string_view expression);

  /// Whether the expression is found anywhere in `text` (`^` and `$` anchor).
  bool search(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> program_;
};

}  // namespace regatta::manifest
