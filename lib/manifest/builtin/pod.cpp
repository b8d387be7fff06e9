#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/pod_spec.h"
#include "lib/manifest/builtin/pod_table.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::manifest::builtin {

namespace {

constexpr const char* only_these =
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)";

/// Pods are evicted from a broken node after five minutes unless they say otherwise.
void tolerate(Json& tolerations, const char* key) {
  for (const Json& toleration : tolerations) {
    const std::string& theirs = text_at(toleration, "key");
    const std::string& effect = text_at(toleration, "effect");
    if ((theirs == key || theirs.empty()) && (effect.empty() || effect == "NoExecute")) return;
  }
  Json toleration = Json::object();
  toleration["key"] = key;
  toleration["operator"] = "Exists";
  toleration["effect"] = "NoExecute";
  toleration["tolerationSeconds"] = 300;
  tolerations.push_back(std::move(toleration));
}

Json tolerations_with_defaults(const Json& spec) {
  Json tolerations = list_or_empty(spec, "tolerations");
  tolerate(tolerations, "node.kubernetes.io/not-ready");
  tolerate(tolerations, "node.kubernetes.io/unreachable");
  return tolerations;
}

Json gated_condition(TimePoint now) {
  Json condition = Json::object();
  condition["type"] = "PodScheduled";
  condition["status"] = "False";
  condition["lastProbeTime"] = nullptr;
  condition["lastTransitionTime"] = format_rfc3339(now);
  condition["reason"] = "SchedulingGated";
  condition["message"] = "Scheduling is blocked due to non-empty scheduling gates";
  return condition;
}

/// Requests that a container does not name are as large as its limits.
void default_requests(Json& spec) {
  for (const char* name : {"containers", "initContainers"}) {
    const auto list = spec.find(name);
    if (list == spec.end() || !list->is_array()) continue;
    for (Json& container : *list) {
      const Json limits = object_or_empty(container, {"resources", "limits"});
      for (const auto& [resource, amount] : limits.items()) {
        Json& requests = object_in(container["resources"], "requests");
        if (!requests.contains(resource)) requests[resource] = amount;
      }
    }
  }
}

void check_gates(const Json& spec, const Json& old, FieldErrors* errors) {
  const Json& before = list_or_empty(old, "schedulingGates");
  const Json& gates = list_or_empty(spec, "schedulingGates");
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string& name = text_at(gates[i], "name");
    bool known = false;
    for (const Json& gate : before) known = known || text_at(gate, "name") == name;
    if (known) continue;
    errors->push_back(
        forbidden(index_path("spec.schedulingGates", i) + ".name",
                  "only deletion is allowed, but found new scheduling gate '" + name + "'"));
  }
}

void check_deadline(const Json& spec, const Json& old, FieldErrors* errors) {
  const auto now = integer_at(spec, "activeDeadlineSeconds");
  const auto before = integer_at(old, "activeDeadlineSeconds");
  if (now && before && *now > *before) {
    errors->push_back(invalid("spec.activeDeadlineSeconds", *now,
                              "must be less than or equal to previous value"));
  } else if (!now && before) {
    errors->push_back(invalid("spec.activeDeadlineSeconds", Json(),
                              "must not update from a positive integer to nil value"));
  }
}

void check_tolerations_kept(const Json& spec, const Json& old, FieldErrors* errors) {
  const Json& now = list_or_empty(spec, "tolerations");
  for (Json before : list_or_empty(old, "tolerations")) {
    before.erase("tolerationSeconds");
    bool kept = false;
    for (Json toleration : now) {
      toleration.erase("tolerationSeconds");
      kept = kept || toleration == before;
    }
    if (kept) continue;
    errors->push_back(
        forbidden("spec.tolerations",
                  "existing toleration can not be modified except its tolerationSeconds"));
    return;
  }
}

/// The node selector of a gated pod may only get more entries.
void check_selector_additions(const Json& spec, const Json& old, FieldErrors* errors) {
  const Json& now = object_or_empty(spec, {"nodeSelector"});
  for (const auto& [key, value] : object_or_empty(old, {"nodeSelector"}).items()) {
    const auto kept = now.find(key);
    if (kept != now.end() && *kept == value) continue;
    errors->push_back(
        invalid("spec.nodeSelector", now,
                "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
    return;
  }
}

/// The new spec with all mutable fields set back, to see whether anything else changed.
Json with_old_mutables(const Json& spec, const Json& old, bool gated) {
  Json out = spec;
  for (const char* name : {"containers", "initContainers"}) {
    const auto list = out.find(name);
    const Json& before = list_or_empty(old, name);
    if (list == out.end() || !list->is_array()) continue;
    for (std::size_t i = 0; i < list->size() && i < before.size(); ++i) {
      copy_member((*list)[i], before[i], "image");
    }
  }
  for (const char* name : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    copy_member(out, old, name);
  }
  const bool was_negative = integer_at(old, "terminationGracePeriodSeconds").value_or(0) < 0;
  if (was_negative && integer_at(spec, "terminationGracePeriodSeconds") == 1) {
    copy_member(out, old, "terminationGracePeriodSeconds");
  }
  if (gated) {
    copy_member(out, old, "nodeSelector");
    copy_member(out, old, "affinity");
  }
  return out;
}

void copy_resources(const Json& wanted, Json* spec) {
  for (const char* name : {"containers", "initContainers"}) {
    const Json& from = list_or_empty(wanted, name);
    const auto list = spec->find(name);
    if (list == spec->end() || !list->is_array()) continue;
    for (Json& container : *list) {
      for (const Json& one : from) {
        if (text_at(one, "name") != text_at(container, "name")) continue;
        copy_member(container, one, "resources");
        copy_member(container, one, "resizePolicy");
      }
    }
  }
}

/// Containers for debugging may be added, never changed or removed.
FieldErrors check_ephemeral(const Json& spec, const Json& old) {
  FieldErrors errors;
  const char* path = "spec.ephemeralContainers";
  std::set<std::string> names;
  for (const char* name : {"containers", "initContainers"}) {
    for (const Json& one : list_or_empty(spec, name)) names.insert(text_at(one, "name"));
  }
  const std::set<std::string> others = names;
  const Json& now = list_or_empty(spec, "ephemeralContainers");
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string here = index_path(path, i);
    const std::string& name = text_at(now[i], "name");
    if (name.empty()) errors.push_back(required(here + ".name"));
    if (text_at(now[i], "image").empty()) errors.push_back(required(here + ".image"));
    if (!names.insert(name).second) errors.push_back(duplicate(here + ".name", name));
    const std::string& target = text_at(now[i], "targetContainerName");
    if (!target.empty() && !others.contains(target)) {
      errors.push_back(not_found(here + ".targetContainerName", target));
    }
  }
  for (const Json& before : list_or_empty(old, "ephemeralContainers")) {
    const std::string& name = text_at(before, "name");
    const auto found = std::find_if(now.begin(), now.end(),
                                    [&](const Json& one) { return text_at(one, "name") == name; });
    if (found != now.end() && *found == before) continue;
    errors.push_back(forbidden(path, "existing ephemeral containers \"" + name + "\" may not be " +
                                         (found == now.end() ? "removed" : "changed")));
  }
  return errors;
}

class PodStrategy final : public GenericStrategy {
 public:
  PodStrategy() : GenericStrategy({.status = true, .generation = true}) {}

  void set_defaults(Json& pod) const override {
    Json& spec = object_in(pod, "spec");
    default_pod_spec(spec);
    default_to(spec, "enableServiceLinks", true);
    default_requests(spec);
  }

  void prepare_for_create(Json& pod, TimePoint now) const override {
    GenericStrategy::prepare_for_create(pod, now);
    Json& spec = pod["spec"];
    Json& status = pod["status"];
    status["qosClass"] = qos_class(spec);
    if (!list_or_empty(spec, "schedulingGates").empty()) {
      status["conditions"] = Json::array();
      status["conditions"].push_back(gated_condition(now));
    }
    spec["tolerations"] = tolerations_with_defaults(spec);
    if (text_at(spec, "priorityClassName").empty()) {
      default_to(spec, "priority", std::int64_t{0});
      default_to(spec, "preemptionPolicy", "PreemptLowerPriority");
    }
  }

  void prepare_for_update(Json& pod, const Json& old, TimePoint now) const override {
    if (!same_member(pod, old, "spec")) {
      pod["spec"]["tolerations"] = tolerations_with_defaults(pod["spec"]);
    }
    GenericStrategy::prepare_for_update(pod, old, now);
  }

  void prepare_for_status_update(Json& pod, const Json& old, TimePoint now) const override {
    GenericStrategy::prepare_for_status_update(pod, old, now);
    copy_member(object_in(pod, "metadata"), object_or_empty(old, {"metadata"}), "ownerReferences");
    Json& status = object_in(pod, "status");
    copy_member(status, object_or_empty(old, {"status"}), "qosClass");
    default_to(status, "phase", "Pending");
    fill_status_lists(status);
  }

  FieldErrors validate_create(const Json& pod) const override {
    FieldErrors errors;
    validate_pod_spec(object_or_empty(pod, {"spec"}), "spec", &errors);
    return errors;
  }

  FieldErrors validate_update(const Json& pod, const Json& old) const override {
    if (same_member(pod, old, "spec")) return {};
    FieldErrors errors = validate_create(pod);
    const Json& spec = object_or_empty(pod, {"spec"});
    const Json& before = object_or_empty(old, {"spec"});
    check_gates(spec, before, &errors);
    for (const char* name : {"containers", "initContainers"}) {
      if (list_or_empty(spec, name).size() != list_or_empty(before, name).size()) {
        errors.push_back(
            forbidden(join_path("spec", name), "pod updates may not add or remove containers"));
        return errors;
      }
    }
    check_deadline(spec, before, &errors);
    check_tolerations_kept(spec, before, &errors);
    const bool gated = !list_or_empty(before, "schedulingGates").empty();
    if (gated) check_selector_additions(spec, before, &errors);
    if (with_old_mutables(spec, before, gated) != before) {
      errors.push_back(forbidden("spec", only_these));
    }
    return errors;
  }

  void prepare_for_part(std::string_view subresource, Json& pod, const Json& old) const override {
    Json wanted = std::move(pod["spec"]);
    pod["spec"] = object_or_empty(old, {"spec"});
    Json& spec = pod["spec"];
    if (subresource == "resize") {
      copy_resources(wanted, &spec);
    } else {
      copy_member(spec, wanted, "ephemeralContainers");
    }
    GenericStrategy::prepare_for_update(pod, old, TimePoint());
  }

  FieldErrors validate_part(std::string_view subresource, const Json& pod,
                            const Json& old) const override {
    const Json& spec = object_or_empty(pod, {"spec"});
    const Json& before = object_or_empty(old, {"spec"});
    if (subresource == "ephemeralcontainers") return check_ephemeral(spec, before);
    FieldErrors errors = validate_create(pod);
    if (std::string_view(qos_class(spec)) != qos_class(before)) {
      errors.push_back(
          invalid("spec", qos_class(spec), "Pod QOS Class may not change as a result of resizing"));
    }
    return errors;
  }

  std::vector<std::string> warnings(const Json& pod) const override {
    return pod_warnings(pod, "");
  }
  std::vector<TableColumn> columns() const override { return pod_columns(); }
  std::vector<Json> cells(const Json& pod, TimePoint now) const override {
    return pod_cells(pod, now);
  }

  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& pod) const override {
    const bool host = true_at(object_or_empty(pod, {"spec"}), "hostNetwork");
    return {{"spec.nodeName", text_at(pod, {"spec", "nodeName"})},
            {"spec.restartPolicy", text_at(pod, {"spec", "restartPolicy"})},
            {"spec.schedulerName", text_at(pod, {"spec", "schedulerName"})},
            {"spec.serviceAccountName", text_at(pod, {"spec", "serviceAccountName"})},
            {"spec.hostNetwork", host ? "true" : "false"},
            {"status.phase", text_at(pod, {"status", "phase"})},
            {"status.podIP", text_at(pod, {"status", "podIP"})},
            {"status.nominatedNodeName", text_at(pod, {"status", "nominatedNodeName"})}};
  }

 protected:
  Json initial_status() const override {
    Json status = Json::object();
    status["phase"] = "Pending";
    return status;
  }

 private:
  /// Members that are written even when they are empty.
  static void fill_status_lists(Json& status) {
    const auto conditions = status.find("conditions");
    if (conditions != status.end() && conditions->is_array()) {
      for (Json& condition : *conditions) {
        if (condition.is_object() && !condition.contains("lastProbeTime")) {
          condition["lastProbeTime"] = nullptr;
        }
      }
    }
    const auto containers = status.find("containerStatuses");
    if (containers == status.end() || !containers->is_array()) return;
    for (Json& container : *containers) {
      default_object(container, "state");
      default_object(container, "lastState");
      default_to(container, "ready", false);
      default_to(container, "restartCount", std::int64_t{0});
      for (const char* name : {"image", "imageID"}) default_to(container, name, "");
    }
  }
};

}  // namespace

StrategyPtr pod_strategy() {
  return std::make_shared<PodStrategy>();
}

}  // namespace regatta::manifest::builtin
