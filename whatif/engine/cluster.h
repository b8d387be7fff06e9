#pragma once

/// One cluster in virtual time: admission, the controllers around it, and jobs that run.
///
///   apply(object) ─► settle ─► cycles ─► reserved ─► checks answered ─► running ─► over
///                      ▲                                                   │ preempted, evicted
///                      └──────────── quota given back ◄── stopping ◄───────┘
///
/// The manager's code decides, and it also reads what it decides on: the cluster serves
/// jobs::Lookup, from which read_job(), read_lifecycle() and read_group() make their views. The
/// differences are listed in docs/simulate.md. Only what has a duration takes time, and every cycle
/// sees everything that happened before.

#include "admission/cycle.h"
#include "admission/state.h"
#include "dispatch/plan.h"
#include "jobs/read_job.h"
#include "lifecycle/lifecycle.h"
#include "whatif/engine/agenda.h"
#include "whatif/engine/course.h"
#include "whatif/engine/queue_meters.h"
#include "whatif/engine/records.h"
#include "whatif/manifests/objects.h"
#include "whatif/timeline/timeline.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::whatif {

struct ClusterSettings {
  std::string name;
  std::uint32_t index = 0;
  bool dispatches = false;  ///< a hub: workloads with a MultiKueue check run on workers
  bool federated = false;   ///< a Federation calls take_changed()
  admission::Config admission;
  lifecycle::LifecycleConfig lifecycle;
  jobs::JobKinds kinds;
  jobs::JobConfig jobs;
  manifest::Behaviour behaviour;
};

class Cluster final : public jobs::Lookup {
 public:
  Cluster(ClusterSettings settings, const Grid* grid, Agenda* agenda, Records* records);

  const std::string& name() const { return settings_.name; }
  const admission::State& state() const { return state_; }
  admission::State& state() { return state_; }

  // What happens
  void apply(const Object& object, TimePoint now);
  Status erase(const ObjectName& name, TimePoint now);
  Status scale(const ScaleQuota& change, TimePoint now);
  Status set_node_ready(const SetNodeReady& change, TimePoint now);
  void wake(const Wake& wake, TimePoint now);
  /// Settles and schedules until nothing more happens now.
  void act(TimePoint now);
  bool restless() const { return restless_; }
  /// Writes into the records why bypassed workloads wait.
  void explain_passed_over(TimePoint now);

  // For the federation
  Course* find(const api::ObjectKey& key);
  /// The course of the Job's Workload.
  Course* find_job(const api::ObjectKey& job);
  Course& course(std::uint32_t id) { return courses_[id]; }
  const Course* find(const api::ObjectKey& key) const;
  /// The Workload of the course, not a copy of it: valid as long as the cluster, and changing with
  /// it.
  static jobs::WorkloadPtr workload_of(const Course& course);
  /// The job that a hub made here for a copy, as far as the hub reads it.
  jobs::JobPtr job_of_copy(const Course& copy) const;
  /// Adds a copy of a hub's workload. It runs after start_copy().
  void create_copy(const Course& original, TimePoint now);
  void start_copy(const api::ObjectKey& key, TimePoint now);
  /// Gives a copy the priority of the hub's workload.
  void reprice_copy(const api::Workload& original, TimePoint now);
  /// Removes a copy: at once when it does not run, else when its pods have ended.
  void remove_copy(const api::ObjectKey& key, TimePoint now);
  /// To be called after the status of the course's Workload was edited.
  void touch(Course* course, TimePoint now);
  /// Remembers the workload for take_changed().
  void changed(const api::ObjectKey& key) {
    if (settings_.federated) changed_.insert(key);
  }
  /// Like touch(), and settles the course at once.
  void settle_now(Course* course, TimePoint now);
  void deactivate(const api::ObjectKey& key, const dispatch::DeactivateRemote& action,
                  TimePoint now);
  /// To be called when no pod runs any more of a job that ran on a worker.
  void wound_down(Course* course, TimePoint now);
  std::vector<api::ObjectKey> unfinished_keys() const;
  void run_elsewhere(Course* course, const std::string& cluster, TimePoint now);
  void finish(Course* course, bool success, const std::string& message, TimePoint now);
  void stopped(Course* course, TimePoint now);
  /// Workloads that changed since the last call. Each gets a resourceVersion by that.
  std::set<api::ObjectKey> take_changed();
  /// ClusterQueues whose usage or waiting workloads changed since the last call.
  std::set<std::string> take_changed_queues();

  // Lookup
  const jobs::JobKinds& kinds() const override { return settings_.kinds; }
  jobs::JobPtr job(const jobs::JobId& id) const override;
  jobs::WorkloadPtr workload(const api::ObjectKey& key) const override;
  std::vector<jobs::WorkloadPtr> workloads_of(const jobs::JobId& owner) const override;
  std::shared_ptr<const api::Namespace> namespace_named(const std::string& name) const override;
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const override;
  std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string& name) const override;
  std::shared_ptr<const api::ResourceFlavor> flavor(const std::string& name) const override;
  std::shared_ptr<const api::AdmissionCheck> admission_check(
      const std::string& name) const override;
  std::shared_ptr<const api::MultiKueueConfig> multikueue_config(
      const std::string& name) const override;
  std::shared_ptr<const api::MultiKueueCluster> multikueue_cluster(const std::string& name) const;
  std::shared_ptr<const api::WorkloadPriorityClass> workload_priority_class(
      const std::string& name) const override;
  std::vector<std::shared_ptr<const api::PriorityClass>> priority_classes() const override;

  // For a hub that compares its workers
  std::vector<std::shared_ptr<const api::Cohort>> cohorts() const;
  std::vector<std::shared_ptr<const api::LocalQueue>> local_queues() const;
  std::vector<std::string> cluster_queues() const;
  /// The ClusterQueue as an API server would show it now; null when there is none.
  std::shared_ptr<const api::ClusterQueue> shown_queue(const std::string& name);
  /// Copies that have not ended.
  std::vector<jobs::WorkloadPtr> copies() const;

  QueueMeters& meters() { return meters_; }
  std::size_t unfinished() const { return active_.size(); }

 private:
  /// The one kind whose behaviour is simulated.
  const jobs::JobKind* batch_job() const { return settings_.kinds.find("batch", "Job"); }
  jobs::JobId job_named(const api::ObjectKey& key) const { return {batch_job(), key}; }

  template <class T>
  using Named = std::map<std::string, std::shared_ptr<const T>>;

  // cluster_objects.cpp
  void put(const api::Workload& workload, TimePoint now);
  void put(api::AdmissionCheck check, TimePoint now);
  void put(const api::ClusterQueue& queue, TimePoint now);
  template <class T>
  void put(const T& object, TimePoint now);
  template <class T>
  Named<T>* objects_of();
  bool erase_queue_object(const ObjectName& name, TimePoint now);
  Status erase_job(const api::ObjectKey& key, TimePoint now);

  // cluster_submit.cpp
  void put(const api::Job& job, TimePoint now);
  void claim(Course* course, const api::Job& job);
  void store(api::Job job);
  api::Job as_submitted(api::Job job) const;
  void follow_job(const jobs::JobId& id, TimePoint now);
  bool carry_out(const jobs::JobId& id, const jobs::JobAction& action, TimePoint now);
  void create_workload(const jobs::JobId& id, api::Workload workload, TimePoint now);
  void leave_out(const jobs::JobId& id, const std::string& why);
  void show_running(const jobs::JobId& id, bool runs);

  // cluster_objects.cpp
  void refresh_capacity(TimePoint now);
  void touch_all(TimePoint now);
  std::string next_uid();
  Course& add_course(api::Workload workload, Work work, TimePoint now);
  void record_new(Course* course);

  // cluster.cpp
  void settle(Course* course, TimePoint now);
  void settle_dirty(TimePoint now);
  void follow(Course* course, TimePoint now);
  void schedule(TimePoint now);
  void take_decisions(const admission::CycleResult& result, TimePoint now);
  void reserve(const admission::AdmittedWorkload& decision, TimePoint now);
  void preempt(const admission::PreemptedWorkload& decision, TimePoint now);
  void explain(const admission::PendingWorkload& decision, TimePoint now);
  void observe(TimePoint now);
  void pods_ready(Course* course, TimePoint now);

  // cluster_places.cpp
  void look_at_node(const std::string& name, const api::Node* node, TimePoint now);
  void take_places(const admission::CycleResult& result, TimePoint now);

  // cluster_jobs.cpp
  void begin_run(Course* course, TimePoint now);
  void ask_checks(Course* course, TimePoint now);
  void answer(Course* course, std::size_t check, TimePoint now);
  void start(Course* course, TimePoint now);
  void begin_stop(Course* course, TimePoint now);
  void drop(Course* course, TimePoint now);
  void end_run(Course* course, RunEnd end, TimePoint now);
  void retire(Course* course, Outcome outcome, TimePoint now);
  Run* current_run(const Course& course);
  void plan(Course* course, Due due, TimePoint at, std::uint32_t detail = 0);
  void look_again(Course* course, TimePoint at);
  void list_clusters();

  ClusterSettings settings_;
  Agenda* agenda_;
  Records* records_;
  std::uint64_t uids_ = 0;
  admission::State state_;
  QueueMeters meters_;

  std::map<api::ObjectKey, std::shared_ptr<const api::LocalQueue>> local_queues_;
  Named<api::Namespace> namespaces_;
  Named<api::ResourceFlavor> flavors_;
  Named<api::ClusterQueue> cluster_queues_;
  Named<api::Cohort> cohorts_;
  Named<api::AdmissionCheck> checks_;
  Named<api::MultiKueueConfig> configs_;
  Named<api::MultiKueueConfig> selecting_;  ///< those that select by labels, with what they select
  Named<api::MultiKueueCluster> multikueue_clusters_;
  Named<api::PriorityClass> priority_classes_;
  Named<api::WorkloadPriorityClass> workload_classes_;
  Named<api::Node> nodes_;

  /// Jobs as they were submitted, with the later changes of their specs and statuses.
  std::unordered_map<jobs::JobId, jobs::JobPtr, KeyHash> jobs_;

  std::deque<Course> courses_;
  std::unordered_map<api::ObjectKey, std::uint32_t, KeyHash> by_key_;
  std::unordered_map<jobs::JobId, std::uint32_t, KeyHash> by_job_;
  /// Workloads of a snapshot that wait for their Job, by the Job's uid.
  std::map<std::string, std::uint32_t> unclaimed_;
  std::set<std::uint32_t> active_;
  std::set<std::uint32_t> dirty_;
  std::set<api::ObjectKey> changed_;
  std::set<std::string> changed_queues_;
  std::uint64_t versions_ = 0;
  std::optional<TimePoint> flush_at_;
  bool restless_ = false;
};

}  // namespace regatta::whatif
