#pragma once

#include "lib/base/json.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace regatta::api {

/// A piece of compact JSON text kept as it came, so that fields Regatta does not know survive a
/// copy. Copies share one text; a slice keeps the whole text alive.
class RawJson {
 public:
  RawJson() = default;
  explicit RawJson(std::string text);

  bool empty() const { return length_ == 0; }
  std::size_t size() const { return length_; }
  std::string text() const;
  /// Whether text() is exactly that.
  bool is(std::string_view text) const;
  /// The parsed text; null when empty.
  Json json() const;
  /// `length` bytes from `offset` on, in the same storage. They must lie within the text.
  RawJson slice(std::size_t offset, std::size_t length) const;
  /// Memory of the whole text, without the part that it shares with similar texts.
  std::size_t own_bytes() const { return text_ ? text_->own.size() : 0; }
  /// Whether both are slices of one text.
  bool shares_text_with(const RawJson& other) const { return text_ == other.text_; }

  friend bool operator==(const RawJson& a, const RawJson& b);

 private:
  friend class TemplatePool;
  /// Either the characters, or their differences from the text of `base`: see likeness.h.
  struct Text {
    std::string own;
    std::shared_ptr<const Text> base;  ///< has no base itself
  };

  std::shared_ptr<const Text> text_;
  std::uint32_t offset_ = 0;
  std::uint32_t length_ = 0;
};

}  // namespace regatta::api
