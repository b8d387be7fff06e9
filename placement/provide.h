#pragma once

#include "lib/api/core.h"
#include "lib/api/kueue.h"
#include "lib/api/meta.h"
#include "lib/api/resource_flavor.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// What a hub creates on a worker that lacks it, so that jobs of the hub can run there: namespaces,
/// LocalQueues and WorkloadPriorityClasses. It is asked for by annotations of the
/// MultiKueueCluster. What others have made there is never changed, and nothing is ever removed.
namespace regatta::placement {

/// What a MultiKueueCluster asks for.
struct Provision {
  bool namespaces = false;
  bool local_queues = false;
  bool priority_classes = false;
  std::string cluster_queue;         ///< where LocalQueues lead if their own queue is not there
  std::vector<std::string> unknown;  ///< other words of the annotation
  bool any() const { return namespaces || local_queues || priority_classes; }
};

/// multikueue.regatta.dev/provide: "namespaces,localqueues,workloadpriorityclasses", or some of
/// them; multikueue.regatta.dev/provide-cluster-queue: the name of a ClusterQueue there.
Provision provision_of(const api::ObjectMeta& cluster);

/// What the hub has for that worker.
struct HubNeeds {
  /// LocalQueues whose jobs may be sent to the worker.
  std::vector<std::shared_ptr<const api::LocalQueue>> local_queues;
  /// Their namespaces. One that is not here is being deleted, and gets nothing.
  std::map<std::string, std::shared_ptr<const api::Namespace>> namespaces;
  std::vector<std::shared_ptr<const api::WorkloadPriorityClass>> priority_classes;
};

/// What the worker has. Of kinds that are not asked for nothing is known.
struct WorkerHas {
  struct Class {
    std::int32_t value = 0;
    bool ours = false;  ///< it has our origin label
    std::string uid;
  };
  std::set<std::string> namespaces, cluster_queues;
  std::set<api::ObjectKey> local_queues;
  std::map<std::string, Class> priority_classes;
};

/// One write on the worker.
struct ProvideStep {
  const api::ResourceInfo* resource = nullptr;
  api::ObjectKey key;
  Json body;           ///< the object, or a merge patch of the one with that UID
  bool patch = false;  ///< of an object of ours

  /// "LocalQueue team/main".
  std::string str() const;
};

struct ProvidePlan {
  std::vector<ProvideStep> steps;      ///< in order: namespaces come before what is in them
  std::vector<std::string> obstacles;  ///< what is needed and cannot be provided, and why
};

/// A LocalQueue leads to the ClusterQueue of the same name as on the hub, or else to that of the
/// annotation. A namespace is created with the labels of the hub's. Only the value of a class of
/// ours follows. Every object gets the label of the hub's origin. Pure.
ProvidePlan provide_plan(const Provision& asked, const HubNeeds& hub, const WorkerHas& worker,
                         const std::string& origin);

}  // namespace regatta::placement
