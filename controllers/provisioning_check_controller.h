#pragma once

#include "clusters/local_cluster.h"
#include "lib/runtime/wakeup.h"
#include "lib/runtime/work_queue.h"
#include "lifecycle/provisioning_check.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::controllers {

struct ProvisioningCheckConfig {
  bool cleanup_on_eviction = true;
  int workers = 4;
};

/// Carries out plan_provisioning() for workloads with checks of this kind, and keeps the Active
/// condition of those checks. It watches nothing and makes no request before such a check exists
/// and the cluster serves ProvisioningRequests.
class ProvisioningCheckController {
 public:
  ProvisioningCheckController(clusters::LocalCluster& local, kube::InformerDeps deps,
                              TaskScope& scope, ProvisioningCheckConfig config);
  void start();
  bool idle() const { return checks_.idle() && workloads_.idle(); }

 private:
  Task<> run();
  Task<bool> served();
  Task<> work_on_checks();
  Task<> work_on_workloads();
  Task<Status> reconcile_check(std::string name);
  Task<Status> reconcile(api::ObjectKey key);
  Task<Status> write_states(api::ObjectKey key);
  Task<Status> create_all(std::shared_ptr<const api::Workload> workload,
                          std::vector<lifecycle::WantedRequest> wanted);
  Task<Status> create(std::shared_ptr<const api::Workload> workload,
                      lifecycle::WantedRequest wanted);
  Task<Status> create_template(std::shared_ptr<const api::Workload> workload,
                               const lifecycle::ProvisionedPods& pods);
  Task<Status> report(std::shared_ptr<const api::Workload> workload, std::string check,
                      std::string message);
  Task<Status> hand_over(lifecycle::RequestPtr request);
  lifecycle::ProvisioningView view(std::shared_ptr<const api::Workload> workload) const;
  lifecycle::ProvisioningCheck check_of(const std::string& name) const;
  void watch();
  void concerns(const api::ObjectKey& workload);
  void concerns_all();
  void note(const api::Workload& workload, bool warning, std::string reason, std::string text);

  clusters::LocalCluster& local_;
  TaskScope& scope_;
  kube::Client& client_;  ///< writes what only this controller follows: requests, pod templates
  ProvisioningCheckConfig config_;
  Log log_;
  kube::Informer<api::ProvisioningRequestConfig> configs_;
  kube::Informer<api::ProvisioningRequest> requests_;
  kube::Informer<api::StoredPodTemplate> templates_;
  std::set<std::string> ours_;  ///< checks of this kind
  bool served_ = false;
  bool ready_ = false;  ///< every informer has synced
  WorkQueue<std::string> checks_;
  WorkQueue<api::ObjectKey> workloads_;
  struct Pause {
    int times = 0;
    SteadyPoint until;
  };
  std::map<api::ObjectKey, Pause> pauses_;  ///< of workloads whose last creation failed
  Wakeup wake_;
};

}  // namespace regatta::controllers
