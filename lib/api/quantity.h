#pragma once

#include "lib/base/error.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace regatta::api {

/// How a quantity is written: "1500m", "1536Mi" or "15e2".
enum class QuantityFormat : std::uint8_t { decimal_si, binary_si, decimal_exponent };

/// resource.Quantity: an exact decimal number, never finer than 1n (finer input rounds away from
/// zero). Numbers of more than eighteen digits are capped to ±(2^63-1), as Kubernetes does.
class Quantity {
 public:
  Quantity() = default;
  explicit Quantity(std::int64_t value, QuantityFormat format = QuantityFormat::decimal_si)
      : Quantity(value, 0, format) {}
  /// `value` thousandths: Quantity::from_milli(1500) is "1500m".
  static Quantity from_milli(std::int64_t value) {
    return Quantity(value, -3, QuantityFormat::decimal_si);
  }
  static Result<Quantity> parse(std::string_view text);

  /// The canonical text, with the largest suffix that needs no fraction.
  std::string str() const;
  /// Rounded away from zero; saturates at the ends of int64.
  std::int64_t value() const { return scaled_value(0); }
  std::int64_t milli_value() const { return scaled_value(-3); }
  QuantityFormat format() const { return format_; }

  bool is_zero() const { return value_ == 0; }
  bool is_negative() const { return value_ < 0; }

  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  Quantity operator-() const;
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  /// Keeps the format of the left operand. A result finer than 1n is rounded away from zero.
  Quantity& operator*=(const Quantity& other);
  friend Quantity operator*(Quantity a, const Quantity& b) { return a *= b; }

  /// By number: "1" == "1000m", whatever their format.
  friend bool operator==(const Quantity& a, const Quantity& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);

 private:
  using Wide = __int128;
  Quantity(Wide value, std::int32_t scale, QuantityFormat format)
      : value_(value), scale_(scale), format_(format) {}
  static Quantity from_digits(std::string_view digits, std::int64_t scale, bool negative,
                              QuantityFormat format);
  static Quantity from_binary(std::string_view num, std::string_view denom, int shift,
                              bool negative);
  std::int64_t scaled_value(std::int32_t scale) const;
  /// In units of 1n, capped far beyond every int64.
  Wide nano() const;
  std::string decimal_text() const;
  std::string binary_text() const;

  Wide value_ = 0;          ///< the number is value_ * 10^scale_
  std::int32_t scale_ = 0;  ///< at least -9
  QuantityFormat format_ = QuantityFormat::decimal_si;
};

/// Kueue's integer amount of a resource: cpu in thousandths, everything else in units, both rounded
/// up. An amount that is too large becomes the largest int64.
std::int64_t resource_amount(std::string_view resource, const Quantity& quantity);

/// The quantity that Kueue writes for such an amount: BinarySI for memory-like resources, DecimalSI
/// for others.
Quantity resource_quantity(std::string_view resource, std::int64_t amount);

}  // namespace regatta::api
