#pragma once

#include "lab/cluster/job_plan.h"
#include "lib/api/batch.h"
#include "lib/api/core.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/kube/informer.h"
#include "lib/manifest/behaviour.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"

#include <map>
#include <string>

namespace regatta::lab {

struct JobControllerDeps {
  kube::Client& client;
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
};

struct JobControllerOptions {
  manifest::Behaviour behaviour;  ///< of Jobs without annotations
  int workers = 8;                ///< Jobs that are reconciled at once
};

/// Runs the Jobs of a cluster that have no other manager: scheduler, kubelet and Job controller in
/// one. plan_job() makes every decision.
class JobController {
 public:
  JobController(JobControllerDeps deps, JobControllerOptions options);
  JobController(const JobController&) = delete;

  /// Runs until cancelled.
  Task<> run();
  std::uint64_t status_writes() const { return status_writes_; }

 private:
  kube::InformerDeps informer_deps();
  Task<> start_workers();
  Task<> work();
  Task<Status> reconcile(api::ObjectKey key);
  /// Removes pods that were asked to end with their Job or after it: no kubelet reports their end.
  Task<Status> end_left_pods(api::ObjectKey job);
  Task<Status> act_on_pods(const api::Job& job, const JobActions& actions);
  Task<Status> create_pod(const api::Job& job, std::optional<std::int32_t> index);
  Task<Status> start_pod(const api::Pod& pod);
  Task<Status> bind(const api::Pod& pod, std::string node);
  Task<Status> set_running(const api::Pod& pod);
  Task<Status> finish_pod(api::ObjectKey key, bool succeeded);
  Task<Status> end_pod(api::ObjectKey key, std::optional<std::int64_t> grace);
  Task<Status> write_status(const api::Job& before, api::JobStatus status);
  std::vector<PodView> pods_of(const api::Job& job) const;
  PodView look_at(const api::Pod& pod) const;
  /// A node for a pod of that spec, or empty.
  std::string node_for(const api::PodSpec& pod, bool overfill) const;
  void watch_nodes();
  /// `job` with the most exact start time that is known.
  api::Job with_exact_start(const api::Job& job) const;
  Status observe_pod(const Result<std::string>& written);

  JobControllerDeps deps_;
  JobControllerOptions options_;
  kube::Informer<api::Job> jobs_;
  kube::Informer<api::Pod> pods_;
  kube::Informer<api::Node> nodes_;
  std::map<std::string, TimePoint> starts_;  ///< by Job uid
  std::uint64_t status_writes_ = 0;
  std::uint64_t placed_ = 0;
  TaskScope scope_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::lab
