#include "jobs/pod_set_info.h"

#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace regatta::jobs {
namespace {

Error conflict(const std::string& what, const std::string& key, const std::string& one,
               const std::string& other) {
  return Error(Errc::invalid, "invalid admission check PodSetUpdate: conflict for " + what +
                                  ": conflict for key=" + key + ", value1=" + one +
                                  ", value2=" + other);
}

Status merge_map(const char* what, const api::StringMap& from, api::StringMap* into) {
  for (const auto& [key, value] : from) {
    const auto [it, fresh] = into->try_emplace(key, value);
    if (!fresh && it->second != value) {
      return conflict(what, key, it->second, value);
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
      return conflict(what, key, found->is_string() ? found->get<std::string>() : dump_json(*found),
                      value);
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

/// The value without nulls, empty objects and empty lists, which mean the same as absent fields.
Json slim(const Json& value) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value) out.push_back(slim(item));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [key, item] : value.items()) {
    Json kept = slim(item);
    if (!kept.is_null() && !(kept.is_structured() && kept.empty())) out[key] = std::move(kept);
  }
  return out;
}

Json spec_part(const Json& pod_template, const char* field) {
  const auto spec = pod_template.find("spec");
  if (spec == pod_template.end() || !spec->is_object()) return Json();
  const auto found = spec->find(field);
  return found == spec->end() ? Json() : slim(*found);
}

/// Whether variables were named twice.
bool make_env_unique(Json& container) {
  const auto env = container.is_object() ? container.find("env") : container.end();
  if (!container.is_object() || env == container.end() || !env->is_array()) return false;
  Json kept = Json::array();
  std::map<std::string, std::size_t> places;
  for (const Json& one : *env) {
    const std::string name = one.is_object() ? one.value("name", Json("")).dump() : one.dump();
    const auto [place, fresh] = places.try_emplace(name, kept.size());
    if (fresh) {
      kept.push_back(one);
    } else {
      kept[place->second] = one;
    }
  }
  if (kept.size() == env->size()) return false;
  *env = std::move(kept);
  return true;
}

bool make_env_unique_in(Json& containers) {
  bool changed = false;
  if (!containers.is_array()) return changed;
  for (Json& one : containers) changed = make_env_unique(one) || changed;
  return changed;
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
  if (Status s = merge_map("labels", more.labels, &info.labels); !s) return s.error();
  if (Status s = merge_map("annotations", more.annotations, &info.annotations); !s)
    return s.error();
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
  if (Status s = merge_into("labels", info.labels, metadata, "labels"); !s) return s.error();
  if (Status s = merge_into("annotations", info.annotations, metadata, "annotations"); !s) {
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

namespace {

/// The CRD of Workloads has defaults in containers that the CRD of a job need not have, as where it
/// does not look into pod templates.
void fill_defaults_in(Json& containers) {
  if (!containers.is_array()) return;
  const auto fill = [](Json& holder, const char* name, const char* value) {
    if (holder.is_object() && !holder.contains(name)) holder[name] = value;
  };
  for (Json& container : containers) {
    if (list_at(container, "ports")) {
      for (Json& port : container["ports"]) fill(port, "protocol", "TCP");
    }
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
      if (!object_at(object_or_empty(container, {probe}), "grpc")) continue;
      fill(container[probe]["grpc"], "service", "");
    }
  }
}

}  // namespace

bool same_pods(const Json& one, const Json& other, bool with_tolerations) {
  for (const char* field : {"containers", "initContainers"}) {
    Json mine = spec_part(one, field), theirs = spec_part(other, field);
    for (Json* containers : {&mine, &theirs}) {
      make_env_unique_in(*containers);
      fill_defaults_in(*containers);
    }
    if (mine != theirs) return false;
  }
  return !with_tolerations || spec_part(one, "tolerations") == spec_part(other, "tolerations");
}

api::PodTemplate with_unique_env(const api::PodTemplate& pod_template) {
  if (pod_template.raw().text().find("\"env\"") == std::string::npos) return pod_template;
  Json changed = pod_template.json();
  Json& spec = changed["spec"];
  bool twice = false;
  for (const char* field : {"containers", "initContainers"}) {
    if (spec.contains(field)) twice = make_env_unique_in(spec[field]) || twice;
  }
  if (!twice) return pod_template;
  auto made = api::PodTemplate::from(changed);
  return made ? *made : pod_template;
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
