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
  std::string_view text() const {
    return text_ ? std::string_view(*text_).substr(offset_, length_) : std::string_view();
  }
  /// The parsed text; null when empty.
  Json json() const;
  /// `part`, which must lie within text(), sharing its storage.
  RawJson slice(std::string_view part) const;

  friend bool operator==(const RawJson& a, const RawJson& b) { return a.text() == b.text(); }

 private:
  std::shared_ptr<const std::string> text_;
  std::uint32_t offset_ = 0;
  std::uint32_t length_ = 0;
};

}  // namespace regatta::api
