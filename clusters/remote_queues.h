#pragma once

#include "lib/api/kueue.h"
#include "lib/kube/informer.h"

#include <functional>
#include <optional>
#include <string>

namespace regatta::clusters {

/// The queues of a worker, as far as nomination compares workers by them. Fields that it does not
/// read are dropped. A worker that does not let the hub read them has none, which is no error.
class RemoteQueues {
 public:
  /// Makes the dependencies of the informer of a resource.
  using Deps = std::function<kube::InformerDeps(const std::string& resource)>;
  explicit RemoteQueues(const Deps& deps);

  kube::Informer<api::ClusterQueue> cluster_queues;
  kube::Informer<api::LocalQueue> local_queues;
  kube::Informer<api::Cohort> cohorts;

  /// Ends each informer's run().
  void stop();
  /// Since when the oldest news of its queues is known, on the clock of informers; nullopt while
  /// nothing is known. Cohorts are not waited for: where they may not be read they count as without
  /// quota of their own.
  std::optional<SteadyPoint> told() const;
  /// What the worker does not let the hub read, so that nothing is known: "clusterqueues".
  std::optional<std::string> withheld() const;
};

}  // namespace regatta::clusters
