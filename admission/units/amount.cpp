#include "admission/units/amount.h"

#include <array>

namespace regatta::admission {
namespace {

std::string decimal(Amount value, std::size_t suffix) {
  static constexpr std::array<std::string_view, 8> suffixes{"m", "", "k", "M", "G", "T", "P", "E"};
  while (value != 0 && value % 1000 == 0 && suffix + 1 < suffixes.size()) {
    value /= 1000;
    ++suffix;
  }
  if (value == 0) return "0";
  return std::to_string(value) + std::string(suffixes[suffix]);
}

std::string binary(Amount value) {
  static constexpr std::array<std::string_view, 7> suffixes{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (value > -1024 && value < 1024) return decimal(value, 1);
  std::size_t suffix = 0;
  while (value % 1024 == 0 && suffix + 1 < suffixes.size()) {
    value /= 1024;
    ++suffix;
  }
  return std::to_string(value) + std::string(suffixes[suffix]);
}

}  // namespace

Amount times(Amount a, std::int64_t factor) {
  Amount product = 0;
  if (!__builtin_mul_overflow(a, factor, &product)) return product;
  return unlimited - 1;
}

std::string format_amount(std::string_view resource, Amount value) {
  if (resource == "cpu") return decimal(value, 0);
  const bool bytes =
      resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  return bytes ? binary(value) : decimal(value, 1);
}

}  // namespace regatta::admission
