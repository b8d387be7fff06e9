#include "admission/usage_history.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace regatta::admission {
namespace {

constexpr std::int64_t unit = 1'000'000'000;

/// A factor as digits * 10^-scale.
struct Decimal {
  std::uint64_t digits = 0;
  int scale = 0;
};

Decimal shortest(double factor) {
  std::array<char, 512> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), factor, std::chars_format::fixed);
  Decimal decimal;
  bool fraction = false;
  for (const char* at = text.data(); at != end.ptr; ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    decimal.scale += fraction ? 1 : 0;
  }
  return decimal;
}

/// value * factor / 10^scale, rounded down, in three limbs.
unsigned __int128 multiply(unsigned __int128 value, Decimal factor) {
  using Wide = unsigned __int128;
  const Wide low = Wide(static_cast<std::uint64_t>(value)) * factor.digits;
  const Wide high = (value >> 64U) * factor.digits + (low >> 64U);
  std::array<std::uint64_t, 3> limbs{static_cast<std::uint64_t>(high >> 64U),
                                     static_cast<std::uint64_t>(high),
                                     static_cast<std::uint64_t>(low)};
  for (int i = 0; i < factor.scale; ++i) {
    Wide rest = 0;
    for (std::uint64_t& limb : limbs) {
      const Wide part = rest << 64U | limb;
      limb = static_cast<std::uint64_t>(part / 10);
      rest = part % 10;
    }
  }
  return Wide(limbs[1]) << 64U | limbs[2];
}

}  // namespace

Billionths to_billionths(const api::Quantity& quantity) {
  const std::int64_t whole = quantity.value();
  const api::Quantity rest = quantity - api::Quantity(whole);
  return Billionths(whole) * unit + (rest * api::Quantity(unit)).value();
}

api::Quantity to_quantity(Billionths value) {
  const api::Quantity whole(static_cast<std::int64_t>(value / unit));
  const auto rest = static_cast<std::int64_t>(value % unit);
  if (rest == 0) return whole;
  const auto fraction = api::Quantity::parse(std::to_string(rest) + "n");
  return fraction ? whole + *fraction : whole;
}

double approximate(const api::Quantity& quantity) {
  const Billionths value = to_billionths(quantity);
  if (value % unit == 0) return static_cast<double>(value / unit);
  if (value % 1'000'000 == 0) return static_cast<double>(value / 1'000'000) * 1e-3;
  if (value % 1'000 == 0) return static_cast<double>(value / 1'000) * 1e-6;
  return static_cast<double>(value) * 1e-9;
}

double replaced_share(double elapsed, double half_life) {
  return half_life == 0 ? 0 : 1.0 - std::pow(0.5, elapsed / half_life);
}

Billionths scaled(Billionths value, double factor) {
  if (value < 0) return -scaled(-value, factor);
  // 10^17 and more would not leave room for the product.
  if (factor < 0) return 0;
  return static_cast<Billionths>(multiply(static_cast<unsigned __int128>(value), shortest(factor)));
}

Consumption sum(Consumption a, const Consumption& b) {
  for (const auto& [resource, value] : b) a[resource] += value;
  return a;
}

Consumption decayed(const Consumption& consumed, const Consumption& usage, double elapsed,
                    double half_life) {
  // The clock of another manager may have dated the last sample in the future.
  const double alpha = replaced_share(std::max(0.0, elapsed), half_life);
  Consumption result;
  for (const auto& [resource, value] : consumed) result[resource] = scaled(value, 1 - alpha);
  for (const auto& [resource, value] : usage) result[resource] += scaled(value, alpha);
  return result;
}

Consumption entry_penalty(const Consumption& requests, const AdmissionFairSharingConfig& config) {
  const double alpha =
      replaced_share(config.usage_sampling_interval.count(), config.usage_half_life.count());
  Consumption penalty;
  for (const auto& [resource, value] : requests) penalty[resource] = scaled(value, alpha);
  return penalty;
}

double weighted_usage(const Consumption& consumed, const Consumption& penalty, double weight,
                      const std::map<std::string, double>& resource_weights) {
  double usage = 0;
  for (const auto& [resource, value] : sum(consumed, penalty)) {
    const auto given = resource_weights.find(resource);
    const double resource_weight = given == resource_weights.end() ? 1 : given->second;
    usage += resource_weight * (static_cast<double>(value) * 1e-9);
  }
  return weight <= 0 ? std::numeric_limits<double>::infinity() : usage / weight;
}

}  // namespace regatta::admission
