#pragma once

#include "jobs/lookup.h"
#include "jobs/plan.h"
#include "lib/api/labels.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::jobs {

/// Which jobs are managed, and how, as the configuration says.
struct JobConfig {
  bool manage_without_queue_name = false;
  /// managedJobsNamespaceSelector; jobs in other namespaces are never touched.
  api::Selector namespaces;
  TopologyOptions topology;
  /// Jobs without a queue name go to the LocalQueue `default` of their namespace, where it exists.
  bool default_queue = true;
  /// Jobs without a class have the WorkloadPriorityClass `default`, where it exists.
  bool default_priority_class = true;
  JobPolicy policy;
};

/// The WorkloadPriorityClass of a job that names no class.
inline constexpr std::string_view default_priority_class = "default";

/// Everything that plan_job() needs to know about one job. Pure.
JobView read_job(const Lookup& objects, JobPtr job, const JobConfig& config, TimePoint now);

/// The job with its runtime, if its kind has such; `not_found` when the runtime is not there,
/// `invalid` when the job can have none. One that only resizes jobs counts for `elastic` ones.
Result<JobPtr> with_runtime(const Lookup& objects, const JobPtr& job, bool elastic = false);

/// The nearest managed job among the owners of this one, their owners and so on; null when there is
/// none. `invalid` when they lead in a circle or to a job that is not there.
Result<JobPtr> managed_maker(const Lookup& objects, const GenericJob& job, const JobConfig& config);

/// How many levels of jobs made by jobs are searched for a managed one.
inline constexpr int nesting_max = 10;

/// The first among the owners of this job, their owners and so on, of which that life is not there,
/// although every object of its kind is followed: a cache may be behind. nullopt when there is
/// none.
std::optional<JobId> unseen_maker(const Lookup& objects, const GenericJob& job);

/// The prebuilt Workload that a job names, by annotation or label; empty for none.
std::string prebuilt_workload(const api::ObjectMeta& metadata);

/// The names of the Workloads of the hub that a worker's copy of a job may run for: the one that it
/// names, or those of all groups of a serving job that has several.
std::vector<std::string> workloads_of_copy(const GenericJob& copy);
/// A copy with more groups is taken for one with so many.
inline constexpr std::size_t copied_groups_max = 1024;

/// Which of the groups of its job the Workload is for; nullopt when jobs of its kind have one.
std::optional<std::int32_t> group_index_of(const api::Workload& workload);

/// The composed job to which the Workload belongs by its name; nullopt for Workloads of single
/// objects.
std::optional<JobId> group_of(const JobKinds& kinds, const api::Workload& workload);

/// The serving job that made the Workload for one of its groups; nullopt for other Workloads.
std::optional<JobId> parent_of(const JobKinds& kinds, const api::Workload& workload);

/// The job itself, not one that had its name earlier, is the owner that controls the Workload.
bool is_controlled_by(const api::Workload& workload, const GenericJob& job);

/// Whether the Workload has lost its job for good. `namesake` is the job that has the name of the
/// owner, or null. What belongs to a group may exist before the members, on a worker.
bool left_by_owner(const api::Workload& workload, const GenericJob* namesake);

/// The job that owns the Workload: of a group of Pods that a serving job made, that job. Null when
/// it is unknown, when its kind is not handled, or when another job has the name by now.
JobPtr owner_of(const Lookup& objects, const api::Workload& workload);

}  // namespace regatta::jobs
