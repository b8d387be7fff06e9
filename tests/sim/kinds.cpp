#include "tests/sim/kinds.h"

#include "lib/api/yaml.h"
#include "lib/base/json_access.h"
#include "tests/sim/objects.h"
#include "tests/support/manifests.h"

#include <algorithm>

namespace regatta::simtest {
namespace {

constexpr api::ResourceInfo runtime_resource{
    "trainer.kubeflow.org", "v1alpha1", "ClusterTrainingRuntime", "clustertrainingruntimes", false};

Json pods() {
  return {{"spec",
           {{"restartPolicy", "Never"},
            {"containers",
             {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}};
}

Json spec_of_job(const JobSpec& job) {
  Json spec = {{"parallelism", job.pods},
               {"completions", job.completions},
               {"backoffLimit", 0},
               {"template", pods()}};
  if (job.indexed) spec["completionMode"] = "Indexed";
  return spec;
}

/// One pod leads the others.
Json spec_of_jobset(const JobSpec& job) {
  const auto role = [](const char* name, int replicas) -> Json {
    return {
        {"name", name},
        {"replicas", replicas},
        {"template", {{"spec", {{"parallelism", 1}, {"completions", 1}, {"template", pods()}}}}}};
  };
  Json roles = Json::array({role("lead", 1)});
  if (job.pods > 1) roles.push_back(role("crew", job.pods - 1));
  return {{"replicatedJobs", std::move(roles)}};
}

Json spec_of_pytorchjob(const JobSpec& job) {
  const auto role = [](int replicas) -> Json {
    return {{"replicas", replicas}, {"restartPolicy", "Never"}, {"template", pods()}};
  };
  Json roles = {{"Master", role(1)}};
  if (job.pods > 1) roles["Worker"] = role(job.pods - 1);
  return {{"runPolicy", {{"cleanPodPolicy", "Running"}}}, {"pytorchReplicaSpecs", roles}};
}

Json spec_of_rayjob(const JobSpec& job) {
  Json cluster = {
      {"rayVersion", "2.52.0"},
      {"headGroupSpec", {{"rayStartParams", Json::object()}, {"template", pods()}}},
  };
  if (job.pods > 1) {
    cluster["workerGroupSpecs"] = Json::array({{{"groupName", "crew"},
                                                {"replicas", job.pods - 1},
                                                {"rayStartParams", Json::object()},
                                                {"template", pods()}}});
  }
  return {{"entrypoint", "python work.py"},
          {"shutdownAfterJobFinishes", true},
          {"submissionMode", "HTTPMode"},
          {"rayClusterSpec", std::move(cluster)}};
}

Json spec_of_appwrapper(const JobSpec& job) {
  Json wrapped = make_object("batch/v1", "Job", job.name + "-part");
  wrapped["spec"] = spec_of_job(job);
  return {{"components",
           {{{"template", std::move(wrapped)},
             {"podSets", {{{"replicas", job.pods}, {"path", "template.spec.template"}}}}}}}};
}

Json spec_of_trainjob(const JobSpec& job) {
  return {{"runtimeRef", {{"name", "torch"}}}, {"trainer", {{"numNodes", job.pods}}}};
}

std::vector<Json::json_pointer> places(const std::vector<const char*>& all) {
  return {all.begin(), all.end()};
}

std::vector<KindOfJob> table() {
  std::vector<KindOfJob> all;
  const auto add = [&all](api::ResourceInfo resource, const char* framework,
                          const std::vector<const char*>& sizes,
                          Json (*spec)(const JobSpec&)) -> KindOfJob& {
    KindOfJob& kind = all.emplace_back();
    kind.resource = resource;
    kind.shelf = resource.group_resource();
    kind.framework = framework;
    kind.sizes = places(sizes);
    kind.spec = spec;
    return kind;
  };
  add({"batch", "v1", "Job", "jobs"}, "batch/job", {"/spec/parallelism"}, spec_of_job);
  KindOfJob& jobset =
      add({"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"}, "jobset.x-k8s.io/jobset",
          {"/spec/replicatedJobs/1/replicas", "/spec/replicatedJobs/0/replicas"}, spec_of_jobset);
  jobset.complete = "Completed";
  KindOfJob& torch = add(
      {"kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"}, "kubeflow.org/pytorchjob",
      {"/spec/pytorchReplicaSpecs/Worker/replicas", "/spec/pytorchReplicaSpecs/Master/replicas"},
      spec_of_pytorchjob);
  torch.complete = "Succeeded";
  torch.suspend = Json::json_pointer("/spec/runPolicy/suspend");
  torch.managed_by = Json::json_pointer("/spec/runPolicy/managedBy");
  KindOfJob& ray = add({"ray.io", "v1", "RayJob", "rayjobs"}, "ray.io/rayjob",
                       {"/spec/rayClusterSpec/workerGroupSpecs/0/replicas"}, spec_of_rayjob);
  ray.ends_in = "jobDeploymentStatus";
  KindOfJob& wrapper = add({"workload.codeflare.dev", "v1beta2", "AppWrapper", "appwrappers"},
                           "workload.codeflare.dev/appwrapper",
                           {"/spec/components/0/podSets/0/replicas"}, spec_of_appwrapper);
  wrapper.ends_in = "phase";
  wrapper.complete = "Succeeded";
  add({"trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs"},
      "trainer.kubeflow.org/trainjob", {"/spec/trainer/numNodes"}, spec_of_trainjob);
  return all;
}

/// Calls visit(name, value, path) for each member of each object below `value`.
template <class Visit>
void each_member(const Json& value, const std::string& path, const Visit& visit) {
  if (!value.is_structured()) return;
  for (const auto& [name, one] : value.items()) {
    const std::string below = path + "/" + name;
    if (value.is_object()) visit(name, one, below);
    each_member(one, below, visit);
  }
}

const Json& status_of(const Json& job) {
  return at_or_null(job, "status");
}

const Json& spec_in(const Json& job) {
  return at_or_null(job, "spec");
}

}  // namespace

const std::vector<KindOfJob>& kinds_of_jobs() {
  static const std::vector<KindOfJob> all = table();
  return all;
}

const KindOfJob& kind_named(const std::string& kind) {
  const auto& all = kinds_of_jobs();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const KindOfJob& one) { return one.resource.kind == kind; });
  return found == all.end() ? all.front() : *found;
}

const KindOfJob& kind_of(const Json& object) {
  return kind_named(text_at(object, "kind"));
}

bool is_shelf_of_jobs(const std::string& resource) {
  const auto& all = kinds_of_jobs();
  return std::any_of(all.begin(), all.end(),
                     [&](const KindOfJob& one) { return one.shelf == resource; });
}

Json job_of(const JobSpec& spec) {
  const KindOfJob& kind = kind_named(spec.kind);
  Json job = make_object(kind.resource.api_version().c_str(),
                         std::string(kind.resource.kind).c_str(), spec.name, team);
  job["metadata"]["labels"] = {{"kueue.x-k8s.io/queue-name", "default"}};
  if (spec.important) job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "important";
  job["metadata"]["annotations"] = {
      {"sandbox.regatta.dev/run-seconds", std::to_string(double(spec.runs.count()) / 1000)}};
  if (spec.fails) job["metadata"]["annotations"]["sandbox.regatta.dev/fail"] = "true";
  if (spec.elastic) job["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
  if (spec.leaves > Duration(0)) {
    // A share of the thirty seconds that a Pod has.
    job["metadata"]["annotations"]["sandbox.regatta.dev/termination-share"] =
        std::to_string(double(spec.leaves.count()) / 30000);
  }
  job["spec"] = kind.spec(spec);
  job[kind.suspend] = true;
  job[kind.managed_by] = "kueue.x-k8s.io/multikueue";
  return job;
}

std::string title_of(const Json& job) {
  return text_at(job, "kind") + " " + text_at(at_or_null(job, "metadata"), "name");
}

std::string title_of(const JobSpec& spec) {
  return spec.kind + " " + spec.name;
}

std::string outcome_of(const Json& job) {
  const KindOfJob& kind = kind_of(job);
  const auto is = [&](const std::string& word) {
    return kind.ends_in.empty() ? condition_true(job, word.c_str())
                                : text_at(status_of(job), kind.ends_in) == word;
  };
  if (is(kind.complete)) return "Complete";
  return is(kind.failed) ? "Failed" : "";
}

bool suspended(const Json& job) {
  const KindOfJob& kind = kind_of(job);
  return job.contains(kind.suspend) && job.at(kind.suspend) == true;
}

bool has_pods(const Json& job) {
  const Json& status = status_of(job);
  bool active = text_at(status, "jobDeploymentStatus") == "Running" ||
                condition_true(job, "ResourcesDeployed");
  each_member(status, "", [&](const std::string& name, const Json& value, const std::string&) {
    active = active || (name == "active" && value.is_number() && value > 0);
  });
  return active;
}

std::map<std::string, std::int64_t> counts_of(const Json& job) {
  std::map<std::string, std::int64_t> counts;
  const auto note = [&](const std::string& name, const Json& value, const std::string& path) {
    const bool counted = name == "succeeded" || name == "failed";
    if (counted && value.is_number() && value != 0) counts[path] = value.get<std::int64_t>();
  };
  each_member(status_of(job), "", note);
  return counts;
}

std::vector<Json> node_selectors(const Json& job) {
  std::vector<Json> all;
  each_member(spec_in(job), "", [&](const std::string& name, const Json& value, const auto&) {
    if (name == "nodeSelector") all.push_back(value);
  });
  return all;
}

std::size_t templates_of(const Json& job) {
  std::size_t all = 0;
  each_member(spec_in(job), "", [&](const std::string& name, const Json&, const auto&) {
    if (name == "containers") ++all;
  });
  // The templates of a TrainJob are those of its runtime.
  return std::max<std::size_t>(all, 1);
}

std::vector<Json> definitions_of_kinds() {
  std::vector<Json> all;
  const auto add = [&all](const api::ResourceInfo& resource) {
    for (Json& one : api::parse_yaml_documents(test_support::crd_yaml(resource)).value()) {
      all.push_back(std::move(one));
    }
  };
  for (const KindOfJob& kind : kinds_of_jobs()) {
    if (kind.resource.kind != "Job") add(kind.resource);
  }
  add(runtime_resource);
  return all;
}

std::vector<Json> runtimes_of_kinds() {
  Json runtime = make_object("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", "torch");
  Json node = {
      {"name", "node"},
      {"template",
       {{"metadata", {{"labels", {{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}}}}},
        {"spec", {{"template", pods()}}}}}};
  node["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = "node";
  runtime["spec"] = {{"mlPolicy", {{"numNodes", 1}, {"torch", Json::object()}}},
                     {"template", {{"spec", {{"replicatedJobs", Json::array({node})}}}}}};
  return {std::move(runtime)};
}

}  // namespace regatta::simtest
