#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace regatta::net::internal {

/// What one read of a connection goes into. Most connections wait for little, as watches do, so it
/// is small until a read fills it, and again once little comes.
class ReadBuffer {
 public:
  static constexpr std::size_t smallest = 1024;
  static constexpr std::size_t largest = 16 * 1024;  ///< one TLS record

  std::span<char> space() { return bytes_; }
  /// A read has put `n` bytes there. Returns them; they are valid until the next call of settle().
  std::span<const char> filled(std::size_t n) {
    filled_ = n;
    return space().first(n);
  }
  /// Chooses the size for the next read.
  void settle() {
    const std::size_t before = bytes_.size();
    std::size_t next = before;
    if (filled_ == before) next = std::min(largest, before * 4);
    if (filled_ < smallest / 2) next = smallest;
    if (next != before) bytes_ = std::vector<char>(next);
  }

 private:
  std::vector<char> bytes_ = std::vector<char>(smallest);
  std::size_t filled_ = smallest / 2;
};

}  // namespace regatta::net::internal
