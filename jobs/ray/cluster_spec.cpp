#include "jobs/ray/cluster_spec.h"

#include "lib/api/names.h"
#include "lib/api/quantity.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>

namespace regatta::jobs::ray {
namespace {

constexpr const char* head_name = "head";
/// A Workload has at most 20 pod sets.
constexpr std::size_t groups_max = 18;

Json submitter_container() {
  return Json{{"name", "ray-job-submitter"},
              {"resources",
               {{"limits", {{"cpu", "1"}, {"memory", "1Gi"}}},
                {"requests", {{"cpu", "500m"}, {"memory", "200Mi"}}}}}};
}

Json autoscaler_container(const Json& cluster) {
  const Json least{{"cpu", "500m"}, {"memory", "512Mi"}};
  const Json* given = object_at(object_or_empty(cluster, {"autoscalerOptions"}), "resources");
  return Json{{"name", "autoscaler"},
              {"resources", given ? *given : Json{{"limits", least}, {"requests", least}}}};
}

/// The pod that removes the state from Redis runs in the place of the head.
void raise_requests(Json* container) {
  Json& requests = (*container)["resources"]["requests"];
  for (const auto& [resource, least] : {std::pair("cpu", "200m"), std::pair("memory", "256Mi")}) {
    const auto floor = api::Quantity::parse(least);
    const auto given = api::Quantity::parse(text_at(requests, resource));
    if (floor && (!given || *given < *floor)) requests[resource] = least;
  }
}

/// The template of the head with the containers that KubeRay adds; null when it adds none.
Json asked_head(const Json& job, const Json& cluster, const Json& head, Submission submission) {
  Json asked = head;
  if (!asked.is_object()) return Json();
  Json& containers = asked["spec"]["containers"];
  if (!containers.is_array()) return Json();
  if (keeps_state(job, cluster) && !containers.empty()) raise_requests(&containers[0]);
  if (autoscales(cluster)) containers.push_back(autoscaler_container(cluster));
  if (submission == Submission::sidecar) containers.push_back(submitter_container());
  return asked;
}

/// Of a group of workers.
std::int32_t pods_of(const Json& group) {
  const std::int64_t replicas = count_at(group, "replicas", 1);
  const std::int64_t hosts = std::max(1, count_at(group, "numOfHosts", 1));
  return static_cast<std::int32_t>(std::min<std::int64_t>(replicas * hosts, INT32_MAX));
}

bool has_elastic_gate(const Json& gates) {
  return std::any_of(gates.begin(), gates.end(), [](const Json& gate) {
    return text_at(gate, "name") == api::gates::elastic_job;
  });
}

void add_gate(Json* group) {
  Json& gates = (*group)["template"]["spec"]["schedulingGates"];
  if (!gates.is_array()) gates = Json::array();
  if (has_elastic_gate(gates)) return;
  gates.push_back(Json{{"name", std::string(api::gates::elastic_job)}});
}

void check_gates(const Json& pod_template, const std::string& field, api::ErrorList* errors) {
  const Json& gates = list_or_empty(object_or_empty(pod_template, {"spec"}), "schedulingGates");
  if (has_elastic_gate(gates)) return;
  errors->invalid(field + ".spec.schedulingGates",
                  gates.empty() ? std::string("null") : gates.dump(),
                  "an elastic job must have the ElasticJobSchedulingGate");
}

}  // namespace

const Json& cluster_in(const Json& job, const Place& place) {
  static const Json none = Json::object();
  if (!job.contains(place.path)) return none;
  const Json& found = job.at(place.path);
  return found.is_object() ? found : none;
}

bool autoscales(const Json& cluster) {
  return true_at(cluster, "enableInTreeAutoscaling");
}

Json resized_groups(const Json& wanted, const Json& copy) {
  Json groups = list_or_empty(copy, "workerGroupSpecs");
  bool changed = false;
  for (Json& group : groups) {
    for (const Json& like : list_or_empty(wanted, "workerGroupSpecs")) {
      if (text_at(like, "groupName") != text_at(group, "groupName")) continue;
      for (const char* size : {"replicas", "numOfHosts"}) {
        if (at_or_null(like, size) == at_or_null(group, size)) continue;
        changed = true;
        if (like.contains(size)) {
          group[size] = like[size];
        } else {
          group.erase(size);
        }
      }
    }
  }
  return changed ? groups : Json();
}

void keep_after_end(Json* spec) {
  constexpr const char* holder = "deletionStrategy";
  if (!object_at(*spec, holder)) return;
  Json& strategy = (*spec)[holder];
  const auto deletes_job = [](const Json& one) { return text_at(one, "policy") == "DeleteSelf"; };
  // KubeRay wants both of these.
  for (const char* end : {"onSuccess", "onFailure"}) {
    if (deletes_job(at_or_null(strategy, end))) strategy[end]["policy"] = "DeleteCluster";
  }
  if (!list_at(strategy, "deletionRules")) return;
  auto& rules = strategy["deletionRules"].get_ref<Json::array_t&>();
  std::erase_if(rules, deletes_job);
  // No rules at all, or a strategy without any, would be refused.
  if (rules.empty()) strategy.erase("deletionRules");
  if (strategy.empty()) spec->erase(holder);
}

bool keeps_state(const Json& job, const Json& cluster) {
  const Json& annotations = object_or_empty(job, {"metadata", "annotations"});
  return text_at(annotations, "ray.io/ft-enabled") == "true" ||
         object_at(cluster, "gcsFaultToleranceOptions") != nullptr;
}

std::vector<PodSlot> slots_of(const Json& job, const Place& place, Submission submission) {
  const Json& cluster = cluster_in(job, place);
  std::vector<PodSlot> slots;
  if (cluster.empty()) return slots;
  const Json& head = object_or_empty(cluster, {"headGroupSpec", "template"});
  PodSlot& first = slots.emplace_back();
  first.name = head_name;
  first.path = place.path / "headGroupSpec" / "template";
  first.field = place.field + ".headGroupSpec.template";
  first.asked = asked_head(job, cluster, head, submission);
  const Json& groups = list_or_empty(cluster, "workerGroupSpecs");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    PodSlot& slot = slots.emplace_back();
    slot.name = lower_case(text_at(groups[i], "groupName"));
    slot.path = place.path / "workerGroupSpecs" / i / "template";
    slot.field = place.field + ".workerGroupSpecs[" + std::to_string(i) + "].template";
    slot.count = pods_of(groups[i]);
  }
  if (submission != Submission::pod) return slots;
  PodSlot& submitter = slots.emplace_back();
  submitter.name = "submitter";
  submitter.path = Json::json_pointer("/spec/submitterPodTemplate");
  submitter.field = "spec.submitterPodTemplate";
  submitter.topology_checked = false;
  Json container = submitter_container();
  const Json& of_head = list_or_empty(object_or_empty(head, {"spec"}), "containers");
  if (!of_head.empty()) container["image"] = text_at(of_head[0], "image");
  submitter.otherwise = Json{
      {"spec", {{"containers", Json::array({std::move(container)})}, {"restartPolicy", "Never"}}}};
  return slots;
}

void take_sizes(const Json& cluster, std::vector<PodSlot>* slots) {
  for (const Json& group : list_or_empty(object_or_empty(cluster, {"spec"}), "workerGroupSpecs")) {
    if (!integer_at(group, "replicas")) continue;
    const std::string name = lower_case(text_at(group, "groupName"));
    for (PodSlot& slot : *slots) {
      if (slot.name == name && name != head_name) slot.count = pods_of(group);
    }
  }
}

Json gated(Json cluster) {
  if (cluster.contains("headGroupSpec")) add_gate(&cluster["headGroupSpec"]);
  if (!list_at(cluster, "workerGroupSpecs")) return cluster;
  for (Json& group : cluster["workerGroupSpecs"]) add_gate(&group);
  return cluster;
}

void check_elastic_gates(const Json& job, const Place& place, api::ErrorList* errors) {
  const Json& cluster = cluster_in(job, place);
  const Json& groups = list_or_empty(cluster, "workerGroupSpecs");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    check_gates(object_or_empty(groups[i], {"template"}),
                place.field + ".workerGroupSpecs[" + std::to_string(i) + "].template", errors);
  }
  check_gates(object_or_empty(cluster, {"headGroupSpec", "template"}),
              place.field + ".headGroupSpec.template", errors);
}

void check_cluster(const Json& job, const Place& place, api::ErrorList* errors) {
  const Json& groups = list_or_empty(cluster_in(job, place), "workerGroupSpecs");
  const std::string field = place.field + ".workerGroupSpecs";
  // The head counts as one.
  if (groups.size() + 1 > groups_max) errors->too_many(field, groups.size() + 1, groups_max);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (text_at(groups[i], "groupName") != head_name) continue;
    errors->forbidden(field + "[" + std::to_string(i) + "].groupName",
                      "\"head\" is reserved for the head group");
  }
}

}  // namespace regatta::jobs::ray
