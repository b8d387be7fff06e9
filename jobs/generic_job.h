#pragma once

#include "jobs/pod_set_info.h"
#include "jobs/topology_request.h"
#include "lib/api/field_errors.h"
#include "lib/api/resource.h"
#include "lib/api/template_pool.h"
#include "lib/api/workload.h"

#include <nlohmann/json.hpp>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The wall between kinds of jobs and everything that handles jobs.
///
/// The planner of jobs, the reconciler, the dispatcher and `regatta simulate` know these three
/// types and no kind of job. A kind is one folder below jobs/ that implements them, and a line in
/// jobs/integrations/. Kueue calls the same things GenericJob, integration and MultiKueue adapter.
namespace regatta::jobs {

class JobKind;

/// How a job ended.
struct Finished {
  bool success = false;
  std::string message;
};

/// One write on the way to a stopped job. A stop takes several writes where the API does not allow
/// everything at once. The next one is derived from the job as it is, so that a restart in the
/// middle continues where the stop was.
struct StopStep {
  Json patch;           ///< merge patch
  bool status = false;  ///< of the subresource status
  bool last = false;    ///< the job is as it was before it was started
};

/// Which controller runs the pods of a job, for kinds that let users choose it.
struct ManagedBy {
  std::optional<std::string> value;
  /// MultiKueue may put itself there: the field is absent, or names the kind's own controller.
  bool replaceable = false;
};

/// What webhooks check of a job depends on.
struct CheckOptions {
  TopologyOptions topology;
  bool elastic = true;  ///< jobs may grow and shrink while they run
  bool managed = true;  ///< the job has a queue, or needs none
  /// The Workload of a serving job without groups is still there, and is not on hold.
  bool workload_left = false;
  bool fixed_group_size = true;  ///< the groups of a LeaderWorkerSet keep their size
};

class GenericJob;
class ComposedJob;
class ServingJob;
using JobPtr = std::shared_ptr<const GenericJob>;

/// A merge patch of a job, or of one object that a job is made of.
struct JobWrite {
  JobPtr job;
  Json patch;
};

/// Another object that says what the pods of a job are: one that many jobs refer to, such as the
/// runtime of a TrainJob, or one that the job made, such as the cluster of a RayJob.
struct RuntimeRef {
  const api::ResourceInfo* resource = nullptr;
  api::ObjectKey key;
  /// It only says how many pods an elastic job has by now. It need not be there, and says nothing
  /// of jobs that keep their size.
  bool resizes = false;

  /// "trainingruntimes.trainer.kubeflow.org/team/torch".
  std::string str() const;
};

/// What is said of a job whose runtime is of a kind that it cannot have.
std::string unsupported_runtime(std::string_view kind, std::string_view group);

/// One job of any kind, as it was read; it never changes. Every patch holds the uid of the job, so
/// that it applies to no other job of the same name. It holds no resourceVersion, because operators
/// write the status of jobs all the time.
class GenericJob {
 public:
  virtual ~GenericJob() = default;

  virtual const JobKind& kind() const = 0;
  virtual const api::ObjectMeta& metadata() const = 0;
  /// The job as one that is made of several objects (jobs/composed_job.h); null for one object.
  virtual const ComposedJob* composed() const { return nullptr; }
  /// The job as one that acts through groups of Pods (jobs/serving_job.h); null for others.
  virtual const ServingJob* serving() const { return nullptr; }

  // --- What it asks for

  /// The runtime that the job refers to; nullopt for kinds without runtimes. Without its runtime a
  /// job says nothing of its pods, unless that only resizes it. `invalid` when it can have none, or
  /// when its pods cannot be read.
  virtual Result<std::optional<RuntimeRef>> runtime() const { return std::optional<RuntimeRef>(); }
  /// The same job with its runtime; null for kinds without runtimes.
  virtual JobPtr with_runtime(const Json& /*runtime*/) const { return nullptr; }
  /// The pod sets of its Workload: counts, templates as the user wrote them, topology requests.
  /// `invalid` when no Workload can be made of the job.
  virtual Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions& topology) const = 0;
  /// The counts of the same pod sets.
  virtual std::vector<std::int32_t> pod_counts() const = 0;
  /// Names the size of an elastic job: another size has another name. Slices are named after it.
  virtual std::string size_version() const { return std::to_string(metadata().generation); }
  /// The PriorityClass that its pods name, or empty.
  virtual std::string pod_priority_class() const = 0;
  /// Whether the Workload is the one that the job asks for. `running` are the infos that the job
  /// was started with (null when the Workload holds no reservation): a running job is compared in
  /// its running form.
  virtual bool equivalent(const api::Workload& workload,
                          const std::vector<PodSetInfo>* running) const = 0;

  // --- How it is

  /// Selects the pods of the job by their labels, in the form of a query.
  virtual std::string pod_selector() const = 0;
  /// Suspended, and no stop is half done.
  virtual bool suspended() const = 0;
  /// Suspended, and a stop is half done.
  virtual bool stopping() const = 0;
  /// Whether Regatta leaves the job alone, whatever its queue: it runs no pods of its own.
  virtual bool passed_over() const { return false; }
  /// The job waits for its user.
  virtual bool on_hold() const { return false; }
  /// Pods of the job run or terminate, as far as its status says.
  virtual bool active() const = 0;
  /// A node has it: it does not go with its deletion alone. Asked of members of composed jobs.
  virtual bool bound() const { return false; }
  virtual std::optional<Finished> finished() const = 0;
  /// false: only its Workload says that it ended, and finished() never does.
  virtual bool tells_its_end() const { return true; }
  /// Its manager ended it to take its place back: it has not failed by itself.
  virtual bool lost_place() const { return false; }
  virtual bool pods_ready() const = 0;
  /// What of its state could not be read, for its user; empty when everything could. What could not
  /// be read has not happened: the job has not ended, its pods are not ready.
  virtual std::string unread() const { return {}; }
  /// Pods that the job will not need again; empty when there are none or when it is not known.
  virtual std::vector<api::ReclaimablePod> reclaimable_pods() const = 0;

  // --- What is written to it (merge patches)

  /// Starts the job with what its admission adds to the pods of each pod set; `invalid` on a
  /// conflict that no retry can mend.
  virtual Result<Json> start_patch(const std::vector<PodSetInfo>& infos) const = 0;
  /// The next step that stops the job, or nullopt when the job is as it was before it was started.
  /// `workload` (may be null) holds the original templates. They may be restored while pods end if
  /// `at_once` says that the API server lets them.
  virtual std::optional<StopStep> next_stop_step(const api::Workload* workload,
                                                 bool at_once) const = 0;
  /// For jobs that a stop deletes, because they cannot be held back again: what their status says
  /// before that; nullopt when the job does not run or is being deleted.
  virtual std::optional<Json> termination_patch(const std::string& /*reason*/,
                                                const std::string& /*message*/,
                                                TimePoint /*now*/) const {
    return std::nullopt;
  }
  /// Lets a job go that is kept until its Workload knows how it ended; an empty object when nothing
  /// keeps it.
  virtual Json let_go_patch() const { return Json::object(); }
  /// Notes at an elastic job which version of its runtime its size is from; an empty object when
  /// the job has that note, or needs none.
  virtual Json size_patch() const { return Json::object(); }
  /// Puts a job without a queue into one; a job that has not begun is suspended in the same write.
  virtual Json queue_patch(const std::string& queue) const = 0;

  // --- Webhooks

  /// Suspends a new job; an empty object when it is suspended already.
  virtual Json suspend_patch() const = 0;
  /// What holds a new job back, where more than a field of it does.
  virtual Json gated_patch(const TopologyOptions& /*topology*/) const { return suspend_patch(); }
  /// What a managed job gives to the pods that it makes, where these are held back and not the job
  /// itself. `labels` are those of the job, with defaults.
  virtual Json pods_patch(const api::StringMap& /*labels*/) const { return Json::object(); }
  /// What an elastic job gives to the pods that it makes, so that they wait for their part of the
  /// quota, where that cannot wait until it starts.
  virtual Json elastic_patch() const { return Json::object(); }
  /// What made the job wants it held back, whatever its queue is.
  virtual bool held_by_parent() const { return false; }
  /// What a new job gets besides that, whether it is managed or not.
  virtual Json webhook_patch() const { return Json::object(); }
  /// Nothing for kinds without such a field.
  virtual std::optional<ManagedBy> managed_by() const = 0;
  virtual Json managed_by_patch(std::string_view manager) const = 0;
  /// What is refused of a job of this kind, besides what is refused of every job.
  virtual void check(const CheckOptions& options, api::ErrorList* errors) const = 0;
  /// The same for a change of `before`, a job of the same kind.
  virtual void check_update(const GenericJob& before, const CheckOptions& options,
                            api::ErrorList* errors) const = 0;

  // --- MultiKueue

  /// The hub's job is not started while a worker runs it: nothing else would keep it from running.
  virtual bool waits_on_hub() const { return false; }
  /// While it runs elsewhere, nothing tells the hub whether its pods are ready.
  virtual bool untold_on_hub() const { return false; }
  /// Why MultiKueue may not run the job of the hub; empty when it may.
  virtual std::string not_managed_reason() const = 0;
  /// The job for a worker: the hub's job as it was before it was started, suspended, with the
  /// origin label and the name of its prebuilt Workload, without the fields that belong to the hub.
  virtual Json remote_job(const api::Workload& workload, const std::string& origin) const = 0;
  /// What `remote`, the worker's job of the same kind, takes over from the hub's job (this one)
  /// while it is there. An empty object when nothing is left to do.
  virtual Json follow_patch(const GenericJob& /*remote*/) const { return Json::object(); }
  /// The same for an elastic job: what makes `remote` as large as the hub's job. Whether it may be
  /// so large is asked elsewhere (slice_update() in jobs/elastic.h).
  virtual Json resize_patch(const GenericJob& /*remote*/) const { return Json::object(); }
  /// What the status of the hub's job (this one) takes over from `remote`, the worker's job of the
  /// same kind. Empty object when there is nothing to copy or when the copy must wait.
  virtual Json status_patch(const GenericJob& remote) const = 0;
  /// Writes into the status that no pod of the job runs any more; empty object when it says so
  /// already.
  virtual Json release_patch() const = 0;
  /// Ends the job as its Workload ended. It is used when the worker's job is gone before its last
  /// status was seen.
  virtual Json final_patch(bool success, const std::string& message, TimePoint now) const = 0;
};

/// What a webhook looks at when a job changes. Kueue's webhooks differ by kind, and which mistakes
/// of an older job may stay is seen by users.
enum class UpdateChecks {
  whole_first,   ///< all that is checked of a new job, then the change
  change_first,  ///< the change, then all that is checked of a new job
  change_only,
};

/// Which of the checks of every job are made of a kind's.
enum class CommonChecks {
  all,
  queue_and_class,  ///< only of its queue and its class
};

/// A kind of job: how jobs of the kind are found and read.
class JobKind {
 public:
  virtual ~JobKind() = default;

  /// The name under `integrations.frameworks` of the configuration: "batch/job".
  virtual std::string_view framework() const = 0;
  virtual const api::ResourceInfo& resource() const = 0;
  /// The kinds of the runtimes that jobs of this kind refer to.
  virtual std::span<const api::ResourceInfo> runtimes() const { return {}; }
  /// `pool` (may be null) shares what many jobs of one template have in common.
  virtual Result<JobPtr> decode(const Json& object, api::TemplatePool* pool) const = 0;
  /// Selects the objects that are followed, by their labels; empty: all.
  virtual std::string_view selector() const { return {}; }
  /// The kind of the groups that jobs of this kind may form; null for kinds without groups.
  virtual const JobKind* group_kind() const { return nullptr; }
  /// The name of the group that the job belongs to; empty when it stands alone.
  virtual std::string group_of(const GenericJob& /*job*/) const { return {}; }
  /// The job that these make, for kinds of groups: all that have its name, at least one.
  virtual JobPtr compose(const api::ObjectKey& /*key*/, const std::vector<JobPtr>& /*all*/) const {
    return nullptr;
  }
  /// For kinds of Pods that are planned with the job that made them (jobs/serving_job.h): the kind
  /// of that job; null for kinds that are planned for themselves.
  virtual const JobKind* parent_kind() const { return nullptr; }
  /// The name of that job; empty for a Pod of another job.
  virtual std::string parent_of(const GenericJob& /*pod*/) const { return {}; }
  /// Whether jobs of the kind make Workloads for groups of their Pods (jobs/serving_job.h).
  virtual bool serves() const { return false; }
  /// Whether the Pods of jobs of the kind are held back, and not the jobs.
  virtual bool acts_through_pods() const { return serves(); }
  /// Whether objects of the kind are followed. Of others, only webhooks see something.
  virtual bool followed() const { return true; }
  /// Whether a change of a job gets defaults, too.
  virtual bool defaults_updates() const { return false; }
  virtual CommonChecks common_checks() const { return CommonChecks::all; }
  /// Whether a job of the kind may grow and shrink while it runs, by workload slices.
  virtual bool may_be_elastic() const { return false; }
  /// Whether a job of the kind may name a Workload that exists already.
  virtual bool may_be_prebuilt() const { return true; }
  /// Whether MultiKueue runs jobs of the kind on workers.
  virtual bool dispatched() const { return true; }
  /// Whether only managed jobs of the kind get the default WorkloadPriorityClass.
  virtual bool classes_managed_only() const { return false; }
  /// Whether webhooks check only jobs that are managed: those with a queue, or all.
  virtual bool checks_managed_only() const { return false; }
  virtual UpdateChecks update_checks() const { return UpdateChecks::whole_first; }
};

/// The kinds of jobs that a process handles, in a fixed order. Cheap to copy.
class JobKinds {
 public:
  JobKinds() = default;
  explicit JobKinds(std::vector<std::shared_ptr<const JobKind>> kinds) : kinds_(std::move(kinds)) {}

  const std::vector<std::shared_ptr<const JobKind>>& all() const { return kinds_; }
  /// By group and kind, whatever the version; null when there is no such kind. Kinds that are
  /// planned with another one are not found.
  const JobKind* find(std::string_view group, std::string_view kind) const;
  /// Those of them that run on workers.
  JobKinds dispatched() const;
  /// The kind of an owner; null when the owner is no job.
  const JobKind* find(const api::OwnerReference& owner) const;

 private:
  std::vector<std::shared_ptr<const JobKind>> kinds_;
};

/// Identifies a job by kind, namespace and name. Ordered by group and kind, then by key.
struct JobId {
  const JobKind* kind = nullptr;
  api::ObjectKey key;

  /// "Job team/train".
  std::string str() const;
  friend bool operator==(const JobId&, const JobId&) = default;
  friend std::strong_ordering operator<=>(const JobId& a, const JobId& b);
};
inline JobId id_of(const GenericJob& job) {
  return {&job.kind(), job.metadata().key()};
}
/// What is planned for the job: its group, or the job itself.
JobId planned_as(const GenericJob& job);

using WorkloadPtr = std::shared_ptr<const api::Workload>;

}  // namespace regatta::jobs
