#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"
#include "manager/config/configuration.h"
#include "manager/config/rules.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace regatta::manager {
namespace {

using api::in_quotes;

/// Sorted by name.
constexpr Framework frameworks[] = {
    {"batch/job", "Job.v1.batch"},
    {"deployment", "Deployment.v1.apps", false},
    {"jobset.x-k8s.io/jobset", "JobSet.v1alpha2.jobset.x-k8s.io"},
    {"kubeflow.org/jaxjob", "JAXJob.v1.kubeflow.org"},
    {"kubeflow.org/mpijob", "MPIJob.v2beta1.kubeflow.org"},
    {"kubeflow.org/paddlejob", "PaddleJob.v1.kubeflow.org"},
    {"kubeflow.org/pytorchjob", "PyTorchJob.v1.kubeflow.org"},
    {"kubeflow.org/tfjob", "TFJob.v1.kubeflow.org"},
    {"kubeflow.org/xgboostjob", "XGBoostJob.v1.kubeflow.org"},
    {"leaderworkerset.x-k8s.io/leaderworkerset", "LeaderWorkerSet.v1.leaderworkerset.x-k8s.io"},
    {"pod", "Pod.v1."},
    {"ray.io/raycluster", "RayCluster.v1.ray.io"},
    {"ray.io/rayjob", "RayJob.v1.ray.io"},
    {"ray.io/rayservice", "RayService.v1.ray.io"},
    {"sparkoperator.k8s.io/sparkapplication", "SparkApplication.v1beta2.sparkoperator.k8s.io",
     false},
    {"statefulset", "StatefulSet.v1.apps"},
    {"trainer.kubeflow.org/trainjob", "TrainJob.v1alpha1.trainer.kubeflow.org"},
    {"workload.codeflare.dev/appwrapper", "AppWrapper.v1beta2.workload.codeflare.dev"},
};

const Framework* find(std::string_view name) {
  const auto it = std::find_if(std::begin(frameworks), std::end(frameworks),
                               [name](const Framework& one) { return one.name == name; });
  return it == std::end(frameworks) ? nullptr : &*it;
}

/// "Kind.version.group", of which only the group may contain dots.
bool is_kind(std::string_view text) {
  return std::count(text.begin(), text.end(), '.') >= 2;
}

std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  for (const Framework& one : frameworks) names.emplace_back(one.name);
  return names;
}

/// Returns the kinds that are managed.
std::set<std::string> check_frameworks(const Json& integrations, api::ErrorList* errors) {
  std::set<std::string> managed, described;
  for (const Json& one : list_or_empty(integrations, "describedKinds")) {
    described.insert(described_framework(one));
  }
  std::size_t i = 0;
  for (const Json& one : list_or_empty(integrations, "frameworks")) {
    const auto& name = one.get_ref<const std::string&>();
    const std::string path = api::at("integrations.frameworks", i++);
    const Framework* framework = find(name);
    if (!framework && described.contains(name)) {
      if (!managed.insert(name).second) errors->duplicate(path, in_quotes(name));
    } else if (!framework) {
      errors->not_supported(path, in_quotes(name), framework_names());
    } else if (!managed.insert(std::string(framework->kind)).second) {
      errors->duplicate(path, in_quotes(name));
    }
  }
  return managed;
}

}  // namespace

std::span<const Framework> all_frameworks() {
  return frameworks;
}

bool has_framework(std::string_view framework) {
  return find(framework) != nullptr;
}

std::string described_framework(const Json& description) {
  const std::string& version = text_at(description, "apiVersion");
  return version.substr(0, version.find('/')) + "/" + lower_case(text_at(description, "kind"));
}

void check_integrations(const Json& c, api::ErrorList* errors) {
  const Json& integrations = at_or_null(c, "integrations");
  std::set<std::string> managed = check_frameworks(integrations, errors);
  std::size_t i = 0;
  for (const Json& one : list_or_empty(integrations, "externalFrameworks")) {
    const auto& kind = one.get_ref<const std::string&>();
    const std::string path = api::at("integrations.externalFrameworks", i++);
    if (!is_kind(kind)) {
      errors->invalid(path, in_quotes(kind), "must be format, 'Kind.version.group.com'");
    } else if (!managed.insert(kind).second) {
      errors->duplicate(path, in_quotes(kind));
    }
  }
  const Json& names = list_or_empty(integrations, "frameworks");
  if (std::find(names.begin(), names.end(), "pod") != names.end()) {
    check_namespace_selector(c, errors);
  }
}

void check_external_adapters(const Json& c, api::ErrorList* errors) {
  std::set<std::string> built_in, seen;
  for (const Json& name : list_or_empty(at_or_null(c, "integrations"), "frameworks")) {
    const Framework* framework = find(name.get_ref<const std::string&>());
    if (framework && framework->multi_kueue) built_in.emplace(framework->kind);
  }
  std::size_t i = 0;
  for (const Json& one : list_or_empty(at_or_null(c, "multiKueue"), "externalFrameworks")) {
    const std::string& kind = text_at(one, "name");
    const std::string path = api::at("multiKueue.externalFrameworks", i++) + ".name";
    if (!is_kind(kind)) {
      errors->invalid(path, in_quotes(kind), "must be in 'kind.version.group' format");
      continue;
    }
    if (!seen.insert(kind).second) errors->duplicate(path, in_quotes(kind));
    if (built_in.contains(kind)) {
      errors->invalid(path, in_quotes(kind), "conflicts with a built-in MultiKueue adapter");
    }
  }
}

}  // namespace regatta::manager
