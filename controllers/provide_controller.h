#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "lib/runtime/work_queue.h"
#include "placement/provide.h"

#include <functional>
#include <string>

namespace regatta::controllers {

/// Creates on workers what jobs of the hub need there, where the MultiKueueCluster asks for it
/// (placement/provide.h). It lists what a worker has when it connects, when something changes on
/// the hub, and every five minutes; no request is made for other workers. A creation that is
/// refused is told in the condition `NeedsLacking`, and tried again after a pause.
class ProvideController {
 public:
  ProvideController(clusters::LocalCluster& hub, clusters::Fleet& fleet, TaskScope& scope,
                    std::string origin);
  /// The informers must have synced.
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  using Remote = std::shared_ptr<clusters::RemoteCluster>;

  Task<> work();
  Task<> turn(std::string name);
  Task<Status> reconcile(std::string name);
  Task<Status> read(Remote worker, const placement::Provision& asked, placement::WorkerHas* has);
  using Visit = std::function<void(const api::ObjectKey&, const Json&)>;
  Task<Status> list(Remote worker, api::ResourceInfo resource, Visit visit);
  /// Carries the steps out, and adds what was refused to the obstacles.
  Task<Status> carry_out(std::string name, Remote worker, placement::ProvidePlan* plan);
  placement::HubNeeds needs_of(const std::string& cluster) const;
  bool leads_to(const api::ClusterQueue& queue, const std::string& cluster) const;
  void enqueue_all();

  clusters::LocalCluster& hub_;
  clusters::Fleet& fleet_;
  TaskScope& scope_;
  std::string origin_;
  Log log_;
  WorkQueue<std::string> queue_;
};

}  // namespace regatta::controllers
