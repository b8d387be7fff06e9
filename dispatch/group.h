#pragma once

#include "dispatch/plan.h"
#include "jobs/lookup.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

/// Makes the view that plan() decides on, from the objects of the hub and from what each worker
/// holds of one workload.
namespace regatta::dispatch {

/// Jobs on workers that have the name of one of our jobs and lack our origin label. They are
/// remembered for a while, so that their workload is dispatched to other workers meanwhile.
class ForeignJobs {
 public:
  static constexpr Duration remembered = std::chrono::minutes(5);
  void add(const std::string& cluster, const jobs::JobId& job, SteadyPoint now);
  /// Forgets those that were remembered for long enough.
  void expire(SteadyPoint now);
  bool contains(const std::string& cluster, const jobs::JobId& job) const;
  /// When the next one is forgotten; nullopt while there is none.
  std::optional<SteadyPoint> next_end() const;
  bool empty() const { return until_.empty(); }

 private:
  std::map<std::pair<std::string, jobs::JobId>, SteadyPoint> until_;
};

/// One worker, and what it holds of one workload.
struct WorkerView {
  bool connected = false;  ///< reads and writes work, and what follows is complete
  std::optional<TimePoint> lost_since;
  /// No list of what it has was ever read, so that nothing below says anything. Not connected.
  bool unknown = false;
  bool kind_served = true;       ///< its API serves the kind of the job
  jobs::WorkloadPtr copy;        ///< null when the worker has none
  bool other_name = false;       ///< it shows the copy of another name of the same worker
  std::string made_through;      ///< the name that its copy or job was made through, if it says so
  bool removing_copy = false;    ///< we deleted it; the watch has not shown that yet
  bool removal_begun = false;    ///< we asked for it; the answer may be lost
  jobs::JobPtr job;              ///< our job for the workload; null when the worker has none
  bool job_unmarked = false;     ///< no part of it says which hub has sent it
  bool removing_job = false;     ///< all of it
  Duration removing_job_for{0};  ///< how long yet that counts, of any part of it
  std::optional<TimePoint> job_removal_asked;  ///< since when it, or a part, is to be deleted
  bool job_read = false;       ///< the worker was asked for it, and has this version of all of it
  bool job_shared = false;     ///< it runs for other Workloads of the hub, too
  bool other_slice = false;    ///< the elastic job runs under another slice than this Workload
  bool named_is_over = false;  ///< the same, and that one is over on the hub
  bool named_was_replaced = false;  ///< and is there, and was replaced by a later one
  /// It runs under this slice and is to be given to a later one, or its manager may not know yet
  /// that it was.
  bool handing_over = false;
  /// The worker has replaced the slice under which it runs, and no other one has quota there.
  bool without_quota = false;
  std::optional<TimePoint> named_out_of_time;  ///< of that slice: see RemoteCopy
  std::string replaces;  ///< name of the slice that the copy is to replace; empty: not known
  bool strays = false;   ///< see parts_to_remove()
  std::vector<jobs::JobPtr> namesakes;       ///< see namesakes_in()
  Certainty certainty = Certainty::certain;  ///< of the copy and of the job, the worse
  bool of_another_life = false;  ///< the copy or the job is of an older Workload or job of the name
};

/// The workers as the hub knows them: live connections in the manager, other clusters of the same
/// simulation in `regatta simulate`.
class FleetView {
 public:
  virtual ~FleetView() = default;
  using Visit = std::function<void(const std::string& name, const WorkerView& worker)>;
  /// Calls `visit` once for each worker that is in `listed` or is recorded as the one that runs the
  /// workload, or the slice that it is to replace, and for each that may hold something of it.
  virtual void for_each_worker(const api::ObjectKey& workload,
                               const std::vector<std::string>& listed,
                               const Visit& visit) const = 0;
  /// Of the workers of `config`, for a job of `kind`; null is any. A fleet that returns null has
  /// none, and all its workers are looked at for each plan.
  virtual std::shared_ptr<const Roster> roster(
      const std::shared_ptr<const api::MultiKueueConfig>& /*config*/,
      const jobs::JobKind* /*kind*/) const {
    return nullptr;
  }
};

/// Of an evicted Workload that still has quota: no cluster can have run it, because none was
/// recorded for it. `check` is that of MultiKueue, or null. Without one, `known` says that what
/// checks it has are others' for sure.
bool never_ran(const api::WorkloadStatus& status, const api::AdmissionCheckState* check,
               bool known);

/// The state of the Workload's admission check that MultiKueue answers, or null.
const api::AdmissionCheckState* multikueue_check(const jobs::Lookup& hub,
                                                 const api::WorkloadStatus& status);

/// Whether every check but `mine`, that of MultiKueue, is Ready. A check of MultiKueue that was
/// exchanged for another one has no say once a worker is recorded.
bool other_checks_ready(const jobs::Lookup& hub, const api::WorkloadStatus& status,
                        const api::AdmissionCheckState* mine);

/// Whether Placements choose the workers of workloads with this admission check.
bool names_placement(const jobs::Lookup& hub, const std::string& check);

/// The dispatcher that an annotation of this admission check names; nullopt without one.
std::optional<placement::Dispatcher> named_dispatcher(const jobs::Lookup& hub,
                                                      const std::string& check);

/// The MultiKueueConfig that a MultiKueue admission check refers to, or null.
std::shared_ptr<const api::MultiKueueConfig> config_of(const jobs::Lookup& hub,
                                                       const std::string& check);

/// When the worker evicted the copy because its job ran for as long as it may.
std::optional<TimePoint> out_of_time(const api::Workload& copy);

/// How a worker's copy differs from the hub's Workload, spec.active and preemptionGates aside.
Drift drift_between(const api::Workload& local, const api::Workload& remote);

/// Where the slice is that this slice of an elastic job replaces; nullopt when it has no place, or
/// no longer.
std::optional<std::string> place_of_replaced(const jobs::Lookup& hub,
                                             const api::Workload& workload);

/// What the worker's job is to take over from the hub's job while it runs for `workload`; an empty
/// object when there is nothing. `named_is_over` as in WorkerView.
Json job_update(const jobs::GenericJob& job, const jobs::GenericJob& remote,
                const api::Workload& workload, bool named_is_over);

/// Of a Workload whose job has several: where those that go before it are, as LocalView::follows
/// says.
std::optional<std::string> followed_cluster(const jobs::Lookup& hub, const api::Workload& workload);

/// Everything that plan() with that configuration needs to know about one workload. Pure.
GroupView read_group(const jobs::Lookup& hub, const FleetView& fleet, const ForeignJobs& foreign,
                     const api::ObjectKey& key, TimePoint now, const PlanConfig& config);

}  // namespace regatta::dispatch
