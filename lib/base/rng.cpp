#include "lib/base/rng.h"

#include <cstdio>
#include <string_view>

namespace regatta {

Rng Rng::from_system() {
  std::random_device device;
  return Rng((std::uint64_t(device()) << 32) ^ device());
}

std::int64_t Rng::between(std::int64_t low, std::int64_t high) {
  // Written out, so that a seed gives the same history with every standard library.
  const std::uint64_t span = std::uint64_t(high - low) + 1;
  return span == 0 ? std::int64_t(next()) : low + std::int64_t(next() % span);
}

double Rng::unit() {
  return double(next() >> 11) * 0x1.0p-53;
}

std::string Rng::uuid() {
  const std::uint64_t high = (next() & ~0xF000ull) | 0x4000ull;
  const std::uint64_t low = (next() & ~(3ull << 62)) | (2ull << 62);
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", unsigned(high >> 32),
                unsigned(high >> 16) & 0xFFFF, unsigned(high) & 0xFFFF, unsigned(low >> 48),
                static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFull));
  return text;
}

std::string Rng::name_suffix(int length) {
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (int i = 0; i < length; ++i) out += alphabet[std::size_t(next() % alphabet.size())];
  return out;
}

}  // namespace regatta
