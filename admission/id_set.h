#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace regatta::admission {

/// A set of small numbers, one bit each. A look-up does not touch the objects that have these
/// numbers.
class IdSet {
 public:
  bool contains(std::uint32_t id) const {
    return id / 64 < words_.size() && (words_[id / 64] & bit(id)) != 0;
  }
  void insert(std::uint32_t id) {
    if (id / 64 >= words_.size()) words_.resize(id / 64 + 1);
    words_[id / 64] |= bit(id);
  }
  void erase(std::uint32_t id) {
    if (id / 64 < words_.size()) words_[id / 64] &= ~bit(id);
  }
  void clear() { words_.clear(); }
  /// In ascending order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      for (std::uint64_t left = words_[at]; left != 0; left &= left - 1) {
        visit(static_cast<std::uint32_t>(at * 64 + std::countr_zero(left)));
      }
    }
  }

 private:
  static std::uint64_t bit(std::uint32_t id) { return std::uint64_t{1} << (id % 64); }

  std::vector<std::uint64_t> words_;
};

}  // namespace regatta::admission
