#include "jobs/replicated_jobs.h"

#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

bool any_has(const Json& jobs, const char* what) {
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](const Json& one) { return count_at(one, what, 0) > 0; });
}

}  // namespace

std::int32_t ReplicatedJob::count() const {
  const std::int64_t all = std::int64_t(replicas) * pods;
  return static_cast<std::int32_t>(std::min<std::int64_t>(all, INT32_MAX));
}

PodNumbering numbering_of(const ReplicatedJob& job) {
  PodNumbering numbering;
  numbering.pod_index_label = std::string(api::labels::job_completion_index);
  numbering.sub_group_index_label = "jobset.sigs.k8s.io/job-index";
  numbering.sub_group_count = job.replicas;
  return numbering;
}

ReplicatedJobs::ReplicatedJobs(Json object, api::ObjectMeta metadata, const JobShape& shape,
                               std::vector<PodSlot> slots, std::vector<ReplicatedJob> replicated,
                               const StatusFields& fields)
    : TemplatedJob(std::move(object), std::move(metadata), shape, std::move(slots)),
      replicated_(std::move(replicated)),
      fields_(fields) {}

const Json& ReplicatedJobs::jobs() const {
  return list_or_empty(status(), fields_.jobs);
}

const char* ReplicatedJobs::ended_type(bool success) const {
  return success ? fields_.complete : "Failed";
}

bool ReplicatedJobs::active() const {
  return any_has(jobs(), "active");
}

std::optional<Finished> ReplicatedJobs::finished() const {
  for (const bool success : {true, false}) {
    const Json* found = condition_in(status(), ended_type(success));
    if (found && text_at(*found, "status") == "True") {
      return Finished{success, text_at(*found, "message")};
    }
  }
  return std::nullopt;
}

bool ReplicatedJobs::pods_ready() const {
  std::int64_t wanted = 0, ready = 0;
  for (const ReplicatedJob& one : replicated_) wanted += one.replicas;
  for (const Json& one : jobs()) {
    ready += std::int64_t(count_at(one, "ready", 0)) + count_at(one, "succeeded", 0);
  }
  return !replicated_.empty() && ready == wanted;
}

std::vector<api::ReclaimablePod> ReplicatedJobs::reclaimable_pods() const {
  std::vector<api::ReclaimablePod> out;
  for (const ReplicatedJob& of : replicated_) {
    for (const Json& one : jobs()) {
      if (lower_case(text_at(one, "name")) != of.name) continue;
      const std::int32_t ended = count_at(one, "succeeded", 0);
      if (ended > 0 && ended <= of.replicas) out.push_back({of.name, ended * of.pods});
    }
  }
  return out;
}

Json ReplicatedJobs::released() const {
  Json after = status();
  const auto list = after.find(fields_.jobs);
  if (list == after.end() || !list->is_array()) return after;
  for (Json& one : *list) {
    if (!one.is_object()) continue;
    for (const char* name : {"active", "ready"}) one[name] = 0;
  }
  return after;
}

Json ReplicatedJobs::release_patch() const {
  const bool holds = active() || any_has(jobs(), "ready");
  return holds ? status_becomes(released()) : Json::object();
}

Json ReplicatedJobs::final_patch(bool success, const std::string& message, TimePoint now) const {
  if (finished()) return Json::object();
  Json after = released();
  const char* type = ended_type(success);
  put_condition(&after, Json{{"type", type},
                             {"status", "True"},
                             {"reason", "MultiKueueAdapter"},
                             {"message", message},
                             {"lastTransitionTime", format_rfc3339(now)}});
  if (fields_.terminal_state) after[fields_.terminal_state] = type;
  return status_becomes(after);
}

}  // namespace regatta::jobs
