#include "lab/kinds/raced_kind.h"

#include "lib/base/joined.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::lab {
namespace {

constexpr const char* group_label = "kueue.x-k8s.io/pod-group-name";

Json spec_of_job(const Json& pod_template) {
  return {{"parallelism", 1}, {"completions", 1}, {"template", pod_template}};
}

Json spec_of_jobset(const Json& pod_template) {
  const Json job = {{"template", {{"spec", spec_of_job(pod_template)}}}};
  Json role = job;
  role.update({{"name", "node"}, {"replicas", 1}});
  return {{"replicatedJobs", Json::array({role})}};
}

Json spec_of_pytorchjob(const Json& pod_template) {
  const Json master = {{"replicas", 1}, {"restartPolicy", "Never"}, {"template", pod_template}};
  return {{"pytorchReplicaSpecs", {{"Master", master}}}};
}

Json spec_of_rayjob(const Json& pod_template) {
  const Json head = {{"rayStartParams", Json::object()}, {"template", pod_template}};
  return {{"entrypoint", "python train.py"},
          {"shutdownAfterJobFinishes", true},
          {"submissionMode", "HTTPMode"},
          {"rayClusterSpec", {{"rayVersion", "2.52.0"}, {"headGroupSpec", head}}}};
}

Json spec_of_appwrapper(const Json& pod_template) {
  Json wrapped = {{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  wrapped["metadata"]["name"] = "part";
  wrapped["spec"] = spec_of_job(pod_template);
  const Json sets = Json::array({{{"replicas", 1}, {"path", "template.spec.template"}}});
  const Json component = {{"template", wrapped}, {"podSets", sets}};
  return {{"components", Json::array({component})}};
}

/// As the webhook of Pods lets them in.
std::vector<Json> group_of_pods(const Json& metadata, const Json& pod_template, int size) {
  const std::string name = text_at(metadata, "name");
  std::vector<Json> pods;
  for (int i = 0; i < size; ++i) {
    Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}};
    pod["metadata"]["name"] = name + "-" + std::to_string(i);
    pod["metadata"]["labels"][group_label] = name;
    pod["metadata"]["labels"]["kueue.x-k8s.io/managed"] = "true";
    pod["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"] = std::to_string(size);
    pod["metadata"]["finalizers"] = Json::array({"kueue.x-k8s.io/managed"});
    pod["spec"] = at_or_null(pod_template, "spec");
    pod["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/admission"}}});
    pods.push_back(std::move(pod));
  }
  return pods;
}

/// Whether its status says so.
bool says(const RacedKind& kind, const Json& job, std::string_view outcome) {
  const Json& status = at_or_null(job, "status");
  if (!kind.ends_in.empty()) return text_at(status, std::string(kind.ends_in)) == outcome;
  const Json& conditions = list_or_empty(status, "conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const Json& one) {
    return text_at(one, "type") == outcome && text_at(one, "status") == "True";
  });
}

const std::vector<RacedKind>& table() {
  static const std::vector<RacedKind> all = {
      {.name = "job",
       .framework = "batch/job",
       .resource = {"batch", "v1", "Job", "jobs"},
       .spec = spec_of_job,
       .started = "startTime"},
      {.name = "jobset",
       .framework = "jobset.x-k8s.io/jobset",
       .resource = {"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"},
       .spec = spec_of_jobset,
       .complete = "Completed"},
      {.name = "pytorchjob",
       .framework = "kubeflow.org/pytorchjob",
       .resource = {"kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"},
       .settings = Json::json_pointer("/spec/runPolicy"),
       .spec = spec_of_pytorchjob,
       .complete = "Succeeded"},
      {.name = "rayjob",
       .framework = "ray.io/rayjob",
       .resource = {"ray.io", "v1", "RayJob", "rayjobs"},
       .spec = spec_of_rayjob,
       .ends_in = "jobDeploymentStatus"},
      {.name = "appwrapper",
       .framework = "workload.codeflare.dev/appwrapper",
       .resource = {"workload.codeflare.dev", "v1beta2", "AppWrapper", "appwrappers"},
       .spec = spec_of_appwrapper,
       .complete = "Succeeded",
       .ends_in = "phase"},
      {.name = "pod-group",
       .framework = "pod",
       .resource = {"", "v1", "Pod", "pods"},
       .spec = nullptr,
       .complete = "Succeeded",
       .ends_in = "phase",
       .group = true}};
  return all;
}

}  // namespace

std::vector<Json> RacedKind::make(Json metadata, const Json& pod_template, int size) const {
  if (group) return group_of_pods(metadata, pod_template, size);
  Json job = {{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
  job["metadata"] = std::move(metadata);
  job["spec"] = spec(pod_template);
  job[settings]["suspend"] = true;
  job[settings]["managedBy"] = "kueue.x-k8s.io/multikueue";
  return {std::move(job)};
}

std::string RacedKind::job_of(const Json& object) const {
  if (group) return text_at(object, {"metadata", "labels", group_label});
  return text_at(object, {"metadata", "name"});
}

bool RacedKind::is_complete(const Json& job) const {
  return says(*this, job, complete);
}

bool RacedKind::has_failed(const Json& job) const {
  return says(*this, job, "Failed");
}

bool RacedKind::is_started(const Json& job) const {
  if (group) return is_complete(job) || has_failed(job) || says(*this, job, "Running");
  const Json::json_pointer suspend = settings / "suspend";
  if (job.contains(suspend) && job.at(suspend) == Json(true)) return false;
  return started.empty() || at_or_null(job, "status").contains(started);
}

Json RacedKind::definition() const {
  if (resource.group.find('.') == std::string_view::npos) return nullptr;
  const std::string plural(resource.plural), group(resource.group);
  const Json anything = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  const Json schema = {{"type", "object"},
                       {"properties", {{"spec", anything}, {"status", anything}}}};
  const Json version = {{"name", resource.version},
                        {"served", true},
                        {"storage", true},
                        {"subresources", {{"status", Json::object()}}},
                        {"schema", {{"openAPIV3Schema", schema}}}};
  Json crd = {{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"}};
  crd["metadata"]["name"] = plural + "." + group;
  // Such groups are the Kubernetes project's own.
  if (group.ends_with(".k8s.io")) {
    crd["metadata"]["annotations"]["api-approved.kubernetes.io"] = "unapproved";
  }
  const std::string kind(resource.kind);
  crd["spec"] = {{"group", group},
                 {"scope", "Namespaced"},
                 {"names", {{"kind", kind}, {"listKind", kind + "List"}, {"plural", plural}}},
                 {"versions", Json::array({version})}};
  return crd;
}

std::vector<std::string> raced_kind_names() {
  std::vector<std::string> names;
  for (const RacedKind& kind : table()) names.emplace_back(kind.name);
  return names;
}

Result<const RacedKind*> raced_kind(std::string_view name) {
  for (const RacedKind& kind : table()) {
    if (kind.name == name) return &kind;
  }
  return Error(Errc::invalid, "there is no kind \"" + std::string(name) + "\" to race; there are " +
                                  joined(raced_kind_names(), ", "));
}

Result<std::vector<const RacedKind*>> raced_kinds(const std::vector<std::string>& names) {
  if (names.empty()) return Error(Errc::invalid, "no kind of job to race is named");
  std::vector<const RacedKind*> found;
  for (const std::string& name : names) {
    const auto kind = raced_kind(name);
    if (!kind) return kind.error();
    if (std::find(found.begin(), found.end(), *kind) == found.end()) found.push_back(*kind);
  }
  return found;
}

const RacedKind& plain_jobs() {
  return table().front();
}

}  // namespace regatta::lab
