#pragma once

#include "jobs/generic_job.h"
#include "lib/api/object_map.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::clusters {

class RemoteCluster;

/// Which workers may have something of a Workload of the hub, by what their caches hold. A fleet
/// may have a thousand workers, and a Workload is on a few of them at any time.
///
/// A worker that is named may have nothing: look at its caches. One that is not named has nothing
/// there, whether it is connected or not.
class Holders {
 public:
  /// The caches of that worker changed for this Workload.
  void look(const RemoteCluster& worker, const api::ObjectKey& workload);
  /// The same for a job that is elastic, or was: it may be of a Workload that it does not name.
  void look_at_elastic(const RemoteCluster& worker, const jobs::JobId& job);
  /// The same for jobs that cannot be decoded: of which Workloads they are is not known.
  void look_at_unreadable_jobs(const RemoteCluster& worker);
  /// Drops all that was noted of this worker. Before its caches go.
  void forget(const RemoteCluster& worker);

  /// Adds the names of the workers to `names`. `elastic` is the job of the Workload if that is
  /// elastic, or null.
  void add_to(std::set<std::string>* names, const api::ObjectKey& workload,
              const jobs::JobId* elastic) const;

 private:
  using Workers = std::vector<std::string>;
  template <class Map, class Key>
  static void note(Map* map, const Key& key, const std::string& worker, bool holds);

  std::unordered_map<api::ObjectKey, Workers, api::KeyHash> by_workload_;
  std::map<jobs::JobId, Workers> elastic_;
  std::set<std::string> unreadable_jobs_;
};

}  // namespace regatta::clusters
