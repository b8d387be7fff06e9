#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "dispatch/brake.h"

#include <map>
#include <string>

namespace regatta::controllers {

/// The hub has the Workload of that Job of a worker, and no record that it was ever sent to one.
/// Only a worker that was given a job knows the UID that its Job is to bear.
bool record_lost(const clusters::LocalCluster& hub, const jobs::GenericJob& job,
                 const api::ObjectKey& workload);

/// Looks at all that a worker holds at once, and tells the operator by conditions of its
/// MultiKueueCluster: whether removals are held (dispatch/brake.h), whether another hub uses the
/// same origin there, and whether the worker is registered under another name, too.
class WorkerWatch {
 public:
  WorkerWatch(clusters::LocalCluster& hub, clusters::Fleet& fleet, std::string origin,
              dispatch::BrakeConfig config)
      : hub_(hub), fleet_(fleet), origin_(std::move(origin)), config_(config) {}

  /// Whether nothing may be removed from that worker because the hub lacks it. The answer is
  /// remembered for a second.
  bool holds_removals(const std::string& cluster);
  /// Something changed on the hub that may turn the answer.
  void forget() { judged_.clear(); }
  /// Looks at a worker and writes what is to be said about it.
  void look(const std::string& cluster);

 private:
  struct Judged {
    SteadyPoint until;
    bool holds = false;
  };
  dispatch::RunningThere count(const clusters::RemoteCluster& worker) const;
  bool judge(const std::string& cluster, const clusters::RemoteCluster& worker, bool refresh);
  void look_for_others(const std::string& cluster, const clusters::RemoteCluster& worker);

  clusters::LocalCluster& hub_;
  clusters::Fleet& fleet_;
  std::string origin_;
  dispatch::BrakeConfig config_;
  std::map<std::string, Judged> judged_;
};

}  // namespace regatta::controllers
