#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "dispatch/plan.h"

#include <map>
#include <optional>
#include <string>

namespace regatta::dispatch {

/// Jobs on workers that have the name of one of ours and are not ours. Remembered for a while, so
/// that a workload goes elsewhere meanwhile.
class ForeignJobs {
 public:
  static constexpr Duration remembered = std::chrono::minutes(5);
  void add(const std::string& cluster, const api::ObjectKey& job, TimePoint now);
  bool contains(const std::string& cluster, const api::ObjectKey& job, TimePoint now) const;

 private:
  std::map<std::pair<std::string, api::ObjectKey>, TimePoint> until_;
};

/// The admission check of a Workload that MultiKueue answers, or null.
const api::AdmissionCheckState* multikueue_check(const clusters::LocalCluster& local,
                                                 const api::Workload& workload);

/// The MultiKueueConfig an admission check of ours refers to, or null.
std::shared_ptr<const api::MultiKueueConfig> config_of(const clusters::LocalCluster& local,
                                                       const std::string& check);

/// How a worker's copy differs from the hub's Workload: spec.active and preemptionGates aside.
Drift drift_between(const api::Workload& local, const api::Workload& remote);

/// A worker's Job for that Workload, or null.
std::shared_ptr<const api::Job> remote_job_of(const clusters::RemoteCluster& remote,
                                              const api::ObjectKey& workload);

/// The hub's Job that owns the Workload; null when it is unknown or another one by now.
std::shared_ptr<const api::Job> owner_job(const clusters::LocalCluster& local,
                                          const api::Workload& workload);

/// Everything plan() needs to know about one workload, from the caches alone.
GroupView read_group(const clusters::LocalCluster& local, const clusters::Fleet& fleet,
                     const ForeignJobs& foreign, const api::ObjectKey& key, TimePoint now);

}  // namespace regatta::dispatch
