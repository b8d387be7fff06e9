#include "jobs/batch/batch_job.h"

#include "jobs/elastic.h"
#include "jobs/remote_object.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/base/merge_patch.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace regatta::jobs::batch_job {
namespace {

using api::annotations::job_completions_equal_parallelism;
using api::annotations::job_min_parallelism;

const std::string main_pod_set(api::default_pod_set_name);

/// Labels that the Job controller writes into the template. They name this Job on this cluster.
constexpr std::string_view controller_labels[] = {api::labels::legacy_job_name,
                                                  api::labels::legacy_controller_uid,
                                                  api::labels::job_controller_uid};

std::int32_t parallelism(const api::Job& job) {
  return job.spec.parallelism.value_or(1);
}

bool indexed(const api::Job& job) {
  return job.spec.completion_mode == "Indexed";
}

bool completions_equal(const api::Job& job) {
  return job.metadata.annotation(std::string(job_completions_equal_parallelism)) == "true";
}

bool stopping_marked(const api::Job& job) {
  return job.metadata.annotation(std::string(api::annotations::stopping)) == "true";
}

void strip_controller_labels(Json& pod_template) {
  const auto metadata = pod_template.find("metadata");
  if (metadata == pod_template.end() || !metadata->is_object()) return;
  const auto labels = metadata->find("labels");
  if (labels == metadata->end() || !labels->is_object()) return;
  for (const std::string_view label : controller_labels) labels->erase(std::string(label));
}

/// Number of indexes in "1,3-5" that are below `limit`. Indexes go up; what is below zero, or said
/// twice, does not count, since any client that may write the status can say anything.
std::int32_t count_indexes(const std::string& text, std::int32_t limit) {
  std::int32_t count = 0, next = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::int32_t first = 0, last = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) break;
    last = first;
    if (read.ptr < end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc()) break;
    }
    const std::int32_t begin = std::max(first, next);
    const std::int32_t bound = std::min(last, limit - 1);
    if (bound >= begin) {
      count += bound - begin + 1;
      next = bound + 1;
    }
    at = read.ptr < end ? read.ptr + 1 : end;
  }
  return count;
}

Json status_json(const api::Job& job) {
  api::Job lean;  // converts the status and nothing else
  lean.status = job.status;
  Json object = api::to_json(lean);
  const auto status = object.find("status");
  return status == object.end() ? Json::object() : std::move(*status);
}

Json condition(const char* type, const char* reason, const std::string& message, TimePoint now) {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", message},
          {"lastProbeTime", format_rfc3339(now)},
          {"lastTransitionTime", format_rfc3339(now)}};
}

/// The template without what the Job controller put into it.
Result<api::PodTemplate> plain_template(const api::PodTemplate& given) {
  // A text without labels stays as it is and need not be parsed.
  const bool has_labels = given.raw().text().find("\"labels\"") != std::string::npos;
  if (!has_labels && !given.raw().empty()) return given;
  Json pod_template = given.json();
  strip_controller_labels(pod_template);
  return api::PodTemplate::from(pod_template, "spec.template");
}

/// The least number of pods with which the Job may begin, if it names one.
Result<std::optional<std::int32_t>> least_pods(const api::Job& job) {
  const std::string& text = job.metadata.annotation(std::string(job_min_parallelism));
  std::int32_t least = 0;
  if (text.empty()) return std::optional<std::int32_t>();
  const auto read = std::from_chars(text.data(), text.data() + text.size(), least);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (whole && least > 0 && least < parallelism(job)) return std::optional(least);
  return Error(Errc::invalid, "metadata.annotations[" + std::string(job_min_parallelism) +
                                  "]: must be a number above 0 and below parallelism, got \"" +
                                  text + "\"");
}

}  // namespace

std::int32_t pod_count(const api::Job& job) {
  return std::min(parallelism(job), job.spec.completions.value_or(parallelism(job)));
}

Result<std::vector<api::PodSet>> pod_sets(const api::Job& job, const TopologyOptions& topology) {
  Result<api::PodTemplate> pods = plain_template(job.spec.pod_template);
  if (!pods) return pods.error();
  auto least = least_pods(job);
  if (!least) return least.error();
  api::PodSet set;
  set.name = main_pod_set;
  set.count = pod_count(job);
  set.pod_template = std::move(*pods);
  set.min_count = *least;
  const std::string path = "spec.template.metadata";
  const api::StringMap& annotations = job.spec.pod_template.view().annotations;
  if (auto wrong = check_topology(path, annotations, set.count, topology); !wrong.empty()) {
    return Error(Errc::invalid, api::to_text(wrong));
  }
  PodNumbering numbering;
  numbering.pod_index_label = std::string(api::labels::job_completion_index);
  auto request = topology_request(annotations, numbering, topology);
  if (!request) return request.error();
  set.topology_request = std::move(*request);
  std::vector<api::PodSet> sets;
  sets.push_back(std::move(set));
  auto wrong = check_topology_groups(sets, {{main_pod_set, path + ".annotations"}});
  if (!wrong.empty()) return Error(Errc::invalid, api::to_text(wrong));
  return sets;
}

bool suspended(const api::Job& job) {
  return job.spec.suspend.value_or(false) && !stopping_marked(job);
}

bool stopping(const api::Job& job) {
  return job.spec.suspend.value_or(false) && stopping_marked(job);
}

bool active(const api::Job& job) {
  return job.status.active > 0 || job.status.terminating.value_or(0) > 0;
}

std::optional<Finished> finished(const api::Job& job) {
  for (const api::StatusCondition& condition : job.status.conditions) {
    if (condition.status != api::ConditionStatus::True) continue;
    if (condition.type == api::conditions::job_complete) {
      return Finished{true, condition.message};
    }
    if (condition.type == api::conditions::job_failed) return Finished{false, condition.message};
  }
  return std::nullopt;
}

bool pods_ready(const api::Job& job) {
  std::int64_t ready = std::int64_t(job.status.succeeded) + job.status.ready.value_or(0);
  if (job.status.uncounted_terminated_pods) {
    ready += std::int64_t(job.status.uncounted_terminated_pods->succeeded.size());
  }
  return ready >= pod_count(job);
}

std::vector<api::ReclaimablePod> reclaimable_pods(const api::Job& job) {
  const std::int32_t pods = pod_count(job);
  if (pods <= 1) return {};
  // Once a pod of a Job without completions has succeeded, no pod takes its place.
  const std::int32_t completions = job.spec.completions.value_or(parallelism(job));
  std::int64_t ended = job.status.succeeded;
  if (indexed(job)) {
    ended = std::int64_t(count_indexes(job.status.completed_indexes, completions)) +
            count_indexes(job.status.failed_indexes.value_or(""), completions);
  }
  const std::int64_t remaining = std::max<std::int64_t>(0, completions - ended);
  if (remaining >= pods) return {};
  return {{main_pod_set, pods - static_cast<std::int32_t>(remaining)}};
}

bool equivalent(const api::Job& job, const api::Workload& workload,
                const std::vector<PodSetInfo>* running) {
  if (workload.spec.pod_sets.size() != 1) return false;
  const api::PodSet& theirs = workload.spec.pod_sets.front();
  const bool started = running && !suspended(job) && running->size() == 1;
  const std::int32_t expected = started ? running->front().count : theirs.count;
  const std::int32_t count = pod_count(job);
  if (count != expected && count != theirs.count) return false;
  // A Job that started with fewer pods has no room below them any more.
  const Result<std::optional<std::int32_t>> least =
      started ? Result<std::optional<std::int32_t>>(theirs.min_count) : least_pods(job);
  if (!least || *least != theirs.min_count) return false;
  // Tolerations that the start added come from the admission; the job does not ask for them.
  // The Job controller's labels, which the workload lacks, are no part of the comparison.
  return same_pods(job.spec.pod_template.json(), theirs.pod_template.json(), !started);
}

Result<Json> start_patch(const api::Job& job, const PodSetInfo& info) {
  const Json before = job.spec.pod_template.json();
  Result<Json> after = with_info(before, info);
  if (!after) return after.error();
  Json spec = {{"suspend", false}};
  const Json change = merge_patch_between(before, *after);
  if (!change.empty()) spec["template"] = change;
  const bool partial = !job.metadata.annotation(std::string(job_min_parallelism)).empty();
  if (partial && info.count > 0 && info.count < parallelism(job)) {
    spec["parallelism"] = info.count;
    if (completions_equal(job)) {
      spec["completions"] = info.count;
    }
  }
  return Json{{"metadata", {{"uid", job.metadata.uid}}}, {"spec", std::move(spec)}};
}

Json queue_patch(const api::Job& job, const std::string& queue) {
  Json patch = {
      {"metadata",
       {{"uid", job.metadata.uid}, {"labels", {{std::string(api::labels::queue_name), queue}}}}}};
  if (!job.spec.suspend.value_or(false) && !job.status.start_time) {
    patch["spec"] = {{"suspend", true}};
  }
  return patch;
}

std::optional<StopStep> next_stop_step(const api::Job& job, const api::Workload* workload,
                                       bool at_once) {
  Json metadata = {{"uid", job.metadata.uid}};
  Json restore = Json::object();
  if (workload && workload->spec.pod_sets.size() == 1) {
    const api::PodSet& set = workload->spec.pod_sets.front();
    const Json running = job.spec.pod_template.json();
    Json original = set.pod_template.json();
    // The Job controller's own labels stay: the Workload's template does not have them.
    const Json labels = running.value(Json::json_pointer("/metadata/labels"), Json::object());
    for (const std::string_view label : controller_labels) {
      const auto found = labels.find(label);
      if (found != labels.end()) original["metadata"]["labels"][found.key()] = *found;
    }
    const Json change = merge_patch_between(running, restored(running, original));
    if (!change.empty()) restore["template"] = change;
    if (set.min_count && parallelism(job) != set.count) {
      restore["parallelism"] = set.count;
      if (completions_equal(job)) restore["completions"] = set.count;
    }
  }
  if (!job.spec.suspend.value_or(false)) {
    StopStep step;
    step.last = restore.empty() && !job.status.start_time;
    if (!step.last) metadata["annotations"] = {{std::string(api::annotations::stopping), "true"}};
    step.patch = {{"metadata", std::move(metadata)}, {"spec", {{"suspend", true}}}};
    return step;
  }
  if (!stopping_marked(job)) return std::nullopt;
  // The API changes nothing of a Job that has ended meanwhile.
  const bool over = finished(job).has_value();
  if (over) restore = Json::object();
  if (job.status.start_time && !over) {
    return StopStep{
        {{"metadata", std::move(metadata)}, {"status", {{"startTime", nullptr}}}}, true, false};
  }
  // The API refuses a change of the template while pods count as active.
  if (!restore.empty() && job.status.active > 0 && !at_once) return std::nullopt;
  metadata["annotations"] = {{std::string(api::annotations::stopping), nullptr}};
  StopStep step;
  step.last = true;
  step.patch = {{"metadata", std::move(metadata)}};
  if (!restore.empty()) step.patch["spec"] = std::move(restore);
  return step;
}

std::string not_managed_reason(const api::Job& job) {
  const std::string by = job.spec.managed_by.value_or("");
  if (by == api::multikueue_controller_name) return "";
  return "Expecting spec.managedBy to be \"" + std::string(api::multikueue_controller_name) +
         "\" not \"" + by + "\"";
}

Json remote_job(const api::Job& job, const api::Workload& workload, const std::string& origin) {
  const Json whole = api::to_json(job);
  Json spec = whole.value("spec", Json::object());
  for (const char* field : {"managedBy", "ttlSecondsAfterFinished"}) spec.erase(field);
  if (!job.spec.manual_selector.value_or(false)) spec.erase("selector");
  spec["suspend"] = true;
  Json pod_template = spec.value("template", Json::object());
  if (workload.spec.pod_sets.size() == 1) {
    const api::PodSet& set = workload.spec.pod_sets.front();
    pod_template = restored(std::move(pod_template), set.pod_template.json());
    // Of an elastic Job that has grown since, the next slice brings the rest.
    const bool grown = is_slice(workload) && pod_count(job) > set.count;
    if (set.min_count || grown) spec["parallelism"] = set.count;
  }
  strip_controller_labels(pod_template);
  spec["template"] = std::move(pod_template);
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", remote_metadata(job.metadata, workload, origin)},
          {"spec", std::move(spec)}};
}

Json resize_patch(const api::Job& local, const api::Job& remote) {
  Json spec = Json::object();
  if (parallelism(local) != parallelism(remote)) spec["parallelism"] = parallelism(local);
  // The API lets the completions of an Indexed Job change together with its parallelism.
  const auto completions = local.spec.completions;
  if (indexed(local) && completions && completions != remote.spec.completions) {
    spec["completions"] = *completions;
  }
  return spec.empty() ? spec : Json{{"spec", std::move(spec)}};
}

Json status_patch(const api::Job& local, const api::Job& remote) {
  const bool local_suspended = local.spec.suspend.value_or(false);
  const bool remote_suspended = remote.spec.suspend.value_or(false);
  if (local_suspended && !remote_suspended && !finished(remote)) return Json::object();
  if (local.status == remote.status) return Json::object();
  const Json before = status_json(local);
  Json after = status_json(remote);
  // A second attempt counts from zero again, but the API does not let a counter decrease.
  for (const char* counter : {"succeeded", "failed"}) {
    const int least = before.value(counter, 0);
    if (least > after.value(counter, 0)) after[counter] = least;
  }
  // Nor may the start time move while the Job is not suspended.
  if (!local_suspended && before.contains("startTime")) {
    after["startTime"] = before["startTime"];
    // A worker that was restored may show the end of an earlier run, which the API would refuse.
    const auto& end = remote.status.completion_time;
    if (end && *end < *local.status.start_time) after["completionTime"] = before["startTime"];
  }
  const Json change = merge_patch_between(before, after);
  if (change.empty()) return change;
  return status_patch_of(local.metadata, change);
}

Json release_patch(const api::Job& local) {
  if (!active(local) && local.status.ready.value_or(0) == 0) return Json::object();
  return status_patch_of(local.metadata, {{"active", nullptr}, {"ready", 0}, {"terminating", 0}});
}

Json final_patch(const api::Job& local, bool success, const std::string& message, TimePoint now) {
  if (finished(local)) return Json::object();
  const Json before = status_json(local);
  Json after = before;
  Json conditions = before.value("conditions", Json::array());
  if (success) {
    conditions.push_back(condition("SuccessCriteriaMet", "CompletionsReached", message, now));
    conditions.push_back(condition("Complete", "CompletionsReached", message, now));
    after["completionTime"] = format_rfc3339(now);
    after["succeeded"] =
        std::max(local.status.succeeded, local.spec.completions.value_or(local.status.succeeded));
  } else {
    conditions.push_back(condition("FailureTarget", "MultiKueueAdapter", message, now));
    conditions.push_back(condition("Failed", "MultiKueueAdapter", message, now));
  }
  after["conditions"] = std::move(conditions);
  if (!local.status.start_time) after["startTime"] = format_rfc3339(now);
  after.erase("active");
  after["ready"] = 0;
  after["terminating"] = 0;
  after["uncountedTerminatedPods"] = Json::object();
  return status_patch_of(local.metadata, merge_patch_between(before, after));
}

}  // namespace regatta::jobs::batch_job
