#pragma once

#include "clusters/local_cluster.h"
#include "lib/runtime/work_queue.h"
#include "lifecycle/node_health.h"

#include <memory>
#include <string>
#include <vector>

namespace regatta::controllers {

struct NodeControllerConfig {
  int workers = 2;
  lifecycle::NodeHealthOptions health;
};

/// Marks the nodes that workloads lose in their status, and ends pods that must go to a node that
/// will never run them. The scheduler decides whether there is another place.
class NodeController {
 public:
  NodeController(clusters::LocalCluster& cluster, TaskScope& scope,
                 NodeControllerConfig config = {});
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  using WorkloadPtr = std::shared_ptr<const api::Workload>;
  using NodePtr = std::shared_ptr<const api::Node>;

  void watch_nodes();
  void watch_pods();
  void watch_workloads();
  Task<> work();
  Task<Status> reconcile(std::string host);
  /// The hostname of a node; of a node that is gone, its name.
  std::string host_of(const std::string& node) const;
  /// Null when there is no such node.
  NodePtr node_named(const std::string& host) const;
  /// Whether a node that cannot be read may be the one of that hostname.
  bool may_be_unreadable(const std::string& host) const;
  void look_at_missing();
  void look_for_place(const api::Pod& pod);
  /// Looks at the hosts of the workload whose node is gone or in a state in which it may be lost.
  void look_at_suspects(const api::Workload& workload, Duration delay);
  /// The pods of the workload, of its earlier slices too, that a node runs.
  std::vector<lifecycle::PodPtr> bound_pods(const api::Workload& workload) const;
  /// Those that have a place and that no node runs yet.
  std::vector<lifecycle::PodPtr> waiting_pods(const api::Workload& workload) const;
  /// Workloads that are placed on the host, and workloads of pods that must go there.
  std::vector<WorkloadPtr> concerned(const std::string& host) const;
  lifecycle::PlaceView view(const api::Workload& workload, const std::string& host,
                            const NodePtr& node) const;
  /// Whether the pod set needs its places on the host no more: of its pods so many were given back
  /// that the others have places on other hosts.
  bool given_back(const api::Workload& workload, const api::PodSetAssignment& assignment,
                  const std::string& host) const;
  Task<Status> look_at(WorkloadPtr workload, std::string host, NodePtr node);
  Task<Status> fail(lifecycle::PodPtr pod);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  NodeControllerConfig config_;
  Log log_;
  WorkQueue<std::string> queue_;  ///< values of the hostname label
};

}  // namespace regatta::controllers
