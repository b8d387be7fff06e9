#pragma once

#include "lib/base/check.h"

#include <cstddef>
#include <vector>

namespace regatta::admission {

/// Where the open trials begin in a log of changes. Trials nest: the one that began last ends
/// first.
class TrialMarks {
 public:
  /// Begins a trial after `size` changes. The result is the mark for end().
  std::size_t begin(std::size_t size) {
    marks_.push_back(size);
    return size;
  }
  void end(std::size_t mark, std::size_t size) {
    REGATTA_CHECK(!marks_.empty(), "end of a trial that never began");
    REGATTA_CHECK(marks_.back() == mark, "end of a trial before one that began within it");
    REGATTA_CHECK(mark <= size, "a trial rolled back changes that were made before it");
    marks_.pop_back();
  }
  bool open() const { return !marks_.empty(); }

 private:
  std::vector<std::size_t> marks_;
};

}  // namespace regatta::admission
