#pragma once

#include "whatif/report.h"

#include <algorithm>
#include <cstddef>

namespace regatta::whatif {

/// The grid of all series of one report.
struct Grid {
  TimePoint start{};
  TimePoint end{};
  Duration step{1};

  std::size_t samples() const {
    return static_cast<std::size_t>((end - start + step - Duration(1)) / step);
  }
};

/// Integrates a value that changes at certain moments.
class Meter {
 public:
  explicit Meter(const Grid* grid) : grid_(grid), since_(grid->start) {}

  double value() const { return value_; }
  void set(TimePoint now, double value) {
    if (value == value_) return;
    advance(now);
    value_ = value;
    peak_ = std::max(peak_, value);
  }
  /// The average in each interval up to `end`.
  Series series(TimePoint end) {
    advance(end);
    Series out = sums_;
    const std::size_t wanted = Grid{grid_->start, end, grid_->step}.samples();
    out.resize(wanted);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const TimePoint from = grid_->start + static_cast<Duration::rep>(i) * grid_->step;
      out[i] /= double(std::min(grid_->step, end - from).count());
    }
    return out;
  }
  double mean(TimePoint end) {
    advance(end);
    return end > grid_->start ? total_ / double((end - grid_->start).count()) : value_;
  }
  double peak() const { return peak_; }

 private:
  void advance(TimePoint now) {
    now = std::min(now, grid_->end);
    if (value_ != 0 && now > since_) {
      total_ += value_ * double((now - since_).count());
      while (since_ < now) {
        const auto index = static_cast<std::size_t>((since_ - grid_->start) / grid_->step);
        if (index >= sums_.size()) sums_.resize(index + 1);
        const TimePoint border = grid_->start + static_cast<Duration::rep>(index + 1) * grid_->step;
        const TimePoint to = std::min(now, border);
        sums_[index] += value_ * double((to - since_).count());
        since_ = to;
      }
    }
    since_ = std::max(since_, now);
  }

  const Grid* grid_;
  TimePoint since_;
  double value_ = 0;
  double total_ = 0;  ///< value times milliseconds
  double peak_ = 0;
  Series sums_;
};

}  // namespace regatta::whatif
