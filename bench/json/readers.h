#pragma once

#include "lib/base/json.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace regatta::bench {

/// A reader of another library. Sums up the sizes of all texts and the values of all numbers and
/// booleans it finds: the least that a decoder has to look at.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Parses and throws the result away.
  virtual void parse(std::string_view text) = 0;
  virtual std::size_t parse_and_visit(std::string_view text) = 0;
  /// Parses, then makes the tree that the codecs of lib/api read.
  virtual Json parse_to_json(std::string_view text) = 0;
};

/// Keeps its buffers from one text to the next.
std::unique_ptr<Reader> make_simdjson();
/// Into an arena of its own, the fastest way of the library.
std::unique_ptr<Reader> make_boost_json();

}  // namespace regatta::bench
