#include "lib/manifest/builtin/admission.h"

#include "lib/api/quantity.h"
#include "lib/manifest/builtin/access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manifest {

namespace {

using namespace builtin;
using Refusal = std::optional<std::string>;

Refusal resolve_priority(Json& pod, const AdmissionView& view) {
  Json& spec = object_in(pod, "spec");
  const Json* chosen = nullptr;
  const std::string name = text_at(spec, "priorityClassName");
  constexpr std::string_view classes = "priorityclasses.scheduling.k8s.io";
  if (!name.empty()) {
    chosen = view.find(classes, "", name);
    if (chosen == nullptr) return "no PriorityClass with name " + name + " was found";
  } else {
    view.each(classes, "", [&](const Json& one) {
      const bool lower =
          chosen == nullptr || integer_at(one, "value") < integer_at(*chosen, "value");
      if (true_at(one, "globalDefault") && lower) chosen = &one;
    });
  }
  const std::int64_t computed = chosen == nullptr ? 0 : integer_at(*chosen, "value").value_or(0);
  const auto stated = integer_at(spec, "priority");
  if (stated && *stated != computed) {
    return "the integer value of priority (" + std::to_string(*stated) +
           ") must not be provided in pod spec; priority admission controller computed " +
           std::to_string(computed) + " from the given PriorityClass name";
  }
  const std::string policy =
      chosen == nullptr ? "PreemptLowerPriority" : text_at(*chosen, "preemptionPolicy");
  const std::string& wanted = text_at(spec, "preemptionPolicy");
  if (!wanted.empty() && wanted != policy) {
    return "the string value of PreemptionPolicy (" + wanted +
           ") must not be provided in pod spec; priority admission controller computed " + policy +
           " from the given PriorityClass name";
  }
  if (chosen == nullptr) return std::nullopt;
  spec["priorityClassName"] = text_at(*chosen, {"metadata", "name"});
  spec["priority"] = computed;
  spec["preemptionPolicy"] = policy;
  return std::nullopt;
}

void fill(Json& container, const char* which, const Json& defaults, const char* word,
          std::vector<std::string>* done) {
  for (const auto& [resource, amount] : defaults.items()) {
    Json& amounts = object_in(object_in(container, "resources"), which);
    if (amounts.contains(resource)) continue;
    amounts[resource] = amount;
    done->push_back(resource + " " + word + " for container " + text_at(container, "name"));
  }
}

void apply_limit_defaults(Json& pod, const Json& limit) {
  std::vector<std::string> done;
  for (Json& container : pod["spec"]["containers"]) {
    fill(container, "requests", object_or_empty(limit, {"defaultRequest"}), "request", &done);
    fill(container, "limits", object_or_empty(limit, {"default"}), "limit", &done);
  }
  if (done.empty()) return;
  std::string text = "LimitRanger plugin set: ";
  for (std::size_t i = 0; i < done.size(); ++i) text += (i == 0 ? "" : "; ") + done[i];
  object_in(object_in(pod, "metadata"), "annotations")["kubernetes.io/limit-ranger"] =
      std::move(text);
}

Refusal check_bound(const Json& container, const char* which, const Json& bounds, bool upper) {
  const Json& amounts = object_or_empty(container, {"resources", which});
  for (const auto& [resource, bound] : bounds.items()) {
    const Json* amount = member(amounts, resource);
    if (amount == nullptr || !amount->is_string() || !bound.is_string()) continue;
    const auto have = api::Quantity::parse(amount->get_ref<const std::string&>());
    const auto may = api::Quantity::parse(bound.get_ref<const std::string&>());
    if (!have || !may || (upper ? *have <= *may : *have >= *may)) continue;
    return std::string(upper ? "maximum " : "minimum ") + resource + " usage per Container is " +
           may->str() + ", but " + (upper ? "limit" : "request") + " is " + have->str();
  }
  return std::nullopt;
}

Refusal apply_limit_ranges(Json& pod, const std::string& ns, const AdmissionView& view) {
  Refusal refusal;
  if (list_or_empty(object_or_empty(pod, {"spec"}), "containers").empty()) return refusal;
  view.each("limitranges", ns, [&](const Json& range) {
    for (const Json& limit : list_or_empty(object_or_empty(range, {"spec"}), "limits")) {
      if (text_at(limit, "type") != "Container") continue;
      apply_limit_defaults(pod, limit);
      for (const Json& container : pod["spec"]["containers"]) {
        if (!refusal) {
          refusal = check_bound(container, "requests", object_or_empty(limit, {"min"}), false);
        }
        if (!refusal) {
          refusal = check_bound(container, "limits", object_or_empty(limit, {"max"}), true);
        }
      }
    }
  });
  return refusal;
}

/// Sets the overhead of the pod's runtime class on the pod.
Refusal apply_runtime_class(Json& pod, const AdmissionView& view) {
  Json& spec = object_in(pod, "spec");
  const std::string name = text_at(spec, "runtimeClassName");
  const Json* chosen = nullptr;
  if (!name.empty()) {
    chosen = view.find("runtimeclasses.node.k8s.io", "", name);
    if (chosen == nullptr) return "pod rejected: RuntimeClass \"" + name + "\" not found";
  }
  const Json* overhead = chosen == nullptr ? nullptr : member(*chosen, "overhead");
  const Json* stated = member(spec, "overhead");
  if (overhead == nullptr) {
    if (stated == nullptr) return std::nullopt;
    return "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
  }
  const Json& fixed = object_or_empty(*overhead, {"podFixed"});
  if (stated != nullptr && *stated != fixed) {
    return "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
  }
  spec["overhead"] = fixed;
  return std::nullopt;
}

Refusal apply_scheduling(Json& pod, const AdmissionView& view) {
  Json& spec = object_in(pod, "spec");
  const std::string name = text_at(spec, "runtimeClassName");
  if (name.empty()) return std::nullopt;
  const Json* chosen = view.find("runtimeclasses.node.k8s.io", "", name);
  const Json* scheduling = chosen == nullptr ? nullptr : member(*chosen, "scheduling");
  if (scheduling == nullptr) return std::nullopt;
  for (const auto& [key, value] : object_or_empty(*scheduling, {"nodeSelector"}).items()) {
    Json& mine = object_in(spec, "nodeSelector")[key];
    if (!mine.is_null() && mine != value) {
      return "conflict: runtimeClass.scheduling.nodeSelector[" + key + "] = " + dump_json(value) +
             "; pod.spec.nodeSelector[" + key + "] = " + dump_json(mine);
    }
    mine = value;
  }
  for (const Json& toleration : list_or_empty(*scheduling, "tolerations")) {
    Json& mine = spec["tolerations"];
    if (std::find(mine.begin(), mine.end(), toleration) == mine.end()) mine.push_back(toleration);
  }
  return std::nullopt;
}

Refusal check_quota(std::string_view resource, const Json& quota) {
  const std::string counted = "count/" + std::string(resource);
  for (const std::string& key : {counted, std::string(resource)}) {
    const Json* hard_text = member(quota, {"status", "hard", key});
    const Json* used_text = member(quota, {"status", "used", key});
    if (hard_text == nullptr || used_text == nullptr || !hard_text->is_string() ||
        !used_text->is_string()) {
      continue;
    }
    const auto hard = api::Quantity::parse(hard_text->get_ref<const std::string&>());
    const auto used = api::Quantity::parse(used_text->get_ref<const std::string&>());
    if (!hard || !used || *used + api::Quantity(1) <= *hard) continue;
    return "exceeded quota: " + text_at(quota, {"metadata", "name"}) + ", requested: " + key +
           "=1, used: " + key + "=" + used->str() + ", limited: " + key + "=" + hard->str();
  }
  return std::nullopt;
}

SeedObject seed(const char* group, const char* version, const char* plural, const char* kind,
                const char* name) {
  SeedObject out{group, version, plural, Json::object()};
  out.object["apiVersion"] =
      *group == 0 ? std::string(version) : std::string(group) + "/" + version;
  out.object["kind"] = kind;
  out.object["metadata"]["name"] = name;
  return out;
}

}  // namespace

std::optional<std::string> admit_create(std::string_view resource, Json& object,
                                        const AdmissionView& view) {
  const std::string ns = text_at(object, {"metadata", "namespace"});
  if (resource == "pods") {
    if (Refusal refusal = apply_limit_ranges(object, ns, view)) return refusal;
    if (Refusal refusal = resolve_priority(object, view)) return refusal;
    if (Refusal refusal = apply_runtime_class(object, view)) return refusal;
    if (Refusal refusal = apply_scheduling(object, view)) return refusal;
  }
  Refusal refusal;
  if (resource == "priorityclasses.scheduling.k8s.io" && true_at(object, "globalDefault")) {
    view.each("priorityclasses.scheduling.k8s.io", "", [&](const Json& other) {
      if (!true_at(other, "globalDefault")) return;
      refusal = "PriorityClass " + text_at(other, {"metadata", "name"}) +
                " is already marked as default. Only one default can exist";
    });
  }
  if (ns.empty()) return refusal;
  view.each("resourcequotas", ns, [&](const Json& quota) {
    if (!refusal) refusal = check_quota(resource, quota);
  });
  return refusal;
}

std::vector<SeedObject> seed_objects() {
  std::vector<SeedObject> list;
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    list.push_back(seed("", "v1", "namespaces", "Namespace", name));
  }
  const auto add_class = [&](const char* name, std::int64_t value, const char* description) {
    SeedObject one = seed("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", name);
    one.object["value"] = value;
    one.object["description"] = description;
    list.push_back(std::move(one));
  };
  add_class("system-node-critical", 2'000'001'000, "For pods a node cannot do without.");
  add_class("system-cluster-critical", 2'000'000'000, "For pods the cluster cannot do without.");
  return list;
}

}  // namespace regatta::manifest
