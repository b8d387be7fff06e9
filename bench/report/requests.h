#pragma once

#include "lib/base/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regatta::bench {

/// The User-Agent of the measuring process, whose requests are not counted.
inline constexpr const char* user_agent = "regatta-bench";

/// Requests that one cluster's API server has answered.
class Requests {
 public:
  /// `sent_by`: "hub manager", "manager", "nodes".
  struct Key {
    std::string sent_by, verb, resource;  ///< the resource with its subresource: "jobs/status"
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  explicit Requests(std::string cluster) : cluster_(std::move(cluster)) {}
  /// As /_regatta/requests of the embedded API server lists them.
  static Requests from_report(std::string cluster, const Json& report);

  /// Adds requests that were answered with that code.
  void add(const Key& key, std::int64_t code, std::int64_t count = 1);

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

/// "jobs", or with a subresource "jobs/status".
std::string with_subresource(std::string resource, const std::string& subresource);

/// The promised numbers, over all clusters; the hub comes first.
struct Totals {
  std::int64_t hub_writes = 0, worker_writes = 0;  ///< without events and leases
  std::int64_t worker_writes_of_nodes = 0;         ///< the simulated nodes' among them
  std::int64_t hub_gets = 0, worker_gets = 0;
  std::int64_t hub_events = 0, worker_events = 0;
  std::int64_t conflicts = 0;
};
Totals totals(const std::vector<Requests>& clusters);

}  // namespace regatta::bench
