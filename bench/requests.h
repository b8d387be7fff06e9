#pragma once

#include "lib/base/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regatta::bench {

/// The User-Agent of the measuring process, whose requests are not counted.
inline constexpr const char* user_agent = "regatta-bench";

/// Requests of one cluster's API server, as its /_regatta/requests lists them.
class Requests {
 public:
  /// `sent_by`: "hub manager", "manager", "nodes".
  struct Key {
    std::string sent_by, verb, resource;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Requests(std::string cluster, const Json& report);

  const std::string& cluster() const { return cluster_; }
  const std::map<Key, std::int64_t>& counts() const { return counts_; }
  std::int64_t conflicts() const { return conflicts_; }
  std::int64_t failures() const { return failures_; }

 private:
  std::string cluster_;
  std::map<Key, std::int64_t> counts_;
  std::int64_t conflicts_ = 0;
  std::int64_t failures_ = 0;
};

/// The promised numbers, over all clusters; the hub comes first.
struct Totals {
  std::int64_t hub_writes = 0, worker_writes = 0;  ///< without events and leases
  std::int64_t hub_gets = 0, worker_gets = 0;
  std::int64_t hub_events = 0, worker_events = 0;
  std::int64_t conflicts = 0;
};
Totals totals(const std::vector<Requests>& clusters);

}  // namespace regatta::bench
