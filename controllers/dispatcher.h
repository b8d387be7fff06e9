#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "controllers/live_fleet.h"
#include "controllers/worker_requests.h"
#include "controllers/worker_room.h"
#include "controllers/worker_watch.h"
#include "dispatch/brake.h"
#include "dispatch/footing.h"
#include "dispatch/group.h"
#include "dispatch/head_start.h"
#include "dispatch/plan.h"
#include "lib/runtime/wakeup.h"
#include "lib/runtime/work_queue.h"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace regatta::controllers {

struct DispatcherDeps {
  clusters::LocalCluster& local;
  clusters::Fleet& fleet;
  TaskScope& scope;
};

struct DispatcherConfig {
  dispatch::PlanConfig plan;
  std::string origin = "multikueue";
  Duration gc_interval = std::chrono::minutes(1);  ///< 0: no garbage collection
  int workers = 16;
  bool workload_by_label = false;  ///< jobs on workers name their Workload by label, if that fits
  dispatch::BrakeConfig brake;
  /// The planner that decides. Tests replace it by planners with one broken rule, to show that a
  /// check notices.
  std::function<dispatch::Plan(const dispatch::GroupView&, TimePoint, const dispatch::PlanConfig&)>
      planner = dispatch::plan;
  /// A copy was created on, or a workload admitted on, that cluster; for metrics. May be null.
  std::function<void(const std::string& cluster_queue, const std::string& cluster)> on_dispatched;
  std::function<void(const std::string& cluster_queue, const std::string& cluster)> on_admitted;
  /// No worker may still run the job of that evicted Workload. May be null.
  std::function<void(const api::ObjectKey& workload)> on_stopped;
};

/// Carries out plan() for each workload: reads the caches, plans, applies the actions. It is driven
/// by events of the hub's Workloads and Jobs, of the workers' Workloads and Jobs, and of
/// connections that come or go. A periodic look at what the workers hold removes orphans.
class Dispatcher {
 public:
  Dispatcher(DispatcherDeps deps, DispatcherConfig config);

  /// Starts the workers. The informers must have synced.
  void start();
  bool idle() const { return queue_.idle() && requests_.idle(); }

  /// Adds the clusters that are nominated at once to the status in which a workload gets quota on
  /// the hub, and what is said about them, so that both are part of that write. None when another
  /// dispatcher or a Placement chooses them. A larger slice of an elastic job gets the place of the
  /// slice before it instead.
  void nominate_first(const api::Workload& workload, api::WorkloadStatus* status);

  /// Whether a worker may still run the job of an evicted Workload. When that ends, `on_stopped` is
  /// called.
  bool may_still_run(const api::ObjectKey& key) const;

 private:
  Task<> work();
  Task<> collect_garbage();
  /// Some worker may never be heard of.
  Task<> end_hearing();
  Task<Status> reconcile(api::ObjectKey key);
  Task<Status> apply_all(api::ObjectKey key, const dispatch::LocalView& planned,
                         std::vector<dispatch::Action> actions);
  Task<Status> apply_one(api::ObjectKey key, dispatch::Action action);
  void send(const api::ObjectKey& key, dispatch::Action action);

  Task<Status> run(api::ObjectKey key, dispatch::RemoveRemote action);
  Task<Status> run(api::ObjectKey key, dispatch::CreateCopy action);
  Task<Status> run(api::ObjectKey key, dispatch::UpdateCopy action);
  Task<Status> run(api::ObjectKey key, dispatch::OpenGate action);
  Task<Status> run(api::ObjectKey key, dispatch::SetNominated action);
  Task<Status> run(api::ObjectKey key, dispatch::RecordWinner action);
  Task<Status> run(api::ObjectKey key, dispatch::TakePlace action);
  Task<Status> run(api::ObjectKey key, dispatch::RunOnHub action);
  Task<Status> run(api::ObjectKey key, dispatch::SetCheck action);
  Task<Status> run(api::ObjectKey key, dispatch::CreateJob action);
  Task<Status> run(api::ObjectKey key, dispatch::UpdateJob action);
  Task<Status> run(api::ObjectKey key, dispatch::RemoveStrays action);
  Task<Status> run(api::ObjectKey key, dispatch::CopyJobStatus action);
  void tell_refused_status(const api::ObjectKey& key, const std::string& of, const Error& error);
  Task<Status> run(api::ObjectKey key, dispatch::ReleaseJob action);
  Task<Status> run(api::ObjectKey key, dispatch::EndJob action);
  Task<Status> run(api::ObjectKey key, dispatch::DeactivateRemote action);
  Task<Status> run(api::ObjectKey key, dispatch::FinishLocal action);
  Task<Status> run(api::ObjectKey key, dispatch::Confirm action);
  Task<Status> run(api::ObjectKey key, dispatch::TellState action);

  /// Every write to the status of the hub's Workload and of its job. `conflict`, and nothing is
  /// written, when the Workload has lost the footing on which this turn was planned.
  Task<Status> write_workload(api::ObjectKey key, clusters::Wanted<api::WorkloadStatus> wanted);
  /// Writes where the workload runs, as `place` says of it and its check of MultiKueue. `conflict`,
  /// too, when that is nothing any more.
  using Placing = std::function<std::optional<api::WorkloadStatus>(
      const api::Workload& workload, const api::AdmissionCheckState* check)>;
  Task<Status> write_place(api::ObjectKey key, Placing place);
  Task<Status> write_job(api::ObjectKey key, jobs::JobPtr job,
                         std::function<std::optional<Json>(const jobs::GenericJob&)> change);
  /// What only this process knows: requests that failed, and since when the workload races.
  void add_attempts(const api::ObjectKey& key, TimePoint now, dispatch::GroupView* group);
  /// Since when this process leads, and whether it has heard of every worker since then.
  void add_leading(TimePoint now, dispatch::LocalView* local) const;
  void add_brake(const api::ObjectKey& key, dispatch::GroupView* group);
  /// What is known of the workers, for a dispatcher that compares them.
  void add_comparison(const api::ObjectKey& key, dispatch::GroupView* group);
  void claim(const api::ObjectKey& key, const dispatch::Plan& todo);
  /// Plans workloads again that wait for room, a few at a time, when workers may have some.
  Task<> follow_room();
  std::optional<dispatch::Failing> failing(const std::string& cluster, const api::ObjectKey& key,
                                           WorkerVerb verb, TimePoint now) const;
  void add_quota_loss(const api::ObjectKey& key, dispatch::GroupView* group);
  void add_gates(const api::ObjectKey& key, dispatch::GroupView* group) const;
  /// A size of an elastic job asks no worker while it is being recorded where the former one runs.
  bool waits_for_former(const api::ObjectKey& key) const;
  bool on_footing(const api::ObjectKey& key, const api::Workload* workload) const;

  /// Writes the status of a copy; `doing` says in errors what for.
  Task<Status> write_copy(std::shared_ptr<clusters::RemoteCluster> worker, jobs::WorkloadPtr copy,
                          api::WorkloadStatus status, std::string doing);
  bool must_not_preempt(const api::Workload& workload) const;
  /// The Workload records that cluster, and its check is Ready.
  bool holds_start_lock(const api::Workload& workload, const std::string& cluster) const;
  /// The start lock is still that cluster's, and no other connected cluster is seen to hold the
  /// Job.
  bool may_create_job(const api::ObjectKey& key, const std::string& cluster) const;
  std::string hub_of_copy(const clusters::RemoteCluster& worker, const api::ObjectKey& key) const;
  Task<Status> create_object(std::shared_ptr<clusters::RemoteCluster> worker, api::ObjectKey key,
                             jobs::JobPtr object);
  Task<Status> remove_stray(std::shared_ptr<clusters::RemoteCluster> worker, jobs::JobPtr object);
  /// The worker has every object that the job is to have there.
  bool is_created(const clusters::RemoteCluster& worker, const api::ObjectKey& workload) const;
  Task<Status> adopt_or_note_foreign(std::shared_ptr<clusters::RemoteCluster> remote,
                                     api::ObjectKey workload, jobs::JobId job,
                                     Error already_exists);
  /// The job of the hub that owns the Workload; null when it is not known.
  jobs::JobPtr owner_of(const api::ObjectKey& workload) const;
  std::shared_ptr<clusters::RemoteCluster> remote(const std::string& cluster) const;
  void enqueue_all();
  /// Plans those workloads again that the connection of these workers is news for.
  void enqueue_of(const std::set<std::string>& clusters);
  void enqueue_ended_on(const std::string& cluster);
  void enqueue_held(const clusters::RemoteCluster& worker);
  Task<> follow_connections();
  void rouse_for_other_name(const std::string& cluster, const api::ObjectKey& workload);
  void wake_workloads_of(const jobs::JobId& job);
  void wake_followers(const jobs::WorkloadPtr& before, const jobs::WorkloadPtr& after);
  /// All slices of the elastic job that the Workload is a slice of, itself among them.
  std::vector<api::ObjectKey> slices_of(const api::Workload& slice) const;
  void wake_slices(const jobs::WorkloadPtr& before, const jobs::WorkloadPtr& after);
  /// Those of the jobs on that worker which run under that Workload.
  void wake_slices(const std::string& cluster, const api::ObjectKey& workload);
  void note(const api::ObjectKey& key, bool warning, std::string message);
  void look_at_foreign(const api::ObjectKey& key, const dispatch::GroupView& group);
  /// Adds what is certain, and what only this process knows, to the picture.
  void complete(const api::ObjectKey& key, TimePoint now, dispatch::GroupView* group);
  /// Says once where an object cannot be decoded, so that nothing is done for the workload.
  void tell_unreadable(const api::ObjectKey& key, TimePoint now, dispatch::GroupView* group);

  DispatcherDeps deps_;
  DispatcherConfig config_;
  Log log_;
  LiveFleet workers_;
  WorkerWatch watch_;
  WorkerRoom room_;
  std::set<std::string> connections_;  ///< of workers that came or went and were not looked at
  Wakeup connection_changed_;
  bool heard_all_ = false;  ///< of all workers: what waited for that was enqueued
  Wakeup room_changed_;
  bool room_news_ = false;
  std::set<api::ObjectKey> compared_;  ///< workloads that race, and whose dispatcher compares
  std::optional<SteadyPoint> leading_since_;  ///< nullopt: not started
  dispatch::ForeignJobs foreign_;
  std::map<api::ObjectKey, dispatch::Footing> planned_;  ///< of each turn that is under way
  std::map<api::ObjectKey, SteadyPoint> copied_;         ///< last copy of a running Job's status
  /// Jobs whose status, as their worker tells it, the hub's API refuses: since when, and why.
  struct RefusedStatus {
    SteadyPoint since;
    std::optional<SteadyPoint> end_since;  ///< of its last one
    std::string why;
  };
  std::map<api::ObjectKey, RefusedStatus> refused_status_;
  /// Workloads whose Job runs without quota on its worker: since when that is seen. The clocks of
  /// workers tell another time.
  std::map<api::ObjectKey, SteadyPoint> without_quota_;
  dispatch::HeadStarts head_starts_;
  /// Workloads and the places, empty for the hub, of which tell_unreadable() spoke.
  std::map<api::ObjectKey, std::map<std::string, SteadyPoint>> unreadable_;
  WorkerRequests requests_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::controllers
