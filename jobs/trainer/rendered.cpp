#include "jobs/trainer/rendered.h"

#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>

namespace regatta::jobs::trainer {
namespace {

constexpr const char* ancestor_label = "trainer.kubeflow.org/trainjob-ancestor-step";
constexpr std::string_view trainer_step = "trainer";
constexpr std::string_view node_name = "node";
constexpr std::string_view launcher_name = "launcher";

/// Lists whose items have names are merged by name, as strategic merge patches do.
bool goes_by_name(std::string_view field) {
  constexpr std::string_view lists[] = {"containers",    "initContainers",  "env",
                                        "volumes",       "schedulingGates", "imagePullSecrets",
                                        "replicatedJobs"};
  return std::find(std::begin(lists), std::end(lists), field) != std::end(lists);
}

void lay_over(Json& into, const Json& patch, std::string_view field);

void lay_by_name(Json& into, const Json& patch) {
  for (const Json& item : patch) {
    const auto same = std::find_if(into.begin(), into.end(), [&](const Json& one) {
      return text_at(one, "name") == text_at(item, "name");
    });
    if (same == into.end()) {
      into.push_back(item);
    } else {
      lay_over(*same, item, "");
    }
  }
}

/// Objects are merged, lists replaced unless they go by name.
void lay_over(Json& into, const Json& patch, std::string_view field) {
  if (patch.is_array() && into.is_array() && goes_by_name(field)) return lay_by_name(into, patch);
  if (!patch.is_object() || !into.is_object()) {
    into = patch;
    return;
  }
  for (const auto& [key, value] : patch.items()) lay_over(into[key], value, key);
}

/// The runtime's JobSet with the patches of users.
Json patched_jobs(const Json& job, const Json& runtime) {
  Json jobs =
      list_or_empty(object_or_empty(runtime, {"spec", "template", "spec"}), "replicatedJobs");
  for (const Json& patch : list_or_empty(object_or_empty(job, {"spec"}), "runtimePatches")) {
    if (text_at(patch, "manager") == patch_manager) continue;
    const Json& set = object_or_empty(patch, {"trainingRuntimeSpec", "template", "spec"});
    for (const Json& one : list_or_empty(set, "replicatedJobs")) {
      for (Json& given : jobs) {
        if (text_at(given, "name") == text_at(one, "name")) lay_over(given, one, "");
      }
    }
  }
  return jobs;
}

/// What the job says of its trainer: image, command, environment and resources of the container.
void lay_trainer_over(Json& pod_template, const Json& trainer) {
  if (!list_at(object_or_empty(pod_template, {"spec"}), "containers")) return;
  for (Json& container : pod_template["spec"]["containers"]) {
    if (text_at(container, "name") != node_name) continue;
    for (const char* field : {"image", "command", "args"}) {
      if (trainer.contains(field)) container[field] = trainer[field];
    }
    if (trainer.contains("env")) lay_over(container["env"], trainer["env"], "env");
    if (trainer.contains("resourcesPerNode")) {
      lay_over(container["resources"], trainer["resourcesPerNode"], "resources");
    }
  }
}

/// How many nodes the job asks for; nullopt when it leaves that to the runtime.
std::optional<std::int32_t> nodes_in(const Json& trainer) {
  if (!trainer.contains("numNodes")) return std::nullopt;
  return count_at(trainer, "numNodes", 1);
}

std::int32_t pods_of(const Role& role, bool trains, const Json& job_spec, const Json& runtime,
                     const Json& trainer) {
  const Json& policy = object_or_empty(runtime, {"spec", "mlPolicy"});
  std::int32_t pods = count_at(job_spec, "parallelism", 1);
  if (trains) pods = count_at(policy, "numNodes", pods);
  const auto nodes = nodes_in(trainer);
  if (!nodes) return pods;
  const Json* mpi = object_at(policy, "mpi");
  if (!mpi) return trains ? *nodes : pods;
  // With MPI the nodes have a name; the launcher may be one of them.
  if (role.name != node_name) return pods;
  return true_at(*mpi, "runLauncherAsNode") ? std::max(*nodes - 1, 1) : *nodes;
}

}  // namespace

std::vector<Role> roles_of(const Json& job, const Json& runtime) {
  std::vector<Role> roles;
  const Json& trainer = object_or_empty(job, {"spec", "trainer"});
  const Json jobs = patched_jobs(job, runtime);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Json& made = object_or_empty(jobs[i], {"template"});
    const std::string& step = text_at(made, {"metadata", "labels", ancestor_label});
    const bool trains = step == trainer_step;
    Role& role = roles.emplace_back();
    role.name = lower_case(text_at(jobs[i], "name"));
    role.place = "spec.template.spec.replicatedJobs[" + std::to_string(i) + "]";
    // The trainer makes one Job of each step; others are as the runtime says.
    const bool single = !step.empty() || role.name == launcher_name;
    role.replicas = single ? 1 : count_at(jobs[i], "replicas", 0);
    role.pods = pods_of(role, trains, object_or_empty(made, {"spec"}), runtime, trainer);
    role.pod_template = object_or_empty(made, {"spec", "template"});
    if (trains) lay_trainer_over(role.pod_template, trainer);
  }
  return roles;
}

}  // namespace regatta::jobs::trainer
