#pragma once

#include "clusters/local_cluster.h"
#include "jobs/read_job.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"

#include <functional>
#include <set>

namespace regatta::controllers {

struct JobReconcilerConfig : jobs::JobConfig {
  int workers = 5;
  /// Whether a worker may still run the job of that Workload; null where no job is dispatched.
  std::function<bool(const api::ObjectKey& workload)> may_run_on_worker;
};

/// Keeps jobs of every kind and their Workloads in step: read_job() makes the view from the
/// informers, plan_job() decides, and this class applies the actions. Spawns its workers on the
/// given scope; must outlive it.
class JobReconciler {
 public:
  JobReconciler(clusters::LocalCluster& cluster, TaskScope& scope, JobReconcilerConfig config);

  /// Starts the workers. The informers must have synced.
  void start();
  bool idle() const { return queue_.idle(); }

  /// Plans the jobs of that Workload again, because what `may_run_on_worker` says may have changed.
  void look(const api::ObjectKey& workload);

 private:
  void watch_needs();
  Task<> work();
  Task<Status> reconcile(jobs::JobId id);
  Task<Status> settle(jobs::JobId id);
  Task<Status> release_orphans(jobs::JobId id);
  Task<Status> apply(jobs::JobPtr job, jobs::JobAction action);
  void enqueue_owners(const api::Workload& workload);
  void enqueue_named(const api::Workload& workload);
  void enqueue_made_by(const api::Workload& workload);
  bool may_run_on_worker(const jobs::JobView& seen) const;
  void note_loss(const api::Workload& gone);
  Task<Result<bool>> is_there(jobs::JobPtr job);
  void note(const jobs::GenericJob& job, const jobs::JobAction& action);

  Task<Status> run(jobs::JobPtr job, jobs::CreateWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::DeleteWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::AdoptWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::UpdateWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::FinishWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::ReleaseWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::SetReclaimable action);
  Task<Status> run(jobs::JobPtr job, jobs::DropReservation action);
  Task<Status> run(jobs::JobPtr job, jobs::StopJob action);
  Task<Status> run(jobs::JobPtr job, jobs::TerminateJob action);
  Task<Status> run(jobs::JobPtr job, jobs::LetJobGo action);
  Task<Status> run(jobs::JobPtr job, jobs::StartJob action);
  Task<Status> run(jobs::JobPtr job, jobs::DropExcess action);
  Task<Status> run(jobs::JobPtr job, jobs::ShareWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::AwaitReplacement action);
  Task<Status> run(jobs::JobPtr job, jobs::RetireWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::HoldWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::PatchPods action);
  Task<Status> run(jobs::JobPtr job, jobs::HoldJob action);
  Task<Status> run(jobs::JobPtr job, jobs::QueueJob action);
  Task<Status> run(jobs::JobPtr job, jobs::NoteSize action);
  Task<Status> run(jobs::JobPtr job, jobs::DeleteJob action);
  Task<Status> run(jobs::JobPtr job, jobs::GateWorkload action);
  Task<Status> run(jobs::JobPtr job, jobs::SetPodsReady action);
  Task<Status> run(jobs::JobPtr job, jobs::LookAgain action);
  Task<Status> run(jobs::JobPtr job, jobs::Tell action);
  Task<Status> run(jobs::JobPtr job, jobs::Complain action);

  /// One write to one object; false in `written` when it was not needed any more.
  using Write = Task<Status> (JobReconciler::*)(jobs::JobWrite write, bool* written);
  struct Written {
    Status status = ok();              ///< the first error
    std::vector<jobs::JobWrite> jobs;  ///< that were written to, without the patches
  };
  /// Writes to the objects of one job, some at once. All are tried.
  Task<Written> each(std::vector<jobs::JobWrite> writes, Write how);
  Task<> gather(jobs::JobWrite write, Write how, Written* out);
  Task<Status> start_one(jobs::JobWrite write, bool* started);
  Task<Status> terminate_one(jobs::JobWrite write, bool* written);
  Task<Status> let_go_one(jobs::JobWrite write, bool* written);
  Task<Status> patch_one(jobs::JobWrite write, bool* written);
  Task<Status> drop_one(jobs::JobWrite write, bool* written);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  JobReconcilerConfig config_;
  Log log_;
  WorkQueue<jobs::JobId> queue_;
  bool started_ = false;
  std::map<jobs::JobId, std::string> told_;  ///< the last message of each job
  /// Jobs whose Workload went while they stayed, as far as the cache knows.
  std::set<jobs::JobId> bereft_;
  /// Jobs that wait until what may be their Workload can be read, or is gone.
  std::set<jobs::JobId> with_unreadable_;
  /// When Workloads were told a moment ago which of their pods are not needed any more.
  std::map<api::ObjectKey, SteadyPoint> reclaimed_;
};

}  // namespace regatta::controllers
