#include "whatif/timeline/distribution.h"

#include "whatif/timeline/fields.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace regatta::whatif {
namespace {

Status read_number(const Json& json, const char* name, bool required, double* out) {
  const Json* value = member(json, name);
  if (!value) return required ? field_error(name, "missing") : ok();
  if (!value->is_number()) return field_error(name, "expected a number");
  *out = value->get<double>();
  if (!(*out >= 0) || !std::isfinite(*out)) return field_error(name, "must not be negative");
  return ok();
}

}  // namespace

Result<Distribution> Distribution::read(const Json& json) {
  Distribution out;
  if (json.is_number()) {
    out.location_ = json.get<double>();
    if (!(out.location_ >= 0)) return Error(Errc::invalid, "must not be negative");
    return out;
  }
  if (!json.is_object()) return Error(Errc::invalid, "expected a number or {distribution: …}");
  const Json* shape = member(json, "distribution");
  const std::string name = shape && shape->is_string() ? shape->get<std::string>() : "";
  const char* location = "mean";
  if (name == "constant") {
    location = "value";
  } else if (name == "uniform") {
    out.shape_ = Shape::uniform;
    location = nullptr;
  } else if (name == "exponential") {
    out.shape_ = Shape::exponential;
  } else if (name == "lognormal") {
    out.shape_ = Shape::lognormal;
    location = "median";
  } else {
    return field_error("distribution", "write constant, uniform, exponential or lognormal");
  }
  Status read = ok();
  if (location) read = read_number(json, location, true, &out.location_);
  if (read && name == "lognormal") read = read_number(json, "sigma", true, &out.sigma_);
  if (read) read = read_number(json, "min", name == "uniform", &out.min_);
  if (read) read = read_number(json, "max", name == "uniform", &out.max_);
  if (!read) return read.error();
  if (out.max_ < out.min_) return field_error("max", "must not be below min");
  return out;
}

double Distribution::draw(Rng* rng) const {
  double value = location_;
  switch (shape_) {
    case Shape::constant:
      return value;
    case Shape::uniform:
      return min_ + (max_ - min_) * rng->unit();
    case Shape::exponential:
      value = -location_ * std::log1p(-rng->unit());
      break;
    case Shape::lognormal: {
      // Box and Muller; written out, so that a seed gives the same numbers everywhere.
      const double radius = std::sqrt(-2 * std::log1p(-rng->unit()));
      const double angle = 2 * std::numbers::pi * rng->unit();
      value = location_ * std::exp(sigma_ * radius * std::cos(angle));
      break;
    }
  }
  return std::clamp(value, min_, max_);
}

}  // namespace regatta::whatif
