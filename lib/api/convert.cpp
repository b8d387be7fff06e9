#include "lib/api/convert.h"

#include "lib/api/convert_topology.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::api {
namespace {

/// The member when it is an object, else null.
Json* object_at(Json& parent, std::string_view name) {
  if (!parent.is_object()) return nullptr;
  const auto it = parent.find(name);
  return it != parent.end() && it->is_object() ? &*it : nullptr;
}

void rename(Json* parent, const std::string& from, const std::string& to) {
  if (!parent) return;
  const auto it = parent->find(from);
  if (it == parent->end()) return;
  Json value = std::move(*it);
  parent->erase(it);
  if (!parent->contains(to)) (*parent)[to] = std::move(value);
}

void erase(Json* parent, const char* name) {
  if (parent) parent->erase(name);
}

/// Calls `visit` with every element of the list that is an object.
template <class F>
void each(Json* parent, const char* name, F visit) {
  if (!parent) return;
  const auto it = parent->find(name);
  if (it == parent->end() || !it->is_array()) return;
  for (Json& item : *it) {
    if (item.is_object()) visit(item);
  }
}

void cluster_queue_up(Json& object) {
  if (Json* spec = object_at(object, "spec")) {
    rename(spec, "cohort", "cohortName");
    const auto flat = spec->find("admissionChecks");
    if (flat != spec->end()) {
      Json rules = Json::array();
      if (flat->is_array()) {
        for (const Json& name : *flat) rules.push_back(Json{{"name", name}});
      }
      spec->erase("admissionChecks");
      if (!rules.empty()) {  // the plain list wins over a strategy
        (*spec)["admissionChecksStrategy"] = Json{{"admissionChecks", std::move(rules)}};
      }
    }
    if (Json* fungibility = object_at(*spec, "flavorFungibility")) {
      if (text_at(*fungibility, "whenCanBorrow") == "Borrow") {
        (*fungibility)["whenCanBorrow"] = "MayStopSearch";
      }
      if (text_at(*fungibility, "whenCanPreempt") == "Preempt") {
        (*fungibility)["whenCanPreempt"] = "MayStopSearch";
      }
    }
  }
  Json* status = object_at(object, "status");
  erase(status, "pendingWorkloadsStatus");
  if (status) erase(object_at(*status, "fairSharing"), "admissionFairSharingStatus");
}

void cluster_queue_down(Json& object) {
  Json* spec = object_at(object, "spec");
  rename(spec, "cohortName", "cohort");
  erase(spec, "concurrentAdmissionPolicy");
}

void cohort_up(Json& object) {
  if (Json* status = object_at(object, "status")) {
    erase(object_at(*status, "fairSharing"), "admissionFairSharingStatus");
  }
}

void local_queue_up(Json& object) {
  Json* status = object_at(object, "status");
  rename(status, "flavorUsage", "flavorsUsage");
  erase(status, "flavors");
}

void local_queue_down(Json& object) {
  rename(object_at(object, "status"), "flavorsUsage", "flavorUsage");
}

void cluster_up(Json& object) {
  Json* spec = object_at(object, "spec");
  if (!spec || spec->contains("clusterSource")) return;
  Json source = Json::object();
  if (Json* config = object_at(*spec, "kubeConfig")) {
    if (!text_at(*config, "location").empty()) source["kubeConfig"] = std::move(*config);
  }
  if (Json* profile = object_at(*spec, "clusterProfileRef")) {
    source["clusterProfileRef"] = std::move(*profile);
  }
  spec->erase("kubeConfig");
  spec->erase("clusterProfileRef");
  (*spec)["clusterSource"] = std::move(source);
}

void cluster_down(Json& object) {
  Json* spec = object_at(object, "spec");
  Json* source = spec ? object_at(*spec, "clusterSource") : nullptr;
  if (!source) return;
  Json config{{"location", ""}, {"locationType", ""}};
  if (Json* given = object_at(*source, "kubeConfig")) config = std::move(*given);
  Json profile;
  if (Json* given = object_at(*source, "clusterProfileRef")) profile = std::move(*given);
  spec->erase("clusterSource");
  (*spec)["kubeConfig"] = std::move(config);
  if (!profile.is_null()) (*spec)["clusterProfileRef"] = std::move(profile);
}

void priority_up(Json& spec) {
  const std::string name = text_at(spec, "priorityClassName");
  const std::string source = text_at(spec, "priorityClassSource");
  spec.erase("priorityClassName");
  spec.erase("priorityClassSource");
  const bool pod = source == priority::pod_source;
  if (!pod && source != priority::workload_source) return;
  Json& reference = spec["priorityClassRef"] =
      Json{{"group", std::string(pod ? priority::pod_group : priority::workload_group)},
           {"kind", std::string(pod ? priority::pod_kind : priority::workload_kind)}};
  if (!name.empty()) reference["name"] = name;
}

/// A reference to anything but the two kinds has no older form.
void priority_down(Json& spec) {
  const Json reference = std::move(spec["priorityClassRef"]);
  spec.erase("priorityClassRef");
  const auto refers_to = [&](std::string_view group, std::string_view kind) {
    return text_at(reference, "group") == group && text_at(reference, "kind") == kind;
  };
  const bool workload = refers_to(priority::workload_group, priority::workload_kind);
  if (!workload && !refers_to(priority::pod_group, priority::pod_kind)) return;
  if (const std::string& name = text_at(reference, "name"); !name.empty()) {
    spec["priorityClassName"] = name;
  }
  spec["priorityClassSource"] =
      std::string(workload ? priority::workload_source : priority::pod_source);
}

template <class F>
Status each_assignment(Json& object, F convert_one) {
  Status status;
  Json* parent = object_at(object, "status");
  each(parent ? object_at(*parent, "admission") : nullptr, "podSetAssignments", [&](Json& item) {
    Json* topology = object_at(item, "topologyAssignment");
    if (topology && status) status = convert_one(*topology);
  });
  return status;
}

Status workload_up(Json& object, const ConvertOptions& options) {
  if (Json* spec = object_at(object, "spec")) priority_up(*spec);
  rename(object_at(object, "status"), "accumulatedPastExexcutionTimeSeconds",
         "accumulatedPastExecutionTimeSeconds");
  return each_assignment(object, [&](Json& assignment) {
    return encode_topology(assignment, options.hostname_prefixes);
  });
}

Status workload_down(Json& object, DomainAllowance* allowance) {
  if (Json* spec = object_at(object, "spec")) {
    priority_down(*spec);
    spec->erase("preemptionGates");
    each(spec, "podSets", [](Json& set) {
      erase(object_at(set, "topologyRequest"), "podsetSliceRequiredTopologyConstraints");
    });
  }
  Json* state = object_at(object, "status");
  rename(state, "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds");
  erase(state, "preemptionGates");
  DomainAllowance own;
  return each_assignment(object, [&](Json& assignment) {
    return decode_topology(assignment, allowance ? allowance : &own);
  });
}

Status run(Json& object, const std::string& kind, bool up, const ConvertOptions& options) {
  if (kind == "Workload") {
    return up ? workload_up(object, options) : workload_down(object, options.allowance);
  }
  if (kind == "ClusterQueue") {
    up ? cluster_queue_up(object) : cluster_queue_down(object);
  } else if (kind == "LocalQueue") {
    up ? local_queue_up(object) : local_queue_down(object);
  } else if (kind == "Cohort" && up) {
    cohort_up(object);
  } else if (kind == "MultiKueueCluster") {
    up ? cluster_up(object) : cluster_down(object);
  }
  return ok();
}

bool known(std::string_view version) {
  return version == "v1beta1" || version == "v1beta2";
}

}  // namespace

Status convert(Json& object, std::string_view from_version, std::string_view to_version) {
  return convert(object, from_version, to_version, ConvertOptions());
}

Status convert(Json& object, std::string_view from_version, std::string_view to_version,
               const ConvertOptions& options) {
  if (!object.is_object()) return Error(Errc::invalid, "expected an object");
  if (!known(from_version) || !known(to_version)) {
    const std::string_view bad = known(from_version) ? to_version : from_version;
    return Error(Errc::invalid,
                 "unknown version \"" + std::string(bad) + "\" of group kueue.x-k8s.io");
  }
  if (from_version != to_version) {
    const Status status = run(object, text_at(object, "kind"), to_version == "v1beta2", options);
    if (!status) return status;
  }
  object["apiVersion"] = std::string(kueue_group) + "/" + std::string(to_version);
  return ok();
}

}  // namespace regatta::api
