#pragma once

#include "jobs/generic_job.h"
#include "jobs/serving_job.h"
#include "lib/api/pods_ready.h"
#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a job and its Workload need next.
///
///   job created ─► Workload created ─► admitted ─► job started ─► job and Workload finished
///                         ▲                             │
///                         └── reservation dropped ◄── job stopped ◄── Workload evicted
///
/// An evicted Workload keeps its quota until its job reports no running pods. So the next workload
/// with that quota finds room, and a checkpoint within the grace period is not lost.
namespace regatta::jobs {

/// What the configuration says about jobs.
struct JobPolicy {
  bool wait_for_pods_ready = false;
  /// PodsReady is written this long after the admission at the earliest, so that a shorter job ends
  /// without that write. Zero where other workloads wait for it.
  Duration pods_ready_after{1000};
  /// PodsReady=False is part of the write that reserves quota. Else it is written for a workload
  /// whose condition is not there.
  bool unready_with_quota = true;
  /// How long a job is kept after Regatta deactivated it; none: for ever.
  std::optional<Duration> retain_deactivated;
  bool admission_gates = true;
  bool reclaimable_pods = true;  ///< jobs give back what they no longer need
  bool brief_names = false;      ///< names of Workloads; see workload_name()
  bool elastic = true;           ///< jobs may grow and shrink while they run
  /// The API server lets the template of a stopped job change while its pods end; those from 1.36
  /// on refuse that.
  bool restore_at_once = false;
  bool finish_orphans = true;               ///< Workloads of jobs that go are Finished
  bool partial_admission = true;            ///< jobs may begin with fewer pods
  bool names_in_labels = false;             ///< pods of serving jobs name their Workload in labels
  bool queue_labels = true;                 ///< pods carry the names of their queues
  bool tell_obstacles = true;               ///< all of them, and not only those that Kueue tells
  std::vector<std::string> labels_to_copy;  ///< from the job to its Workload
};

struct JobView {
  JobPtr job;  ///< never null
  /// Whether Regatta manages the job: it has a queue name (or all jobs are managed) and its
  /// namespace takes part.
  bool managed = false;
  /// A managed job made this one, and that job's Workload is not admitted.
  bool held_by_maker = false;
  /// The job names a prebuilt Workload. `prebuilt_workload` is null while that does not exist.
  bool prebuilt = false;
  WorkloadPtr prebuilt_workload;
  /// The Pods of a serving job that may have to be told something, by name.
  std::vector<ServedPod> pods;
  /// Workloads that the job controls, by name; of a composed job, the one of its name.
  std::vector<WorkloadPtr> owned;
  /// The Workload that has the name of a composed job is of another one.
  bool name_taken = false;
  /// What the matching Workload's admission adds to the pods; empty without a reservation. On an
  /// error (say, a flavor that is gone) the job waits.
  std::vector<PodSetInfo> infos;
  std::optional<Error> infos_error;
  std::string queue_name;  ///< of the job
  /// The queue that takes the job although it names none; empty when there is none.
  std::string default_queue;
  JobPolicy policy;
  TimePoint now{};
  /// The admission checks of its Workload send the job to workers.
  bool dispatched = false;
  /// A worker may still run the job, whatever its status says. Asked for evicted jobs only.
  bool may_run_on_worker = false;
  std::optional<api::PriorityClassRef> priority_class;
  std::int32_t priority = 0;
  TopologyOptions topology;
  /// Why no Workload can be made of the job, e.g. an unknown priority class.
  std::optional<Error> invalid;
  bool without_runtime = false;         ///< `invalid` says why; what the job asks for is not known
  bool missing_workload_class = false;  ///< `invalid` says so
};

struct CreateWorkload {
  api::Workload workload;
};
struct DeleteWorkload {
  WorkloadPtr workload;
};
/// Makes the job the owner of its prebuilt Workload.
struct AdoptWorkload {
  WorkloadPtr workload;
};
/// The spec of a Workload without reservation follows its job.
struct UpdateWorkload {
  WorkloadPtr workload;
  api::WorkloadSpec spec;
  std::string message;  ///< of the event; empty for none
};
struct FinishWorkload {
  WorkloadPtr workload;
  std::string reason;
  std::string message;
};
/// Removes the finalizer of a Workload that its job no longer needs.
struct ReleaseWorkload {
  WorkloadPtr workload;
};
struct SetReclaimable {
  WorkloadPtr workload;
  std::vector<api::ReclaimablePod> pods;
};
/// Drops the reservation of an evicted Workload after its job stopped.
struct DropReservation {
  WorkloadPtr workload;
};
struct StopJob {
  StopStep step;
  std::string message;
};
/// Deletes a job that cannot be held back again; its status says why.
struct TerminateJob {
  std::vector<JobWrite> writes;  ///< of the status
  std::string message;
};
/// Lets a job go that was kept until its Workload knew how it ended.
struct LetJobGo {
  std::vector<JobWrite> writes;
};
/// Of a composed job, some members may be started already.
struct StartJob {
  std::vector<JobWrite> writes;
  std::string message;
};
/// Deletes members of a composed job for which there is no place.
struct DropExcess {
  std::vector<JobPtr> members;
};
/// Makes members of a composed job owners of its Workload.
struct ShareWorkload {
  WorkloadPtr workload;
  std::vector<JobPtr> members;
};
/// Says whether a Workload waits for new members in the places of those that failed.
struct AwaitReplacement {
  WorkloadPtr workload;
  api::Condition condition;
};
/// Deletes the Workload of a group that a serving job no longer has.
struct RetireWorkload {
  WorkloadPtr workload;
};
/// Takes the Workload of a serving job without replicas out of its queue, or, without a message,
/// puts it back.
struct HoldWorkload {
  WorkloadPtr workload;
  std::string message;
};
/// Tells Pods of a serving job their groups.
struct PatchPods {
  std::vector<JobWrite> writes;
};
/// Suspends a job that a managed job made.
struct HoldJob {
  Json patch;
};
/// Gives the job the name of the default queue.
struct QueueJob {
  Json patch;
};
/// Notes at an elastic job which version of its runtime its size is from.
struct NoteSize {
  Json patch;
};
struct DeleteJob {
  std::string message;
};
/// Sets the Workload's gate annotation; empty removes it.
struct GateWorkload {
  WorkloadPtr workload;
  std::string gates;
};
struct SetPodsReady {
  WorkloadPtr workload;
  api::PodsReadiness readiness;
};
/// The plan may change after that time, although no object does.
struct LookAgain {
  Duration after;
};
/// A Normal event of the job; the same message is not repeated.
struct Tell {
  std::string reason;
  std::string message;
};
struct Complain {
  std::string reason;
  std::string message;
};

using JobAction =
    std::variant<CreateWorkload, DeleteWorkload, AdoptWorkload, UpdateWorkload, FinishWorkload,
                 ReleaseWorkload, SetReclaimable, DropReservation, StopJob, TerminateJob, LetJobGo,
                 StartJob, DropExcess, ShareWorkload, AwaitReplacement, RetireWorkload,
                 HoldWorkload, PatchPods, HoldJob, QueueJob, NoteSize, DeleteJob, GateWorkload,
                 SetPodsReady, LookAgain, Tell, Complain>;

/// Decides what the job and its Workload need next. The rules are numbered in plan.cpp. Pure.
std::vector<JobAction> plan_job(const JobView& view);

/// Why the plan leaves a managed job as it is although more is to be done, for the log.
std::optional<std::string> waits_for(const JobView& view, const std::vector<JobAction>& plan);

/// The Workload that the job asks for; nothing is written.
Result<api::Workload> build_workload(const JobView& view);

/// The same for one group of a serving job.
Result<api::Workload> build_group_workload(const JobView& view, const ServingGroup& group);

/// The Workload that matches the job: the prebuilt one, or one that the job owns; or null.
WorkloadPtr matching_workload(const JobView& view);

/// The status at the end of an eviction: no reservation, not admitted, requeued or not.
api::WorkloadStatus drop_reservation(const api::Workload& workload, TimePoint now);

/// The status of a Workload that is held for `message`, or of one that is not held any more.
api::WorkloadStatus held_status(const api::Workload& workload, const std::string& message,
                                TimePoint now);

/// The metadata of a Workload that its job no longer needs: without Regatta's finalizer.
api::ObjectMeta released_metadata(const api::Workload& workload);

/// The metadata of a prebuilt Workload that the job takes for its own.
api::ObjectMeta adopted_metadata(const api::Workload& workload, const GenericJob& job);

/// The metadata of the Workload of a composed job with these members among its owners.
api::ObjectMeta shared_metadata(const api::Workload& workload, const std::vector<JobPtr>& members);

/// The metadata of a Workload with this gate annotation; empty removes it.
api::ObjectMeta gated_metadata(const api::Workload& workload, const std::string& gates);

std::string describe(const std::vector<JobAction>& actions);

}  // namespace regatta::jobs
