#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/rng.h"

namespace regatta::whatif {

/// A number, or a distribution to draw from; see arrivals.h.
class Distribution {
 public:
  static Result<Distribution> read(const Json& json);
  /// Never negative.
  double draw(Rng* rng) const;

 private:
  enum class Shape { constant, uniform, exponential, lognormal };
  Shape shape_ = Shape::constant;
  double location_ = 0;  ///< the constant, mean or median
  double sigma_ = 0;
  double min_ = 0;
  double max_ = 1e9;
};

}  // namespace regatta::whatif
