#pragma once

/// One cluster in virtual time: admission, what the controllers do around it, and jobs that run.
///
///   apply(object) ─► settle ─► cycles ─► reserved ─► checks answered ─► running ─► over
///                      ▲                                                   │ preempted, evicted
///                      └──────────── quota given back ◄── stopping ◄───────┘
///
/// Decisions are those of the manager: admission::run_cycle, lifecycle::settle, jobs::plan's way
/// from a Job to a Workload. What differs is listed in docs/simulate.md: nothing takes time but
/// what says so, and every cycle sees everything that happened before.

#include "admission/cycle.h"
#include "admission/state.h"
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
  bool dispatches = false;  ///< workers take what the MultiKueue check asks for
  bool federated = false;   ///< somebody calls take_changed()
  admission::Config admission;
  lifecycle::LifecycleConfig lifecycle;
  manifest::Behaviour behaviour;
};

class Cluster {
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
  /// Writes into the records why those wait that never had their turn.
  void explain_passed_over(TimePoint now);

  // For the federation
  Course* find(const api::ObjectKey& key);
  /// That of the Job.
  Course* find_job(const api::ObjectKey& job);
  Course& course(std::uint32_t id) { return courses_[id]; }
  /// The name of the MultiKueue check of that workload, or empty; of its config's clusters.
  std::string multikueue_check(const api::Workload& workload) const;
  const api::MultiKueueConfig* config_of(const std::string& check) const;
  /// A copy of a hub's workload; it runs when start_copy() says so.
  void create_copy(const Course& original, TimePoint now);
  void start_copy(const api::ObjectKey& key, TimePoint now);
  /// At once for one that does not run; after its time to end for one that does.
  void remove_copy(const api::ObjectKey& key, TimePoint now);
  /// Its status was edited.
  void touch(Course* course, TimePoint now);
  /// Remembers it for take_changed().
  void changed(const api::ObjectKey& key) {
    if (settings_.federated) changed_.insert(key);
  }
  /// touch(), and settles it at once.
  void settle_now(Course* course, TimePoint now);
  void deactivate(const api::ObjectKey& key, const std::string& message, TimePoint now);
  /// Nothing of a job that ran on a worker runs any more.
  void wound_down(Course* course, TimePoint now);
  std::vector<api::ObjectKey> unfinished_keys() const;
  void run_elsewhere(Course* course, const std::string& cluster, TimePoint now);
  void finish(Course* course, bool success, const std::string& message, TimePoint now);
  void stopped(Course* course, TimePoint now);
  /// Workloads that changed since the last call.
  std::set<api::ObjectKey> take_changed();

  QueueMeters& meters() { return meters_; }
  std::size_t unfinished() const { return active_.size(); }

 private:
  // cluster_objects.cpp
  void put(const api::Job& job, TimePoint now);
  void put(const api::Workload& workload, TimePoint now);
  void put(api::AdmissionCheck check, TimePoint now);
  void put(const api::ClusterQueue& queue, TimePoint now);
  template <class T>
  void put(const T& object, TimePoint now);
  bool erase_queue_object(const ObjectName& name, TimePoint now);
  Status erase_job(const api::ObjectKey& key, TimePoint now);
  Result<api::Workload> workload_for(const api::Job& job);
  void read_priority(const api::Job& job, api::WorkloadSpec* spec, std::string* problem) const;
  std::string queue_of(const api::Job& job) const;
  void refresh_capacity(TimePoint now);
  void touch_all(TimePoint now);
  std::string next_uid();
  Course& add_course(api::Workload workload, Work work, TimePoint now);
  void record_new(Course* course);

  // cluster.cpp
  lifecycle::LifecycleView view(const api::Workload& workload) const;
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

  ClusterSettings settings_;
  Agenda* agenda_;
  Records* records_;
  std::uint64_t uids_ = 0;
  admission::State state_;
  QueueMeters meters_;

  std::map<api::ObjectKey, api::LocalQueue> local_queues_;
  std::map<std::string, api::ClusterQueue> cluster_queues_;
  std::map<std::string, api::Cohort> cohorts_;
  std::map<std::string, api::AdmissionCheck> checks_;
  std::map<std::string, api::MultiKueueConfig> configs_;
  std::map<std::string, api::PriorityClass> priority_classes_;
  std::map<std::string, api::WorkloadPriorityClass> workload_classes_;
  std::map<std::string, api::Node> nodes_;

  std::deque<Course> courses_;
  std::map<api::ObjectKey, std::uint32_t> by_key_;
  std::map<api::ObjectKey, std::uint32_t> by_job_;
  /// Workloads of a snapshot whose Job is still to come, by its uid.
  std::map<std::string, std::uint32_t> unclaimed_;
  std::set<std::uint32_t> active_;
  std::set<std::uint32_t> dirty_;
  std::set<api::ObjectKey> changed_;
  std::optional<TimePoint> flush_at_;
  bool restless_ = false;
};

}  // namespace regatta::whatif
