#pragma once

#include "lib/base/clock.h"

#include <optional>

namespace regatta {

/// A duration that is measured again and again: each sample moves it by an eighth of the way, the
/// first one is taken as it is.
class Smoothed {
 public:
  void add(Duration sample) {
    const auto measured = static_cast<double>(sample.count());
    value_ = value_ ? *value_ + (measured - *value_) / 8 : measured;
  }
  /// nullopt before the first sample.
  std::optional<Duration> value() const {
    if (!value_) return std::nullopt;
    return Duration(static_cast<Duration::rep>(*value_ + 0.5));
  }

 private:
  std::optional<double> value_;
};

}  // namespace regatta
