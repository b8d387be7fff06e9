#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/owner_reference.h"
#include "lifecycle/provisioning_check.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::lifecycle {
namespace {

void limits_as_missing_requests(Json* holder) {
  const auto resources = holder->find("resources");
  if (resources == holder->end() || !resources->is_object()) return;
  const auto limits = resources->find("limits");
  if (limits == resources->end() || !limits->is_object()) return;
  Json requests = resources->value("requests", Json::object());
  for (const auto& [name, limit] : limits->items()) {
    if (!requests.contains(name)) requests[name] = limit;
  }
  (*resources)["requests"] = std::move(requests);
}

void limits_as_missing_requests_of_pod(Json* pod_template) {
  const auto spec = pod_template->find("spec");
  if (spec == pod_template->end() || !spec->is_object()) return;
  limits_as_missing_requests(&*spec);
  for (const char* list : {"initContainers", "containers"}) {
    const auto containers = spec->find(list);
    if (containers == spec->end() || !containers->is_array()) continue;
    for (Json& container : *containers) limits_as_missing_requests(&container);
  }
}

Result<jobs::PodSetInfo> placement(const api::Workload& workload, const std::string& pod_set,
                                   const jobs::FlavorLookup& flavor) {
  jobs::PodSetInfo info;
  std::set<std::string> names;
  for (const api::PodSetAssignment& assignment : workload.status.admission->pod_set_assignments) {
    if (assignment.name != pod_set) continue;
    for (const auto& [resource, name] : assignment.flavors) names.insert(name);
  }
  return jobs::with_flavors(std::move(info), names, flavor);
}

}  // namespace

Result<Json> provisioning_pod_template(const api::Workload& workload, const ProvisionedPods& pods,
                                       const jobs::FlavorLookup& flavor) {
  const auto& sets = workload.spec.pod_sets;
  const auto set = std::find_if(sets.begin(), sets.end(),
                                [&](const auto& s) { return s.name == pods.pod_sets.front(); });
  if (set == sets.end()) return Error(Errc::not_found, "no pod set " + pods.pod_sets.front());
  const auto info = placement(workload, set->name, flavor);
  if (!info) return info.error();
  auto body = jobs::with_info(set->pod_template.json(), *info);
  if (!body) return body.error();
  limits_as_missing_requests_of_pod(&*body);
  api::StoredPodTemplate stored;
  stored.metadata.name = pods.template_name;
  stored.metadata.ns = workload.metadata.ns;
  stored.metadata.labels[std::string(api::labels::managed)] = "true";
  stored.metadata.owner_references.push_back(
      api::controller_reference(api::Workload::resource, workload.metadata));
  Json out = api::to_json(stored);
  out["template"] = std::move(*body);
  return out;
}

Result<std::string> provisioning_config_name(const api::AdmissionCheckSpec& check) {
  constexpr std::string_view kind = "ProvisioningRequestConfig";
  if (!check.parameters) return Error(Errc::invalid, "missing parameters reference");
  const api::AdmissionCheckParameters& given = *check.parameters;
  const auto bad = [](std::string text) {
    return Error(Errc::invalid, text + ": bad parameters reference");
  };
  if (given.name.empty()) return bad("empty name");
  if (given.api_group != api::kueue_group) {
    return bad("wrong group \"" + given.api_group + "\", expecting \"" +
               std::string(api::kueue_group) + "\"");
  }
  if (given.kind != kind) {
    return bad("wrong kind \"" + given.kind + "\", expecting \"" + std::string(kind) + "\"");
  }
  return given.name;
}

api::Condition provisioning_check_condition(const api::AdmissionCheck& check, bool served,
                                            bool found) {
  api::Condition out;
  out.type = std::string(api::conditions::active);
  out.observed_generation = check.metadata.generation;
  out.status = api::ConditionStatus::False;
  const Result<std::string> config = provisioning_config_name(check.spec);
  if (!config) {
    out.reason = "BadParametersRef";
    out.message = config.error().what();
  } else if (!found) {
    out.reason = "BadParametersRef";
    out.message = "ProvisioningRequestConfig.kueue.x-k8s.io \"" + *config + "\" not found";
  } else if (!served) {
    out.reason = "ProvisioningRequestsNotServed";
    out.message =
        "This cluster does not serve ProvisioningRequests of autoscaling.x-k8s.io/v1: install the "
        "cluster autoscaler's CustomResourceDefinition";
  } else {
    out.status = api::ConditionStatus::True;
    out.reason = std::string(api::reasons::active);
    out.message = "The admission check is active";
  }
  return out;
}

}  // namespace regatta::lifecycle
