#include "bench/ground.h"

#include "lib/net/tcp.h"

#include <cstdio>

namespace regatta::bench {
namespace {

constexpr Duration embedded_start_max = std::chrono::seconds(30);
/// Four clusters that start on two busy cores take half a minute each.
constexpr Duration real_start_max = std::chrono::minutes(3);

}  // namespace

Duration Ground::start_max() const {
  return assets.empty() ? embedded_start_max : real_start_max;
}

void Ground::progress(const std::string& what) const {
  if (!assets.empty()) std::fprintf(stderr, "regatta_bench: %s\n", what.c_str());
}

Result<std::uint16_t> free_port(const Executor& executor) {
  const auto probe = net::listen_tcp(executor, "127.0.0.1", 0);
  if (!probe) return probe.error();
  const std::uint16_t port = (*probe)->port();
  (*probe)->close();
  return port;
}

}  // namespace regatta::bench
