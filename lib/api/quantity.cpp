#include "lib/api/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

namespace regatta::api {
namespace {

using Wide = __int128;

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
constexpr int nano_scale = -9;
/// Digits that surely fit an int64.
constexpr int int64_digits = 18;
constexpr std::int64_t exponent_max = 1'000'000;

constexpr Wide power_of_ten(int exponent) {
  Wide out = 1;
  for (int i = 0; i < exponent; ++i) out *= 10;
  return out;
}

/// Far above any sum of quantities that are int64 in units of 1.
constexpr Wide nano_cap = power_of_ten(37);

Error wrong_format() {
  return Error(Errc::invalid,
               "quantities must match the regular expression "
               "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

struct Parts {
  bool negative = false;
  std::string_view num;  ///< digits before the point, leading zeros stripped, or "0"
  std::string_view denom;
  std::string_view suffix;
};

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

std::optional<Parts> split(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Parts out;
  std::size_t at = 0;
  if (text[0] == '-' || text[0] == '+') out.negative = text[at++] == '-';
  while (at < text.size() && text[at] == '0') ++at;
  std::size_t end = skip_digits(text, at);
  out.num = end == at ? "0" : text.substr(at, end - at);
  at = end;
  if (at < text.size() && text[at] == '.') {
    end = skip_digits(text, at + 1);
    out.denom = text.substr(at + 1, end - at - 1);
    at = end;
  }
  const std::size_t suffix = at;
  while (at < text.size() &&
         std::string_view("eEinumkKMGTP").find(text[at]) != std::string_view::npos) {
    ++at;
  }
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  if (skip_digits(text, at) != text.size()) return std::nullopt;
  out.suffix = text.substr(suffix);
  return out;
}

struct Suffix {
  int base = 10;
  std::int64_t exponent = 0;
  QuantityFormat format = QuantityFormat::decimal_si;
};

struct KnownSuffix {
  std::string_view text;
  int base;
  int exponent;
};

constexpr KnownSuffix known_suffixes[] = {
    {"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"", 10, 0},   {"k", 10, 3},  {"M", 10, 6},
    {"G", 10, 9},  {"T", 10, 12}, {"P", 10, 15}, {"E", 10, 18}, {"Ki", 2, 10}, {"Mi", 2, 20},
    {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60}};

std::string_view suffix_text(int base, int exponent) {
  for (const KnownSuffix& known : known_suffixes) {
    if (known.base == base && known.exponent == exponent) return known.text;
  }
  return {};
}

std::optional<Suffix> interpret(std::string_view text) {
  for (const KnownSuffix& known : known_suffixes) {
    if (known.text == text) {
      return Suffix{known.base, known.exponent,
                    known.base == 2 ? QuantityFormat::binary_si : QuantityFormat::decimal_si};
    }
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  std::string_view digits = text.substr(1);
  const bool negative = digits[0] == '-';
  if (negative || digits[0] == '+') digits.remove_prefix(1);
  if (digits.empty() || skip_digits(digits, 0) != digits.size()) return std::nullopt;
  std::int64_t exponent = 0;
  for (const char c : digits) {
    exponent = exponent * 10 + (c - '0');
    if (exponent > exponent_max) return std::nullopt;
  }
  return Suffix{10, negative ? -exponent : exponent, QuantityFormat::decimal_exponent};
}

std::int64_t to_number(std::string_view digits) {
  std::int64_t out = 0;
  for (const char c : digits) out = out * 10 + (c - '0');
  return out;
}

Wide wide_number(std::string_view digits) {
  Wide out = 0;
  for (const char c : digits) out = out * 10 + (c - '0');
  return out;
}

bool has_nonzero(std::string_view digits) {
  return digits.find_first_not_of('0') != std::string_view::npos;
}

std::string wide_text(Wide value) {
  const bool negative = value < 0;
  std::string out;
  do {
    const int digit = static_cast<int>(value % 10);
    out.insert(out.begin(), static_cast<char>('0' + std::abs(digit)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + out : out;
}

Wide capped(Wide value) {
  return value > nano_cap ? nano_cap : value < -nano_cap ? -nano_cap : value;
}

std::int64_t saturated(Wide value) {
  if (value > int64_max) return int64_max;
  return value < int64_min ? int64_min : static_cast<std::int64_t>(value);
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  const std::optional<Parts> parts = split(text);
  if (!parts) return wrong_format();
  const std::optional<Suffix> suffix = interpret(parts->suffix);
  if (!suffix) return Error(Errc::invalid, "unable to parse quantity's suffix");
  if (suffix->base == 2) {
    return from_binary(parts->num, parts->denom, static_cast<int>(suffix->exponent),
                       parts->negative);
  }
  std::string digits(parts->num);
  digits += parts->denom;
  const auto denom_size = static_cast<std::int64_t>(parts->denom.size());
  return from_digits(digits, suffix->exponent - denom_size, parts->negative, suffix->format);
}

/// Up to eighteen digits are kept as they are, whatever their exponent; more (or finer than 1n) are
/// rounded away from zero to 1n and capped.
Quantity Quantity::from_digits(std::string_view digits, std::int64_t scale, bool negative,
                               QuantityFormat format) {
  if (!has_nonzero(digits)) return Quantity(Wide(0), 0, format);
  if (digits.size() <= int64_digits && scale >= nano_scale) {
    const Wide value = to_number(digits);
    return Quantity(negative ? -value : value, static_cast<std::int32_t>(scale), format);
  }
  digits.remove_prefix(digits.find_first_not_of('0'));
  const Wide cap = Wide(int64_max) * power_of_ten(9);
  const std::int64_t whole_digits = static_cast<std::int64_t>(digits.size()) + scale;
  Wide value = cap;
  if (whole_digits <= 19) {
    const std::int64_t keep = whole_digits - nano_scale;
    if (keep <= 0) {
      value = 1;
    } else if (keep >= static_cast<std::int64_t>(digits.size())) {
      const auto missing = static_cast<int>(keep - static_cast<std::int64_t>(digits.size()));
      value = wide_number(digits) * power_of_ten(missing);
    } else {
      const auto kept = static_cast<std::size_t>(keep);
      value = wide_number(digits.substr(0, kept)) + (has_nonzero(digits.substr(kept)) ? 1 : 0);
    }
    if (value > cap) value = cap;
  }
  return Quantity(negative ? -value : value, nano_scale, format);
}

Quantity Quantity::from_binary(std::string_view num, std::string_view denom, int shift,
                               bool negative) {
  const std::int64_t whole_max = int64_max >> shift;
  const bool fits = num.size() <= int64_digits && to_number(num) <= whole_max;
  if (!fits) {
    return Quantity(negative ? -Wide(int64_max) : Wide(int64_max), 0, QuantityFormat::binary_si);
  }
  Wide whole = Wide(to_number(num)) << shift;
  if (!has_nonzero(denom)) {
    return Quantity(negative ? -whole : whole, 0, QuantityFormat::binary_si);
  }
  // Doubling the decimal fraction digit by digit keeps it exact. Of the digits after shift + 9 it
  // only matters whether one is not zero: 1n of the result is 5^shift of the last digit that is
  // kept, so no multiple of 1n lies between that digit and the next.
  const std::size_t kept = std::min(denom.size(), static_cast<std::size_t>(shift) + 9);
  const bool more = has_nonzero(denom.substr(kept));
  std::string fraction(denom.substr(0, kept));
  Wide carried = 0;
  for (int i = 0; i < shift; ++i) {
    int carry = 0;
    for (std::size_t at = fraction.size(); at-- > 0;) {
      const int digit = (fraction[at] - '0') * 2 + carry;
      fraction[at] = static_cast<char>('0' + digit % 10);
      carry = digit / 10;
    }
    carried = carried * 2 + carry;
  }
  whole += carried;
  if (fraction.size() < 9) fraction.append(9 - fraction.size(), '0');
  Wide value = whole * power_of_ten(9) + to_number(std::string_view(fraction).substr(0, 9));
  if (more || has_nonzero(std::string_view(fraction).substr(9))) ++value;
  if (value > Wide(int64_max) * power_of_ten(9)) value = Wide(int64_max) * power_of_ten(9);
  const bool below_one = value < power_of_ten(9);
  return Quantity(negative ? -value : value, nano_scale,
                  below_one ? QuantityFormat::decimal_si : QuantityFormat::binary_si);
}

Quantity::Wide Quantity::nano() const {
  Wide out = value_;
  for (std::int32_t i = nano_scale; i < scale_ && out != 0; ++i) {
    if (out > nano_cap / 10 || out < -nano_cap / 10) return out > 0 ? nano_cap : -nano_cap;
    out *= 10;
  }
  return out;
}

std::int64_t Quantity::scaled_value(std::int32_t scale) const {
  if (scale_ == scale) return saturated(value_);
  const Wide unit = power_of_ten(scale - nano_scale);
  const Wide amount = nano();
  const Wide rest = amount % unit;
  return saturated(amount / unit + (rest > 0 ? 1 : rest < 0 ? -1 : 0));
}

std::string Quantity::decimal_text() const {
  Wide mantissa = value_;
  std::int64_t exponent = scale_;
  while (mantissa % 10 == 0) {
    mantissa /= 10;
    ++exponent;
  }
  const bool exponential = format_ == QuantityFormat::decimal_exponent;
  // Suffixes and exponents come in steps of three; the largest suffix is E.
  const std::int64_t largest = exponential ? exponent : 18;
  while (exponent % 3 != 0 || exponent > largest) {
    if (mantissa > nano_cap || mantissa < -nano_cap) break;
    mantissa *= 10;
    --exponent;
  }
  std::string out = wide_text(mantissa);
  if (!exponential && exponent <= 18) {
    return out.append(suffix_text(10, static_cast<int>(exponent)));
  }
  return exponent == 0 ? out : out + "e" + std::to_string(exponent);
}

std::string Quantity::binary_text() const {
  Wide mantissa = nano() / power_of_ten(9);
  int exponent = 0;
  while (mantissa % 1024 == 0 && exponent < 60) {
    mantissa /= 1024;
    exponent += 10;
  }
  std::string out = wide_text(mantissa);
  return exponent == 0 ? out : out.append(suffix_text(2, exponent));
}

std::string Quantity::str() const {
  if (value_ == 0) return "0";
  if (format_ == QuantityFormat::binary_si) {
    const Wide amount = nano();
    const Wide limit = 1024 * power_of_ten(9);
    const bool whole = amount % power_of_ten(9) == 0;
    if (whole && (amount <= -limit || amount >= limit)) return binary_text();
  }
  return decimal_text();
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) return *this = other;
  if (other.is_zero()) return *this;
  if (scale_ == other.scale_) {
    value_ = capped(value_ + other.value_);
  } else {
    value_ = capped(nano() + other.nano());
    scale_ = nano_scale;
  }
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  return *this += -other;
}

Quantity& Quantity::operator*=(const Quantity& other) {
  Wide left = value_, right = other.value_;
  std::int32_t scale = scale_ + other.scale_;
  for (Wide* factor : {&left, &right}) {
    for (; *factor != 0 && *factor % 10 == 0; *factor /= 10) ++scale;
  }
  const bool negative = (left < 0) != (right < 0);
  Wide product = 0;
  if (__builtin_mul_overflow(left, right, &product)) {
    product = negative ? -nano_cap : nano_cap;
    scale = 0;
  }
  bool inexact = false;
  for (; scale < nano_scale; ++scale) {
    inexact = inexact || product % 10 != 0;
    product /= 10;
  }
  if (inexact) product += negative ? -1 : 1;
  value_ = capped(product);
  scale_ = product == 0 ? 0 : scale;
  return *this;
}

Quantity Quantity::operator-() const {
  return Quantity(-value_, scale_, format_);
}

std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  if (a.scale_ == b.scale_) return a.value_ <=> b.value_;
  const Wide left = a.nano(), right = b.nano();
  const bool both_capped = left == right && (left == nano_cap || left == -nano_cap);
  if (!both_capped) return left <=> right;
  const auto magnitude = [](const Quantity& q) {
    return std::log10(std::fabs(static_cast<long double>(q.value_))) + q.scale_;
  };
  const auto order = std::strong_order(magnitude(a), magnitude(b));
  return left > 0 ? order : 0 <=> order;
}

std::int64_t resource_amount(std::string_view resource, const Quantity& quantity) {
  return resource == "cpu" ? quantity.milli_value() : quantity.value();
}

Quantity resource_quantity(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu") return Quantity::from_milli(amount);
  const bool bytes = resource == "memory" || resource == "storage" ||
                     resource == "ephemeral-storage" || resource.substr(0, 10) == "hugepages-";
  return Quantity(amount, bytes ? QuantityFormat::binary_si : QuantityFormat::decimal_si);
}

}  // namespace regatta::api
