#pragma once

#include "clusters/local_cluster.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"
#include "lifecycle/place_claims.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace regatta::controllers {

/// Finds out what pods take on their nodes beyond what their Workloads take there for them,
/// although they say that they are placed with a Workload. A claim is believed until it was looked
/// at: a second after the pod was bound, and ten seconds after the Workload has lost its places,
/// because the watch of the pods may show later than that of the Workloads that they have ended.
class PlaceClaims {
 public:
  /// `changed` is called, on the control thread, for each pod of which beyond() says another thing
  /// now.
  PlaceClaims(clusters::LocalCluster& cluster, TaskScope& scope, lifecycle::TakenForAPod taken_for,
              std::function<void(const api::ObjectKey&)> changed);

  /// Looks at every claim. The informers must have synced.
  void start();

  /// What the pod takes beyond the place that it claims; nullopt for one whose word counts.
  std::optional<admission::PodAmounts> beyond(const api::Pod& pod) const;

 private:
  using PodsBeyond = std::map<api::ObjectKey, admission::PodAmounts>;

  Task<> work();
  void look(const std::string& job);
  void set_beyond(const std::string& job, PodsBeyond pods);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  lifecycle::TakenForAPod taken_for_;
  std::function<void(const api::ObjectKey&)> changed_;
  /// Names of jobs here and below are "namespace/name" of the Workload, or of its first slice.
  WorkQueue<std::string> queue_;
  bool started_ = false;
  std::map<std::string, SteadyPoint> places_lost_;  ///< when, until it was looked at
  std::map<std::string, PodsBeyond> beyond_;
};

}  // namespace regatta::controllers
