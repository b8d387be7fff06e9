#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "lib/runtime/work_queue.h"
#include "placement/automated_quota.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::controllers {

struct QuotaConfig {
  /// The feature gate MultiKueueManagerQuotaAutomation.
  bool enabled = false;
  /// A worker that is lost for less counts with what it had. One that this process has not reached
  /// yet is waited for as long.
  Duration worker_lost_timeout = std::chrono::minutes(15);
};

/// Sets the quotas of ClusterQueues to what their workers have, where the MultiKueueConfig of their
/// check asks for that (placement/automated_quota.h), and the condition that says so. It watches
/// the queues of workers from the moment when the first config asks.
class QuotaController {
 public:
  QuotaController(clusters::LocalCluster& hub, clusters::Fleet& fleet, TaskScope& scope,
                  QuotaConfig config);
  /// The informers must have synced.
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  Task<> work();
  Task<Status> reconcile(std::string name);
  Task<Status> write_quota(std::shared_ptr<const api::ClusterQueue> stored,
                           std::vector<api::ResourceGroup> groups);
  Task<Status> write_condition(std::string name, std::optional<api::Condition> wanted);
  void enqueue_all();
  void follow_if_asked();
  placement::AutomatedQuotaInput input_of(const api::ClusterQueue& queue,
                                          const api::AdmissionCheck& check);
  void add_worker(const std::string& worker, const std::vector<api::ObjectKey>& local_queues,
                  const std::string& cluster_queue, placement::AutomatedQuotaInput* input);

  clusters::LocalCluster& hub_;
  clusters::Fleet& fleet_;
  TaskScope& scope_;
  QuotaConfig config_;
  Log log_;
  bool started_ = false;
  SteadyPoint started_at_{};
  WorkQueue<std::string> queue_;
};

}  // namespace regatta::controllers
