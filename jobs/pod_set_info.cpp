#include "jobs/pod_set_info.h"

#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::jobs {
namespace {

Status merge_map(const char* what, const api::StringMap& from, api::StringMap* into) {
  for (const auto& [key, value] : from) {
    const auto [it, fresh] = into->try_emplace(key, value);
    if (!fresh && it->second != value) {
      return Error(Errc::invalid, std::string("conflict for ") + what + " \"" + key + "\": \"" +
                                      it->second + "\" and \"" + value + "\"");
    }
  }
  return ok();
}

/// `object[name]` as an object, which is created if it is missing or null.
Json& child(Json& object, const char* name) {
  Json& value = object[name];
  if (!value.is_object()) value = Json::object();
  return value;
}

Status merge_into(const char* what, const api::StringMap& from, Json& parent, const char* name) {
  if (from.empty()) return ok();
  Json& into = child(parent, name);
  for (const auto& [key, value] : from) {
    const auto found = into.find(key);
    if (found == into.end()) {
      into[key] = value;
    } else if (!found->is_string() || found->get_ref<const std::string&>() != value) {
      return Error(Errc::invalid, std::string("conflict for ") + what + " \"" + key +
                                      "\": the job has " + dump_json(*found) +
                                      ", its admission wants \"" + value + "\"");
    }
  }
  return ok();
}

Json toleration_json(const api::Toleration& t) {
  Json out = Json::object();
  if (!t.key.empty()) out["key"] = t.key;
  if (!t.op.empty()) out["operator"] = t.op;
  if (!t.value.empty()) out["value"] = t.value;
  if (!t.effect.empty()) out["effect"] = t.effect;
  if (t.toleration_seconds) out["tolerationSeconds"] = *t.toleration_seconds;
  return out;
}

/// Appends the items that the list does not hold yet.
void add_missing(Json& spec, const char* name, std::vector<Json> items) {
  if (items.empty()) return;
  Json& list = spec[name];
  if (!list.is_array()) list = Json::array();
  for (Json& item : items) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
  }
}

/// A later slice of an elastic job was made of the running template, and so was what the job is
/// restored to: it names an earlier slice.
void forget_slice(const PodSetInfo& info, Json& metadata) {
  const std::string chain(api::annotations::workload_slice_name);
  if (!info.annotations.contains(chain) || !metadata.contains("annotations")) return;
  Json& annotations = metadata["annotations"];
  if (!annotations.is_object()) return;
  for (const std::string& name : {chain, std::string(api::annotations::workload)}) {
    if (info.annotations.contains(name)) annotations.erase(name);
  }
}

void restore_field(Json& running, const Json& original, const char* part, const char* field) {
  const auto source = original.find(part);
  const bool has = source != original.end() && source->is_object() && source->contains(field);
  if (has) {
    child(running, part)[field] = (*source)[field];
  } else if (running.contains(part) && running[part].is_object()) {
    running[part].erase(field);
  }
}

}  // namespace

Result<PodSetInfo> merged(PodSetInfo info, const PodSetInfo& more) {
  if (Status s = merge_map("label", more.labels, &info.labels); !s) return s.error();
  if (Status s = merge_map("annotation", more.annotations, &info.annotations); !s) return s.error();
  if (Status s = merge_map("nodeSelector", more.node_selector, &info.node_selector); !s) {
    return s.error();
  }
  const auto add = [](auto& all, const auto& items) {
    for (const auto& item : items) {
      if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(item);
    }
  };
  add(info.tolerations, more.tolerations);
  add(info.scheduling_gates, more.scheduling_gates);
  return info;
}

Result<Json> with_info(Json pod_template, const PodSetInfo& info) {
  if (!pod_template.is_object()) return Error(Errc::invalid, "the pod template is no object");
  Json& metadata = child(pod_template, "metadata");
  forget_slice(info, metadata);
  if (Status s = merge_into("label", info.labels, metadata, "labels"); !s) return s.error();
  if (Status s = merge_into("annotation", info.annotations, metadata, "annotations"); !s) {
    return s.error();
  }
  Json& spec = child(pod_template, "spec");
  if (Status s = merge_into("nodeSelector", info.node_selector, spec, "nodeSelector"); !s) {
    return s.error();
  }
  std::vector<Json> tolerations;
  tolerations.reserve(info.tolerations.size());
  for (const api::Toleration& one : info.tolerations) tolerations.push_back(toleration_json(one));
  add_missing(spec, "tolerations", std::move(tolerations));
  std::vector<Json> gates;
  gates.reserve(info.scheduling_gates.size());
  for (const std::string& name : info.scheduling_gates) gates.push_back({{"name", name}});
  add_missing(spec, "schedulingGates", std::move(gates));
  return pod_template;
}

Json restored(Json running, const Json& original) {
  if (!running.is_object() || !original.is_object()) return original;
  restore_field(running, original, "metadata", "labels");
  restore_field(running, original, "metadata", "annotations");
  restore_field(running, original, "spec", "nodeSelector");
  restore_field(running, original, "spec", "tolerations");
  restore_field(running, original, "spec", "schedulingGates");
  return running;
}

}  // namespace regatta::jobs
