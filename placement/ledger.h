#pragma once

#include "lib/api/resource.h"
#include "lib/base/clock.h"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace regatta::placement {

struct LedgerConfig {
  std::size_t in_flight_max = 50;  ///< workloads on their way to one cluster
  /// For so long a nomination counts. Later, what a Placement decides knows about it.
  Duration counts_for = std::chrono::minutes(1);
};

/// Workloads that were nominated for a cluster a short time ago and are not admitted there yet.
/// Scores follow with a delay: without it, a decision that changes would send every waiting
/// workload to the same cluster before any score tells that it is full.
///
/// It is only in memory. After a restart it begins empty, and the first workloads go on at once.
class Ledger {
 public:
  explicit Ledger(LedgerConfig config) : config_(config) {}

  /// The workload is nominated for these clusters. Clusters that it has already keep their time.
  void record(const api::ObjectKey& key, const std::vector<std::string>& clusters, SteadyPoint now);
  /// It is admitted, or no longer asks for a cluster. Returns where that made room.
  std::vector<std::string> release(const api::ObjectKey& key);
  /// Nominations of long ago cease to count. Returns where that made room.
  std::vector<std::string> expire(SteadyPoint now);
  /// Clusters that take no further workload now.
  std::set<std::string> full() const;

  /// The workload waits for room on each of these clusters.
  void wait(const api::ObjectKey& key, const std::vector<std::string>& clusters);
  /// The workload that has waited longest for that cluster. It no longer waits for any.
  std::optional<api::ObjectKey> next_waiting(const std::string& cluster);
  /// When the oldest nomination ceases to count; nullopt when there is none.
  std::optional<Duration> next_room(SteadyPoint now) const;
  std::size_t in_flight(const std::string& cluster) const;

 private:
  void forget(const api::ObjectKey& key, const std::string& cluster);

  LedgerConfig config_;
  std::map<api::ObjectKey, std::map<std::string, SteadyPoint>> entries_;
  std::map<std::string, std::size_t> counts_;
  std::set<std::tuple<SteadyPoint, api::ObjectKey, std::string>> by_age_;
  std::map<std::string, std::deque<api::ObjectKey>> waiting_;  ///< by cluster, oldest first
  std::map<api::ObjectKey, std::set<std::string>> waits_;
};

}  // namespace regatta::placement
