#pragma once

/// What a cluster offers besides queues: namespaces, ResourceFlavors, AdmissionChecks, topologies
/// with their nodes, and what the cluster adds to pod templates (pod_defaults.h).

#include "admission/config.h"
#include "admission/pod_defaults.h"
#include "admission/topology/topologies.h"
#include "admission/workload.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regatta::admission {

struct FlavorInfo {
  FlavorId id = 0;
  api::ResourceFlavorSpec spec;
};

class ObjectBook {
 public:
  ObjectBook(const Config& config, Names& names);
  ObjectBook(const ObjectBook&) = delete;
  ObjectBook& operator=(const ObjectBook&) = delete;

  // Objects as they were read. True when that changed something. Erasing an unknown object does
  // nothing.
  bool upsert(const api::Namespace& ns);
  bool upsert(const api::ResourceFlavor& flavor);
  void upsert(const api::AdmissionCheck& check);
  void erase_namespace(const std::string& name);
  bool erase_flavor(const std::string& name);
  bool erase_check(const std::string& name);

  /// Null when there is none.
  const FlavorInfo* flavor(FlavorId id) const;
  const FlavorInfo* flavor(const std::string& name) const;
  const api::StringMap* namespace_labels(const std::string& ns) const;

  bool uses_multikueue(const api::ClusterQueueSpec& queue) const;
  /// Whether pods get their places later or on another cluster: with MultiKueue, and until the
  /// machines of a ProvisioningRequest exist.
  bool delays_topology(const api::ClusterQueueSpec& queue, FlavorId flavor, bool reserved) const;
  /// Why a ClusterQueue with this spec cannot admit workloads: reasons and texts, the worst first.
  using Problems = std::vector<std::pair<std::string, std::string>>;
  Problems problems(const api::ClusterQueueSpec& queue) const;

  Topologies& topologies() { return topologies_; }
  const Topologies& topologies() const { return topologies_; }
  PodDefaults& pod_defaults() { return pod_defaults_; }

  /// The shape with which the workload would be admitted now.
  ShapePtr shape_of(const api::Workload& workload);
  /// The profiles of the pods as they will be created, with what admission checks add.
  std::vector<PodProfilePtr> pods_after_checks(const api::Workload& workload, const Shape& shape);
  /// What the workload holds according to its status. Its ClusterQueue is not set yet. `former`: of
  /// the reservation that it had until now, for each pod set; empty when it had none.
  std::unique_ptr<Reservation> read_reservation(const api::Workload& workload, const Shape& shape,
                                                const std::vector<Reclaimed>& former);

 private:
  struct CheckInfo {
    bool active = false;
    std::string controller;
  };

  Problems check_problems(const api::ClusterQueueSpec& queue) const;
  void read_places(const api::PodSetAssignment& assignment, const PodProfilePtr& pods,
                   PodSetReservation* pod_set);

  const Config& config_;
  Names& names_;
  Topologies topologies_;
  ShapeRegistry shapes_;
  PodDefaults pod_defaults_;
  std::map<std::string, api::StringMap> namespaces_;
  std::map<std::string, FlavorInfo> flavors_;
  std::vector<const FlavorInfo*> flavor_of_id_;
  std::map<std::string, CheckInfo> checks_;
};

}  // namespace regatta::admission
