#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace regatta {

/// The only source of randomness. The manager seeds it from the system, tests and simulation from a
/// printed seed. Not for secrets.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}

  /// Seeded from the operating system.
  static Rng from_system();

  std::uint64_t next() { return engine_(); }
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high);
  /// Uniform in [0, 1).
  double unit();
  bool chance(double probability) { return unit() < probability; }

  /// A random (version 4) UUID.
  std::string uuid();
  /// `length` characters of the alphabet Kubernetes uses for generated names.
  std::string name_suffix(int length = 5);

 private:
  std::mt19937_64 engine_;
};

}  // namespace regatta
