#pragma once

#include "lib/api/resource.h"
#include "lib/base/json.h"
#include "tests/sim/scenario.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

/// The kinds of jobs that worlds have: what users write, and what the status of a job says to an
/// observer. As objects.h it shares nothing with what it tests.
namespace regatta::simtest {

struct KindOfJob {
  api::ResourceInfo resource;
  std::string shelf;      ///< of the resource, as stores name it
  std::string framework;  ///< as the configuration of a manager names it
  Json::json_pointer suspend{"/spec/suspend"};
  Json::json_pointer managed_by{"/spec/managedBy"};
  std::vector<Json::json_pointer>
      sizes;  ///< counts of pods; those that a job lacks are passed over
  /// What says that a job is complete or has failed: conditions, or the values of `ends_in`.
  std::string complete = "Complete", failed = "Failed", ends_in;
  Json (*spec)(const JobSpec& job);  ///< without what the other members are about
};

/// batch/v1 Job first.
const std::vector<KindOfJob>& kinds_of_jobs();
/// That of a Job for other objects.
const KindOfJob& kind_of(const Json& object);
const KindOfJob& kind_named(const std::string& kind);
bool is_shelf_of_jobs(const std::string& resource);

/// What a user of a hub submits.
Json job_of(const JobSpec& spec);
/// "JobSet job-1": the same name may be given to jobs of several kinds.
std::string title_of(const Json& job);
std::string title_of(const JobSpec& spec);

/// Complete or Failed, or empty.
std::string outcome_of(const Json& job);
bool suspended(const Json& job);
/// Its status counts running pods, or says that there are some.
bool has_pods(const Json& job);
/// The counts of pods, or Jobs, that succeeded or failed, by their place in the status.
std::map<std::string, std::int64_t> counts_of(const Json& job);
/// The selectors of nodes of its pods, in the order of its text.
std::vector<Json> node_selectors(const Json& job);
/// How many templates of pods it has.
std::size_t templates_of(const Json& job);

/// The CustomResourceDefinitions of those that are no Jobs, and of what they refer to.
std::vector<Json> definitions_of_kinds();
/// What jobs of these kinds refer to.
std::vector<Json> runtimes_of_kinds();

}  // namespace regatta::simtest
