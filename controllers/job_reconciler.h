#pragma once

#include "clusters/local_cluster.h"
#include "jobs/plan.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"

#include <functional>

namespace regatta::controllers {

struct JobReconcilerConfig {
  int workers = 5;
  bool manage_without_queue_name = false;
  /// managedJobsNamespaceSelector; nothing in other namespaces is touched.
  api::Selector namespaces;
  jobs::TopologyOptions topology;
  /// Jobs without a queue name go to the LocalQueue `default` of their namespace, where it exists.
  bool default_queue = true;
  /// Jobs without a class have the WorkloadPriorityClass `default`, where it exists.
  bool default_priority_class = true;
  jobs::JobPolicy policy;
};

/// Keeps batch/v1 Jobs and their Workloads in step: reads both from the informers, lets plan_job()
/// decide, applies. Spawns its workers on the given scope; must outlive it.
class JobReconciler {
 public:
  JobReconciler(clusters::LocalCluster& cluster, TaskScope& scope, JobReconcilerConfig config);

  /// Starts the workers. The informers must have synced.
  void start();
  void enqueue(const api::ObjectKey& job) { queue_.add(job); }
  bool idle() const { return queue_.idle(); }

 private:
  void watch_needs();
  Task<> work();
  Task<Status> reconcile(api::ObjectKey key);
  Task<Status> release_orphans(api::ObjectKey key);
  jobs::JobView view(std::shared_ptr<const api::Job> job) const;
  void read_admission(jobs::JobView* view) const;
  void read_priority(jobs::JobView* view) const;
  bool made_by_managed_job(const api::Job& job) const;
  bool manages(const api::Job& job) const;
  bool takes_part(const std::string& ns) const;
  std::string default_queue_of(const api::Job& job) const;
  std::string workload_class_of(const jobs::JobView& view) const;
  Task<Status> apply(std::shared_ptr<const api::Job> job, const jobs::JobAction& action);
  void enqueue_owners(const api::Workload& workload);
  void note(const api::Job& job, kube::EventType type, std::string_view reason,
            std::string message);

  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::CreateWorkload& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::DeleteWorkload& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::AdoptWorkload& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::UpdateWorkload& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::FinishWorkload& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::ReleaseWorkload& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::SetReclaimable& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::DropReservation& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::StopJob& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::StartJob& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::QueueJob& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::DeleteJob& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::GateWorkload& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::SetPodsReady& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::LookAgain& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::Tell& action);
  Task<Status> run(std::shared_ptr<const api::Job> job, const jobs::Complain& action);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  JobReconcilerConfig config_;
  Log log_;
  WorkQueue<api::ObjectKey> queue_;
  std::map<api::ObjectKey, std::string> told_;  ///< the last message of each job
};

}  // namespace regatta::controllers
