#pragma once

#include "jobs/pod_parent.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::jobs {

/// One group of Pods of a serving job. Its Workload has the name of the group.
struct ServingGroup {
  std::string name;
  std::optional<std::int32_t> index;  ///< of jobs that may have several
};

/// A Pod of a serving job, and the job that made it: the same one, or one that the same one made.
/// `maker` is null when it is not followed.
struct ServedPod {
  JobPtr pod;
  JobPtr maker;
  WorkloadPtr workload = nullptr;  ///< of the group of the Pod; null while there is none
  bool runs_elsewhere = false;     ///< MultiKueue sent the job to a worker, where its Pods run
};

/// How Workloads are named.
struct ServingNames {
  bool brief = false;      ///< see workload_name()
  bool in_labels = false;  ///< Pods name their Workload in labels, not in annotations
};

/// A job that runs for as long as its user wants, such as a StatefulSet. Its Pods are held back and
/// started as groups (jobs/composed_job.h). The job itself makes the Workload of each group before
/// there are Pods, and tells each Pod its group.
class ServingJob : public PodParent {
 public:
  const ServingJob* serving() const final { return this; }

  /// The groups that there are to be, or the first of them; `invalid` when the job cannot have as
  /// many as it asks for.
  virtual Result<std::vector<ServingGroup>> groups(const ServingNames& names,
                                                   std::size_t most = SIZE_MAX) const = 0;
  /// A hub made the Workloads of the groups.
  bool made_on_hub() const;
  /// Whether its priority is followed while it has Workloads.
  virtual bool follows_priority() const { return false; }
  /// Why Workloads of a job without replicas are kept but not admitted; empty for jobs whose
  /// Workloads go with their groups.
  virtual std::string hold_message() const { return {}; }
  /// The name of the group of a Pod; empty while the Pod does not say which one.
  virtual std::string group_of(const GenericJob& pod, const ServingNames& names) const = 0;
  /// What ties a Pod to its group, or lets it run: an empty object when nothing is left to do.
  virtual Json pod_patch(const ServedPod& pod, const ServingNames& names) const = 0;
  /// Whether a Pod that this job made is of a template that is being replaced. Such a Pod takes
  /// the place of one that was admitted, for as long as its group is.
  virtual bool is_outdated(const GenericJob&) const { return false; }

  Json remote_job(const api::Workload& workload, const std::string& origin) const override;

 protected:
  using PodParent::PodParent;

  /// By which the Workloads of the job are named: on a worker, that of the hub's job.
  const std::string& naming_uid() const;
  /// `index` is of jobs that may have several groups.
  std::string group_name(const ServingNames& names, const std::string& index = {}) const;
};

/// Whether the Workload is the job's, though the job does not control it.
bool serves(const api::Workload& workload, const GenericJob& job);

/// What a Pod of a serving job is told: the group, the number of its Pods, and the role of the Pod.
struct PodTie {
  std::string group;
  std::int32_t total = 0;
  std::string role;
  api::StringMap labels;
  api::StringMap annotations;
};
/// Ties the Pod; an empty object when it is tied already.
Json tie_patch(const GenericJob& pod, const PodTie& tie, const ServingNames& names);
/// Lets the Pod run with the admission of its group, whatever its own template asks for; an empty
/// object while the group has none, when no gate of Kueue holds the Pod, or when it runs elsewhere.
Json ungate_patch(const ServedPod& pod);

/// A kind of serving jobs.
template <class Job>
class ServingKind : public PodParentKind<Job> {
 public:
  using PodParentKind<Job>::PodParentKind;
  bool serves() const override { return true; }
};

/// The Pods that may be of serving jobs of a kind.
struct ServedPods {
  std::shared_ptr<const JobKind> parent;
  std::string_view selector;
  std::string (*parent_of)(const api::ObjectMeta& pod) = nullptr;
};
/// What the serving job has to know of its Pods. All else of them is in jobs/pod/.
std::shared_ptr<const JobKind> served_pod_kind(ServedPods pods);

}  // namespace regatta::jobs
