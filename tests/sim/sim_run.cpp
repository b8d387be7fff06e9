#include "tests/sim/federation.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

/// regatta_sim_run --seeds N [--first S] [--history]: one history for each seed.
int main(int argc, char** argv) {
  std::uint64_t seeds = 100, first = 1;
  bool history = false;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (!std::strcmp(argv[i], "--seeds") && more) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (!std::strcmp(argv[i], "--first") && more) {
      first = std::strtoull(argv[++i], nullptr, 10);
    } else if (!std::strcmp(argv[i], "--history")) {
      history = true;
    } else {
      std::fprintf(stderr, "usage: %s [--seeds N] [--first S] [--history]\n", argv[0]);
      return 2;
    }
  }
  std::uint64_t bad = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    regatta::simtest::SimOptions options;
    options.seed = seed;
    const auto result = regatta::simtest::run_federation(options);
    if (history) std::fputs(result.history.c_str(), stdout);
    if (!result.violations.empty()) ++bad;
    std::printf("seed %llu: %s, %d jobs, %lld s virtual, %llu steps, %d crashes, %d partitions\n",
                static_cast<unsigned long long>(seed), result.violations.empty() ? "ok" : "FAILED",
                result.finished, static_cast<long long>(result.took.count() / 1000),
                static_cast<unsigned long long>(result.steps), result.crashes, result.partitions);
    for (const std::string& violation : result.violations) std::printf("  %s\n", violation.c_str());
    std::fflush(stdout);
  }
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(seeds - bad),
              static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
