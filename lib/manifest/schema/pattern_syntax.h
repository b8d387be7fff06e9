#pragma once

#include "lib/base/error.h"

#include <bitset>
#include <string_view>
#include <vector>

namespace regatta::manifest {

using ByteSet = std::bitset<256>;

/// A regular expression as a tree. Characters beyond ASCII are sequences of bytes.
struct PatternNode {
  enum class Kind { bytes, sequence, alternatives, repeat, begin, end };
  Kind kind = Kind::sequence;
  ByteSet bytes;
  std::vector<PatternNode> children;
  int min = 0;
  int max = -1;  ///< of repeat; -1: no limit
};

constexpr std::size_t pattern_length_max = 4096;
constexpr int pattern_depth_max = 100;
constexpr int pattern_repeat_max = 1000;

Result<PatternNode> parse_pattern(std::string_view expression);

}  // namespace regatta::manifest
