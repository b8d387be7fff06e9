#pragma once

#include "lib/api/workload.h"
#include "lib/base/smoothed.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace regatta::dispatch {

/// How long copies in a LocalQueue of a worker usually wait until they are admitted there, learned
/// from the copies themselves, by the worker's own clock. Whole seconds.
class AdmissionTimes {
 public:
  /// Learns from a copy once, when it is admitted. One that was evicted waited for other reasons.
  /// `original` is the hub's Workload, until it is over. Without it, or in another LocalQueue, the
  /// copy teaches nothing: a worker may make up any number of them.
  void note(const std::string& cluster, const api::Workload& copy, const api::Workload* original);
  /// The hub's Workload is over: its next copies count anew.
  void forget(const api::ObjectKey& workload) { learned_.erase(workload); }
  /// nullopt before the first copy.
  std::optional<Duration> usual(const std::string& cluster,
                                const api::ObjectKey& local_queue) const;

 private:
  std::unordered_map<std::string, std::map<api::ObjectKey, Smoothed>> usual_;  ///< by cluster
  std::map<api::ObjectKey, std::set<std::string>> learned_;  ///< the clusters of a Workload
};

}  // namespace regatta::dispatch
