#include "lab/cluster/pod_bodies.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace regatta::lab {

namespace {

constexpr const char* index_key = "batch.kubernetes.io/job-completion-index";
constexpr std::size_t name_base_max = 50;

Json job_owner(const api::Job& job) {
  Json owner = Json::object();
  owner["apiVersion"] = "batch/v1";
  owner["kind"] = "Job";
  owner["name"] = job.metadata.name;
  owner["uid"] = job.metadata.uid;
  owner["controller"] = true;
  owner["blockOwnerDeletion"] = true;
  return owner;
}

Json condition(const char* type, bool value, const char* reason, TimePoint now) {
  Json out = Json::object();
  out["type"] = type;
  out["status"] = value ? "True" : "False";
  out["lastTransitionTime"] = format_rfc3339(now);
  if (*reason != 0) out["reason"] = reason;
  return out;
}

Json conditions(bool ready, const char* reason, TimePoint now) {
  Json out = Json::array();
  out.push_back(condition("PodScheduled", true, "", now));
  out.push_back(condition("Initialized", true, "", now));
  out.push_back(condition("ContainersReady", ready, reason, now));
  out.push_back(condition("Ready", ready, reason, now));
  return out;
}

Json container_statuses(const api::PodSpec& spec, const Json& state, bool ready) {
  Json out = Json::array();
  for (const api::Container& container : spec.containers) {
    Json one = Json::object();
    one["name"] = container.name;
    one["image"] = "sandbox";
    one["imageID"] = "sandbox";
    one["ready"] = ready;
    one["started"] = ready;
    one["restartCount"] = 0;
    one["lastState"] = Json::object();
    one["state"] = state;
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<std::int32_t> index_of(const api::Pod& pod) {
  const std::string& text = pod.metadata.annotation(index_key);
  std::int32_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return index;
}

}  // namespace

std::string pod_body(const api::Job& job, std::optional<std::int32_t> index,
                     const std::string& suffix, const std::string& node, TimePoint now) {
  Json pod = job.spec.pod_template.json();
  if (!pod.is_object()) pod = Json::object();
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  Json& meta = pod["metadata"];
  if (!meta.is_object()) meta = Json::object();
  std::string name = job.metadata.name.substr(0, name_base_max);
  if (index) name += "-" + std::to_string(*index);
  meta["name"] = name + "-" + suffix;
  meta["namespace"] = job.metadata.ns;
  meta["ownerReferences"] = Json::array();
  meta["ownerReferences"].push_back(job_owner(job));
  const bool gated = !job.spec.pod_template.spec().scheduling_gates.empty();
  if (!gated) meta["annotations"][std::string(started_at)] = format_rfc3339_micro(now);
  if (index) {
    meta["labels"][index_key] = std::to_string(*index);
    meta["annotations"][index_key] = std::to_string(*index);
    pod["spec"]["hostname"] = name;
  }
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  return dump_json(pod);
}

std::string running_status(const api::PodSpec& spec, TimePoint now) {
  Json state = Json::object();
  state["running"]["startedAt"] = format_rfc3339(now);
  Json patch = Json::object();
  Json& status = patch["status"];
  status["phase"] = "Running";
  status["startTime"] = format_rfc3339(now);
  status["conditions"] = conditions(true, "", now);
  status["containerStatuses"] = container_statuses(spec, state, true);
  return dump_json(patch);
}

std::string ended_status(const api::PodSpec& spec, bool succeeded, TimePoint started,
                         TimePoint now) {
  Json state = Json::object();
  Json& ended = state["terminated"];
  ended["exitCode"] = succeeded ? 0 : 1;
  ended["reason"] = succeeded ? "Completed" : "Error";
  ended["startedAt"] = format_rfc3339(started);
  ended["finishedAt"] = format_rfc3339(now);
  Json patch = Json::object();
  Json& status = patch["status"];
  status["phase"] = succeeded ? "Succeeded" : "Failed";
  status["conditions"] = conditions(false, succeeded ? "PodCompleted" : "PodFailed", now);
  status["containerStatuses"] = container_statuses(spec, state, false);
  return dump_json(patch);
}

PodView view_of(const api::Pod& pod) {
  PodView view;
  view.name = pod.metadata.name;
  view.index = index_of(pod);
  const std::string& phase = pod.status.phase;
  if (phase == "Running") view.phase = PodView::Phase::running;
  if (phase == "Succeeded") view.phase = PodView::Phase::succeeded;
  if (phase == "Failed") view.phase = PodView::Phase::failed;
  const auto exact = parse_rfc3339(pod.metadata.annotation(std::string(started_at)));
  view.started = exact ? std::optional<TimePoint>(*exact) : pod.status.start_time;
  if (pod.metadata.deletion_timestamp) {
    const std::int64_t grace = pod.metadata.deletion_grace_period_seconds.value_or(0);
    view.end_request = *pod.metadata.deletion_timestamp - std::chrono::seconds(grace);
  }
  return view;
}

}  // namespace regatta::lab
