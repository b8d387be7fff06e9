#include "lab/cluster/operated_kinds.h"

#include "lib/base/json_access.h"

#include <algorithm>
#include <string>

namespace regatta::lab {
namespace {

using Phase = OperatedPhase;

/// Sets a condition. The transition time changes with the status; one that is false and absent
/// stays absent.
void say(Json* status, std::string_view type, bool value, TimePoint now) {
  Json& all = (*status)["conditions"];
  if (!all.is_array()) all = Json::array();
  const char* wanted = value ? "True" : "False";
  for (Json& one : all) {
    if (text_at(one, "type") != type) continue;
    if (text_at(one, "status") == wanted) return;
    one["status"] = wanted;
    one["lastTransitionTime"] = format_rfc3339(now);
    return;
  }
  if (!value) return;
  all.push_back({{"type", type},
                 {"status", wanted},
                 {"reason", type},
                 {"message", "the simulated operator says so"},
                 {"lastTransitionTime", format_rfc3339(now)}});
}

std::int64_t when(bool there, std::int64_t count) {
  return there ? count : 0;
}

/// The counts of the Jobs that a JobSet or TrainJob consists of.
Json counts_of(const std::string& name, std::int64_t replicas, Phase phase) {
  const std::int64_t running = when(phase == Phase::running, replicas);
  return {{"name", name},
          {"ready", running},
          {"active", running},
          {"succeeded", when(phase == Phase::succeeded, replicas)},
          {"failed", when(phase == Phase::failed, replicas)},
          {"suspended", when(phase == Phase::suspended, replicas)}};
}

void jobset_details(const Json& job, Phase phase, TimePoint, Json* status) {
  Json& counts = (*status)["replicatedJobsStatus"] = Json::array();
  for (const Json& one : list_or_empty(object_or_empty(job, {"spec"}), "replicatedJobs")) {
    counts.push_back(
        counts_of(text_at(one, "name"), integer_at(one, "replicas").value_or(1), phase));
  }
  (*status)["restarts"] = 0;
  if (phase == Phase::succeeded) (*status)["terminalState"] = "Completed";
  if (phase == Phase::failed) (*status)["terminalState"] = "Failed";
}

/// Which nodes the runtime of a TrainJob has is not known here: all are of one Job.
void trainjob_details(const Json&, Phase phase, TimePoint, Json* status) {
  (*status)["jobsStatus"] = Json::array({counts_of("node", 1, phase)});
}

void trainer_details(const Json& job, Phase phase, TimePoint now, Json* status) {
  Json& counts = (*status)["replicaStatuses"] = Json::object();
  for (const auto& [holder, roles] : object_or_empty(job, {"spec"}).items()) {
    if (!holder.ends_with("ReplicaSpecs")) continue;
    for (const auto& [role, spec] : roles.items()) {
      const std::int64_t replicas = integer_at(spec, "replicas").value_or(1);
      Json& count = counts[role] = Json::object();
      if (phase == Phase::running) count["active"] = replicas;
      if (phase == Phase::succeeded) count["succeeded"] = replicas;
      if (phase == Phase::failed) count["failed"] = replicas;
    }
  }
  if (phase == Phase::suspended) status->erase("startTime");
  if (phase == Phase::running && !status->contains("startTime")) {
    (*status)["startTime"] = format_rfc3339(now);
  }
  const bool over = phase == Phase::succeeded || phase == Phase::failed;
  if (over) (*status)["completionTime"] = format_rfc3339(now);
}

void rayjob_details(const Json& job, Phase phase, TimePoint now, Json* status) {
  const std::string& name = text_at(object_or_empty(job, {"metadata"}), "name");
  const std::string time = format_rfc3339(now);
  switch (phase) {
    case Phase::suspended:
      for (const char* field : {"jobStatus", "rayClusterName", "rayClusterStatus", "startTime"}) {
        status->erase(field);
      }
      break;
    case Phase::running:
      (*status)["jobStatus"] = "RUNNING";
      (*status)["rayClusterName"] = name + "-cluster";
      (*status)["rayClusterStatus"] = {{"state", "ready"}};
      if (!status->contains("startTime")) (*status)["startTime"] = time;
      break;
    case Phase::succeeded:
    case Phase::failed:
      (*status)["jobStatus"] = phase == Phase::succeeded ? "SUCCEEDED" : "FAILED";
      (*status)[phase == Phase::succeeded ? "succeeded" : "failed"] = 1;
      (*status)["endTime"] = time;
      (*status)["message"] = "the simulated operator says so";
  }
}

void appwrapper_details(const Json&, Phase phase, TimePoint now, Json* status) {
  for (const char* type : {"QuotaReserved", "ResourcesDeployed", "PodsReady"}) {
    say(status, type, phase == Phase::running, now);
  }
}

void pod_details(const Json&, Phase phase, TimePoint now, Json* status) {
  for (const char* type : {"PodScheduled", "Initialized"}) say(status, type, true, now);
  for (const char* type : {"ContainersReady", "Ready"}) {
    say(status, type, phase == Phase::running, now);
  }
  if (!status->contains("startTime")) (*status)["startTime"] = format_rfc3339(now);
}

OperatedKind trainer(const char* version, const char* kind, const char* plural,
                     const char* controller) {
  return {{"kubeflow.org", version, kind, plural},
          Json::json_pointer("/spec/runPolicy/suspend"),
          Json::json_pointer("/spec/runPolicy/managedBy"),
          controller,
          {"Suspended", "Running", "Succeeded", "Failed"},
          "",
          false,
          trainer_details};
}

OperatedKind plain(api::ResourceInfo resource, const char* controller,
                   std::array<std::string_view, 4> words, const char* phase_field,
                   void (*details)(const Json&, Phase, TimePoint, Json*)) {
  return {resource,
          Json::json_pointer("/spec/suspend"),
          Json::json_pointer("/spec/managedBy"),
          controller,
          words,
          phase_field,
          false,
          details};
}

std::string text_of(const Json& job, const Json::json_pointer& path) {
  return job.contains(path) && job.at(path).is_string() ? job.at(path).get<std::string>() : "";
}

bool is_in(const OperatedKind& kind, const Json& status, Phase phase) {
  const std::string_view word = kind.words[std::size_t(phase)];
  if (!kind.phase_field.empty()) return text_at(status, kind.phase_field) == word;
  for (const Json& one : list_or_empty(status, "conditions")) {
    if (text_at(one, "type") == word) return text_at(one, "status") == "True";
  }
  return false;
}

}  // namespace

const std::vector<OperatedKind>& operated_kinds() {
  static const char* const training = "kubeflow.org/training-operator";
  static const std::vector<OperatedKind> all = {
      plain({"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"},
            "jobset.sigs.k8s.io/jobset-controller", {"Suspended", "", "Completed", "Failed"}, "",
            jobset_details),
      trainer("v1", "PyTorchJob", "pytorchjobs", training),
      trainer("v1", "TFJob", "tfjobs", training),
      trainer("v1", "XGBoostJob", "xgboostjobs", training),
      trainer("v1", "PaddleJob", "paddlejobs", training),
      trainer("v1", "JAXJob", "jaxjobs", training),
      trainer("v2beta1", "MPIJob", "mpijobs", "kubeflow.org/mpi-operator"),
      plain({"ray.io", "v1", "RayJob", "rayjobs"}, "ray.io/kuberay-operator",
            {"Suspended", "Running", "Complete", "Failed"}, "jobDeploymentStatus", rayjob_details),
      plain({"workload.codeflare.dev", "v1beta2", "AppWrapper", "appwrappers"}, "",
            {"Suspended", "Running", "Succeeded", "Failed"}, "phase", appwrapper_details),
      plain({"trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs"},
            "trainer.kubeflow.org/trainjob-controller", {"Suspended", "", "Complete", "Failed"}, "",
            trainjob_details),
  };
  return all;
}

const OperatedKind& managed_pods() {
  static const OperatedKind pods = {{"", "v1", "Pod", "pods"},
                                    Json::json_pointer(),
                                    Json::json_pointer(),
                                    "",
                                    {"Pending", "Running", "Succeeded", "Failed"},
                                    "phase",
                                    true,
                                    pod_details};
  return pods;
}

const OperatedKind* operated_kind(std::string_view group, std::string_view kind) {
  for (const OperatedKind& one : operated_kinds()) {
    if (one.resource.group == group && one.resource.kind == kind) return &one;
  }
  return nullptr;
}

Json operated_status(const OperatedKind& kind, const Json& job, Phase phase, TimePoint now) {
  Json status = object_or_empty(job, {"status"});
  const std::string_view word = kind.words[std::size_t(phase)];
  if (!kind.phase_field.empty()) {
    status[std::string(kind.phase_field)] = word;
  } else {
    for (const std::string_view other : kind.words) {
      if (!other.empty()) say(&status, other, other == word, now);
    }
  }
  kind.details(job, phase, now, &status);
  return status;
}

bool operated_ended(const OperatedKind& kind, const Json& job) {
  const Json& status = object_or_empty(job, {"status"});
  return is_in(kind, status, Phase::succeeded) || is_in(kind, status, Phase::failed);
}

bool operated_suspended(const OperatedKind& kind, const Json& job) {
  if (kind.pods) return !list_or_empty(object_or_empty(job, {"spec"}), "schedulingGates").empty();
  return job.contains(kind.suspend) && job.at(kind.suspend) == true;
}

bool operated_here(const OperatedKind& kind, const Json& job) {
  if (kind.pods) {
    const Json& owners = list_or_empty(object_or_empty(job, {"metadata"}), "ownerReferences");
    return std::none_of(owners.begin(), owners.end(), [](const Json& owner) {
      return owner.contains("controller") && owner.at("controller") == true;
    });
  }
  const std::string manager = text_of(job, kind.managed_by);
  return manager.empty() || manager == kind.own_controller;
}

OperatedStep plan_operated(const OperatedKind& kind, const Json& job,
                           const manifest::Behaviour& how, Duration ran, TimePoint now) {
  OperatedStep step;
  if (operated_ended(kind, job)) return step;
  Phase phase = Phase::running;
  if (operated_suspended(kind, job)) {
    if (kind.pods) return step;
    phase = Phase::suspended;
  } else if (ran >= how.run) {
    phase = how.failures > 0 ? Phase::failed : Phase::succeeded;
  } else {
    step.again = how.run - ran;
  }
  Json status = operated_status(kind, job, phase, now);
  if (status != object_or_empty(job, {"status"})) step.status = std::move(status);
  return step;
}

}  // namespace regatta::lab
