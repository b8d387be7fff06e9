#pragma once

#include "jobs/generic_job.h"
#include "lib/api/pods_ready.h"
#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a job and its Workload need next.
///
///   job created ─► Workload created ─► admitted ─► job started ─► job finished ─► Workload
///   Finished
///                         ▲                             │
///                         └── reservation dropped ◄── job stopped ◄── Workload evicted
///
/// The quota of an evicted Workload is only given back once its job reports no running pods, so
/// that whoever gets it next finds room, and a checkpoint within the grace period is not lost.
namespace regatta::jobs {

/// What the configuration says about jobs.
struct JobPolicy {
  bool wait_for_pods_ready = false;
  /// Pods that are ready are told so long after the admission, not before: a shorter job ends
  /// without that write. Zero where others wait for it.
  Duration pods_ready_after{1000};
  /// How long a job that was deactivated, but not by its user, is kept; none: for ever.
  std::optional<Duration> retain_deactivated;
  bool admission_gates = true;
  bool reclaimable_pods = true;             ///< what a job does not need again is given back
  bool brief_names = false;                 ///< of Workloads; see workload_name()
  bool elastic = true;                      ///< jobs may grow and shrink while they run
  std::vector<std::string> labels_to_copy;  ///< from the job to its Workload
};

struct JobView {
  JobPtr job;  ///< never null
  /// Whether Regatta manages it: it has a queue name (or everything is managed) and its namespace
  /// takes part.
  bool managed = false;
  /// A prebuilt Workload is named, which exists (not null) or not yet.
  bool prebuilt = false;
  WorkloadPtr prebuilt_workload;
  /// Workloads whose controller it is, by name.
  std::vector<WorkloadPtr> owned;
  /// What the matching Workload's admission adds to the pods; empty without a reservation. An
  /// error (say, a flavor that is gone) means: wait.
  std::vector<PodSetInfo> infos;
  std::optional<Error> infos_error;
  std::string queue_name;  ///< of the job
  /// The queue that takes it although it names none; empty: no.
  std::string default_queue;
  JobPolicy policy;
  TimePoint now{};
  std::optional<api::PriorityClassRef> priority_class;
  std::int32_t priority = 0;
  TopologyOptions topology;
  /// Why no Workload can be made of it, e.g. an unknown priority class.
  std::optional<Error> invalid;
  bool missing_workload_class = false;  ///< that is why
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
/// Spec of a Workload without reservation follows its suspended job.
struct UpdateWorkload {
  WorkloadPtr workload;
  api::WorkloadSpec spec;
  std::string message;
};
struct FinishWorkload {
  WorkloadPtr workload;
  std::string reason;
  std::string message;
};
/// The job is gone or done with it: it may go.
struct ReleaseWorkload {
  WorkloadPtr workload;
};
struct SetReclaimable {
  WorkloadPtr workload;
  std::vector<api::ReclaimablePod> pods;
};
/// Drops the reservation of an evicted Workload whose job stopped.
struct DropReservation {
  WorkloadPtr workload;
};
struct StopJob {
  StopStep step;
  std::string message;
};
struct StartJob {
  Json patch;
  std::string message;
};
/// Gives the job the name of the default queue.
struct QueueJob {
  Json patch;
};
struct DeleteJob {
  std::string message;
};
/// The Workload's gate annotation; empty takes it away.
struct GateWorkload {
  WorkloadPtr workload;
  std::string gates;
};
struct SetPodsReady {
  WorkloadPtr workload;
  api::PodsReadiness readiness;
};
/// Time alone changes something.
struct LookAgain {
  Duration after;
};
/// A Normal event of the job, once for each message.
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
                 ReleaseWorkload, SetReclaimable, DropReservation, StopJob, StartJob, QueueJob,
                 DeleteJob, GateWorkload, SetPodsReady, LookAgain, Tell, Complain>;

/// Decides; the rules are numbered in plan.cpp. Pure.
std::vector<JobAction> plan_job(const JobView& view);

/// The Workload a job asks for, unsaved.
Result<api::Workload> build_workload(const JobView& view);

/// The owned Workload that matches the job, or null; and whether it is the prebuilt one.
WorkloadPtr matching_workload(const JobView& view);

/// Applies an eviction's end to a Workload: no reservation, not admitted, requeued or not.
void drop_reservation(api::Workload* workload, TimePoint now);

std::string describe(const std::vector<JobAction>& actions);

}  // namespace regatta::jobs
