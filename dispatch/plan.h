#pragma once

#include "dispatch/certainty.h"
#include "lib/base/clock.h"
#include "placement/nominate.h"
#include "placement/rank.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

/// One workload across the fleet: what is known about it, what is done next, and why.
///
///            copies created              a copy is Admitted
///   Pending ───────────────► racing ───────────────────────► won(clusterName) ──► Finished
///      ▲                        │ quota lost, rejected            │ worker evicts, worker lost,
///      └────────────────────────┴──── every copy removed ◄────────┘ copy gone: check = Retry
///
/// Three rules make dispatch safe:
///   - status.clusterName is the start lock. It is written before the Job is created, so at most
///     one cluster is ever allowed to hold the Job, whatever crashes.
///   - Once it is set only that cluster's copy counts. The copy of any other cluster, also of one
///     that was lost and comes back, is a loser and is removed.
///   - No Job is created while another connected cluster is seen to hold one.
/// And one makes it safe against caches that are old: certainty before destruction (certainty.h).
namespace regatta::dispatch {

enum class CheckState { none, pending, ready, retry, rejected };

/// Requests of one kind that fail: since when they all have, and how the last one did.
struct Failing {
  TimePoint since;
  std::string why;
};

/// The Workload on the hub, and the Job that owns it.
struct LocalView {
  bool deleted = false;  ///< gone, or being deleted
  bool quota_reserved = false;
  bool finished = false;
  /// Finished because its Job ended: since when.
  std::optional<TimePoint> ended_at;
  /// Finished because a larger slice of the elastic job took over from it.
  bool replaced = false;
  /// A larger slice of an elastic job that has the place of the slice before it, whose size the Job
  /// there keeps until the worker has admitted this one.
  bool takes_over = false;
  /// A larger slice is to replace this one, and has quota, but not the same place; or this one is
  /// of no use (`jobs::is_stray()`). A Job that is sent for this one would be removed at once.
  bool superseded = false;
  /// A larger slice replaces this one, whatever its state.
  bool has_successor = false;
  /// One of them has quota and the same place: the job there goes from the former size to that one.
  bool overtaken = false;
  /// Where the slice has its place that this larger one replaces; empty when that has none, or is
  /// over, and when this one has a place itself.
  std::string place_of_replaced;
  bool admitted = false;  ///< Admitted is True, whatever checks were added since
  /// Until when an admitted one with a maximum execution time may run, as the hub counts.
  std::optional<TimePoint> may_run_until;
  /// The hub's Job has ended, so this Workload is about to be Finished.
  bool job_over = false;
  bool evicted = false;  ///< Evicted is True
  std::string evicted_message;
  TimePoint evicted_at{};
  CheckState check = CheckState::none;  ///< of the MultiKueue admission check, if there is one
  TimePoint check_since{};              ///< when its state changed last
  std::int32_t retries = 0;             ///< how many times in a row it became Retry
  bool other_checks_ready = true;
  TimePoint other_checks_since{};  ///< when the state of one of them changed last
  bool placed = false;             ///< a check names a Placement: that chooses the workers
  /// That the check of MultiKueue names; nullopt: that of the configuration.
  std::optional<placement::Dispatcher> dispatcher;
  std::string cluster_name;            ///< status.clusterName
  std::vector<std::string> nominated;  ///< status.nominatedClusterNames, in order
  TimePoint quota_reserved_at{};
  /// When a worker first answered a request of this process to take a copy in this attempt, even if
  /// it refused. Unknown after a restart.
  std::optional<TimePoint> racing_since;
  /// Of the worker with the first copy (head_start.h); nullopt: that of the configuration.
  std::optional<Duration> head_start;
  /// Since when this process leads: what it knows of lost workers may be from before.
  std::optional<TimePoint> leading_since;
  /// Some worker was not heard of since then. Whatever it holds is not in the picture.
  bool unheard = false;
  std::string uid;         ///< breaks ties between clusters, differently for each workload
  TimePoint created_at{};  ///< by the clock of the hub's API server, in whole seconds

  /// Empty when the owner is of a kind that can be dispatched and is managed by MultiKueue.
  /// Otherwise the message of the rejected check.
  std::string rejection;
  /// A cluster is recorded, and jobs of the owner's kind are no longer dispatched: the message of
  /// what would else be rejected. Nothing is known of the job, here or there. `rejection` is empty.
  std::string kind_dropped;
  /// The job asks to run on the hub, and MultiKueue does not run it. `rejection` is empty then.
  bool runs_on_hub = false;
  /// A job with several Workloads runs on one cluster. Where those that go before this one are;
  /// empty while that is not known. nullopt: this one races, and the others follow it.
  std::optional<std::string> follows;
  bool job_missing = false;     ///< the owner is not (or not yet) known
  bool config_missing = false;  ///< the check's MultiKueueConfig is not (or not yet) known
  Certainty certainty = Certainty::certain;  ///< of the Workload, also when it is `deleted`
  /// MultiKueue runs the owner, and its status still counts running pods.
  bool job_active = false;
  /// The hub's Job is there and its status does not say how it ended.
  bool job_unended = false;
  std::optional<Failing> status_refused;  ///< as its worker tells it, by the API of the hub

  /// Of an evicted Workload: the cluster that ran it, if that is remembered.
  std::optional<std::string> evicted_from;
  /// Of one that still has quota: no cluster can have run it, because none was recorded for it.
  bool never_ran = false;
  /// It has no quota, and never had any: whatever its Job's status says is not of this Workload.
  bool never_reserved = false;

  /// Workers that refused the job a short time ago, and until when they are passed over.
  std::vector<std::string> refused_by;
  TimePoint refused_until{};
  std::string told;  ///< the reason of the condition Dispatched; empty when there is none
};

/// Whether a Workload with that reason of its condition Finished is so because its Job ended, which
/// has a last status then.
inline bool ended_by_job(std::string_view finished_reason) {
  return finished_reason == "Succeeded" || finished_reason == "Failed";
}

struct Finish {
  std::string reason;
  std::string message;
  TimePoint at{};
};

enum class Drift {
  none,
  /// Only priority or priorityClassRef differ; or of an elastic job the counts, since it has
  /// shrunk, or which slice this one replaces. They may be copied over.
  updatable,
  other,
};

/// A Workload of ours on a worker.
struct RemoteCopy {
  std::optional<TimePoint> admitted_at;  ///< when Admitted became True, by the worker's clock
  std::optional<Finish> finished;
  bool evicted = false;
  /// When it was evicted because the Job ran for as long as it may, by the worker's clock.
  std::optional<TimePoint> out_of_time;
  bool deactivating = false;  ///< DeactivationTarget is set, or spec.active is false
  /// Since when it asks its manager in vain to deactivate it, by our clock.
  std::optional<TimePoint> stop_asked_at;
  /// The worker tried the copy and has no room for it: QuotaReserved is False.
  bool waiting = false;
  /// The copy has our preemption gate. While that is closed: since when the worker says that it
  /// would have to preempt. Once it is open: since when, by our clock.
  std::optional<TimePoint> blocked_since;
  std::optional<TimePoint> gate_open_since;
  /// The worker was asked to open it, and its answer is not known.
  bool gate_opening = false;
  Drift drift = Drift::none;
  /// It, or the Job beside it, was made for another Workload or Job of the same name.
  bool of_another_life = false;
  /// It does not bear the UID of the hub's Workload, which only a worker knows that was given it.
  bool unmarked = false;
  bool deleting = false;
  /// The worker was asked to delete it, or may have been by an earlier process, and may still do
  /// so, however late: it cannot win any more.
  bool removal_begun = false;
  bool has_finalizers = false;
};

enum class RemoteJob {
  absent,
  ours,
  foreign,  ///< a job of that name without our origin label, or one that is another name's
};

struct ClusterView {
  /// Reads and writes work, and the fields below are complete.
  bool connected = false;
  /// Whether the MultiKueueConfig lists the cluster. A cluster that is no longer listed is only
  /// cleaned up.
  bool listed = true;
  /// Whether the API of the cluster serves the kind of the job. Where it does not, no copy is made.
  bool kind_served = true;
  /// Since when the cluster is not connected.
  std::optional<TimePoint> lost_since;
  /// No list of what the cluster has was ever read: it may have anything.
  bool unknown = false;
  std::optional<RemoteCopy> copy;
  RemoteJob job = RemoteJob::absent;
  bool job_deleting = false;
  /// The worker has removed the Job, and its watch does not say so yet. When that has lasted for so
  /// long, the worker is asked again, because the watch may have fallen silent.
  Duration job_removed_for{0};
  bool job_ended = false;  ///< the remote Job's own status says so
  /// It never does: what the status means is not known. Only the copy says that the Job ended.
  bool job_tells_no_end = false;
  bool job_active = false;  ///< the remote Job's status counts running pods
  /// The remote Job was started and then stopped, and has no running pods left. A Job that is shown
  /// as it was created may have been started since.
  bool job_stopped = false;
  /// None of its pods runs or will: it was stopped, or is shown as it was created (parts.h).
  bool job_rests = false;
  /// The worker was asked for the Job, and this is the version that it has.
  bool job_read = false;
  /// The same as `job_stopped`, and pods are left.
  bool job_stopping = false;
  /// The Job bears no mark of a hub. So another manager of this hub has sent it, as Kueue's, which
  /// sends the Job before it records the cluster.
  bool job_unmarked = false;
  /// The remote Job's status has something that the hub's Job lacks and may be given now.
  bool job_news = false;
  /// The Job runs there for other Workloads, too, so it stays when this one leaves.
  bool job_shared = false;
  /// It had first copies, and nothing came of them: others get these for now (head_start.h).
  bool passed_over = false;
  /// Another request to it would wait.
  bool busy = false;
  /// The Job of an elastic job runs there under another slice than this Workload.
  bool job_under_other_slice = false;
  /// The same, and a later slice has replaced that one on the hub.
  bool job_left_behind = false;
  /// The Job of an elastic job still runs under this slice and is to be given to a later one, or
  /// the worker's manager may not know yet that it was. Also when that Job is not seen yet.
  bool job_handing_over = false;
  /// The worker has replaced the slice under which the Job runs, and the one that replaced it has
  /// no quota there, or not yet. And how long that has been seen.
  bool job_without_quota = false;
  Duration job_without_quota_for{0};
  /// When the worker evicted that slice because the Job ran for as long as it may.
  std::optional<TimePoint> job_out_of_time;
  /// The hub's Job was changed in a way that this one is to follow, such as its scale.
  bool job_behind = false;
  /// Of a Job that is made of several objects: some are still to be created.
  bool job_incomplete = false;
  /// The same, and some are to go before their Workload; see parts_to_remove().
  bool job_strays = false;
  /// Of the copy and of the Job, the worse of the two.
  Certainty certainty = Certainty::certain;
  std::optional<TimePoint> unreadable_since;  ///< if it is that
  /// The hub has lost the Workload, or the record that its Job runs here; and so much else of what
  /// runs here that nothing is removed for that reason (brake.h).
  bool removals_held = false;
  std::optional<TimePoint> job_deleting_since;  ///< by the worker's clock
  std::optional<TimePoint> job_removal_asked;   ///< since when the hub asks for its deletion
  std::optional<Failing> reading;               ///< what the cache lacks
  std::optional<Failing> copying;               ///< the creation of the copy
  std::optional<Failing> creating_job;
  std::optional<Failing> stopping;  ///< of an evicted workload: the request to stop its job
  /// Why the worker refuses to create the Job, now and for ever; empty when it does not.
  std::string job_refused;
};

/// What is known besides for a dispatcher that compares workers (ranking.h).
struct Comparison {
  placement::WorkloadFacts workload;
  /// Why an annotation of the workload or of its check cannot be read: nothing is nominated then.
  std::string unreadable;
  std::shared_ptr<const placement::Expressions> expressions;  ///< of its check; null: none
  /// In the order in which they were asked for.
  std::vector<placement::WorkerFacts> workers;
};

/// What a fleet knows of the workers of a MultiKueueConfig that lists more of them than the API
/// lets one name. Workloads share it, because a look at a thousand workers for each plan of each
/// workload takes too long.
struct Roster {
  std::unordered_set<std::string> listed;
  /// Those that are connected and serve the kind of the job, in the order of the config.
  std::vector<std::string> able;
};

struct GroupView {
  LocalView local;
  /// All that the config lists, unless there is a roster; and any other that may hold something of
  /// the workload.
  std::map<std::string, ClusterView> clusters;
  /// MultiKueueConfig spec.clusters; empty with a roster, and for a workload that does not wait for
  /// one of so many workers.
  std::vector<std::string> config_order;
  /// Some of its able workers may be asked, and `clusters` has only those that are to be nominated
  /// or may hold something. Null: it has all.
  std::shared_ptr<const Roster> roster;
  /// Of the able workers those that have a job of that name which is not this hub's.
  std::vector<std::string> with_foreign_job;
  /// Null for a workload whose dispatcher does not compare workers, and when nothing is known.
  std::shared_ptr<const Comparison> comparison;
  /// The nominations stay as they are. The comparison has only the workers that are nominated.
  std::optional<placement::Unchanged> unchanged;
};

/// Since when a worker is to stop the Job of an evicted workload and has not begun, so that no
/// manager may run there, or does not take the request; nullopt: it has, or need not.
std::optional<TimePoint> stop_unanswered_since(const GroupView& group, const ClusterView& cluster);

/// The first cluster where removals are held; null without one.
const std::string* where_held(const GroupView& group);
/// A cluster that shows a copy; null without one.
const std::string* any_copy(const GroupView& group);

struct PlanConfig {
  placement::NominationConfig nomination;
  /// The grace of a worker that is lost. A worker that was lost before this process began to lead
  /// has at least a third of it from then on, because it may be back by now.
  Duration worker_lost_timeout = std::chrono::minutes(15);
  /// How long one worker has the only copy, if it is not known to need longer; it is a different
  /// worker for each workload. Most workers that have room say so within milliseconds, and then no
  /// other has to admit the copy and forget it. The head start ends at once when its worker has no
  /// room. 0: all workers get copies at the same moment.
  Duration head_start{0};
  /// Copies have a closed preemption gate, so that only one worker at a time preempts for a
  /// workload. The first worker that needs to preempt may, and after `between_gates` the next one.
  bool preemption_gates = false;
  Duration between_gates = std::chrono::minutes(5);
  /// A workload that no worker admits for so long is rejected, as is one that loses its worker so
  /// many times in a row. 0: never.
  Duration give_up_after{0};
  std::int32_t attempts_max = 0;
  /// How long something that should not last has lasted before the condition Dispatched tells it.
  Duration tell_after = std::chrono::minutes(1);
  /// How long a new leader waits for the workers that it has not heard of, before it starts a job
  /// that is older than its leadership, and which one of them may run; and before it takes a job of
  /// an evicted workload for one that runs nowhere.
  Duration hear_within = std::chrono::seconds(10);
};

/// Deletes the Job (only with our origin label), then the Workload.
struct RemoveRemote {
  std::string cluster;
  /// The cluster holds a Job: some later actions wait until this one has succeeded, see
  /// waits_for(). Without a Job a failure is only a reason to look again, so that a slow loser does
  /// not hold up the winner.
  bool holds_job = false;
  /// The copy is of this attempt and good for nothing: the next one waits a little, each time
  /// longer.
  bool useless = false;
};
struct CreateCopy {
  std::string cluster;
};
/// Copies priority and priorityClassRef to the remote Workload, and the pod sets of an elastic job.
struct UpdateCopy {
  std::string cluster;
};
/// Lets that worker preempt for its copy.
struct OpenGate {
  std::string cluster;
};
struct SetNominated {
  std::vector<std::string> clusters;
  std::string not_elsewhere = {};  ///< why others are not nominated, of a dispatcher that compares
};
/// Sets status.clusterName and the check to Ready and clears the nominations, in one write.
struct RecordWinner {
  std::string cluster;
  std::string message;
  std::string not_elsewhere = {};  ///< as of SetNominated
};
/// Sets status.clusterName of a larger slice and clears the nominations; the check stays.
struct TakePlace {
  std::string cluster;
};
/// Sets the check to Ready without a cluster, and clears the nominations, in one write.
struct RunOnHub {};
struct SetCheck {
  CheckState state;  ///< retry or rejected
  std::string message;
  bool warning = false;  ///< the event's type
  /// The previous state is appended as a separate sentence, not after a comma.
  bool own_sentence = false;
  /// How long the workload stays out of the queue.
  std::chrono::seconds pause{0};
  /// The worker that is passed over for a while, because it refuses the job.
  std::string refused_by = {};
  std::string refusal = {};
};
/// Deletes the objects of the Job on the worker which the hub's Job no longer has, once the hub's
/// API server has said so.
struct RemoveStrays {
  std::string cluster;
};
/// Creates the Job on the winner, with the prebuilt Workload's name, or what the worker lacks of
/// it.
struct CreateJob {
  std::string cluster;
};
/// Changes the Job on the worker as the hub's was changed.
struct UpdateJob {
  std::string cluster;
};
/// Copies the remote Job's status to the hub's Job.
struct CopyJobStatus {
  std::string cluster;
  bool final = false;
};
/// Marks the hub's Job as having no running pods, when no worker is left that could report it.
struct ReleaseJob {};
/// Gives the hub's Job the end that its Workload has, when no worker is left that could report it.
struct EndJob {};
/// Asks the worker to stop the Job in an orderly way: DeactivationTarget on the remote Workload.
struct DeactivateRemote {
  std::string cluster;
  std::string message;
};
struct FinishLocal {
  std::string reason;
  std::string message;
  std::string cluster = {};  ///< where the copy finished
};
/// Reads the Workload from the hub's API server, or, of a cluster, the copy and the Job that the
/// cache lacks. Then the workload is planned anew.
struct Confirm {
  std::string cluster;    ///< empty: the hub
  bool job_anew = false;  ///< the Job, although the cache has it: its watch may have fallen silent
};
/// Sets the condition Dispatched. Other actions set it too, in the write that they make anyway;
/// this one is for what would not be told otherwise.
struct TellState {
  std::string reason;
  std::string message;
};

using Action =
    std::variant<RemoveRemote, CreateCopy, UpdateCopy, OpenGate, SetNominated, RecordWinner,
                 TakePlace, RunOnHub, SetCheck, CreateJob, UpdateJob, RemoveStrays, CopyJobStatus,
                 ReleaseJob, EndJob, DeactivateRemote, FinishLocal, Confirm, TellState>;

/// The actions are in order: each runs only after those before it succeeded, but requests to
/// workers only hold up what depends on them, see waits_for(). Removals and copies that follow each
/// other touch different clusters and may run together. After any failure the workload is planned
/// anew.
struct Plan {
  std::vector<Action> actions;
  std::optional<Duration> look_again;
};

/// Decides what one workload needs next. Pure: no clock, no I/O, no logging. The rules are numbered
/// in plan.cpp; the first rule that applies decides. Source: KEP-693, with the differences listed
/// in docs/differences.md.
Plan plan(const GroupView& group, TimePoint now, const PlanConfig& config);

/// When a lost worker is no longer waited for. What it lost before it had the workload does not
/// count, and a new leader waits for a third of the time at least.
TimePoint given_up_at(const GroupView& group, const ClusterView& cluster, TimePoint now,
                      const PlanConfig& config);

/// What that worker runs may be what an evicted Workload holds its quota for. A worker that was
/// never chosen holds none with a Job that it keeps.
bool may_be_evicted_from(const LocalView& local, const std::string& cluster);

/// Whether a worker may still run the Job of an evicted workload, whatever the hub's Job says. That
/// learns of running pods from the worker's Job, whose watch may be silent without a sign. The copy
/// tells as well: it is Admitted until its Job has stopped. The hub keeps the quota until one of
/// the two says that nothing runs, until the Job is removed, or until a lost worker is given up. A
/// Job that the cache lacks counts, too, until the worker was asked for it; and any worker that a
/// new leader has not heard of, for a short time.
bool may_still_run(const GroupView& group, TimePoint now, const PlanConfig& config);

/// "create a, nominate [a b], check Retry (Admitting remote lost), look again in 900s": for logs,
/// histories and tests.
std::string describe(const Plan& plan);

}  // namespace regatta::dispatch
