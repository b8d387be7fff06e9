#include "jobs/role_hash.h"

#include "lib/api/quantity.h"
#include "lib/base/digest.h"
#include "lib/base/json_access.h"
#include "lib/base/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

namespace regatta::jobs {
namespace {

using Names = std::vector<std::string_view>;

/// Fields of an object of the API stand in the order of its type, keys of a map in alphabetical
/// order. An object is known by the field that holds it.
const Names* order_in(std::string_view holder) {
  static const Names term = {"labelSelector",     "namespaces",     "topologyKey",
                             "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"};
  static const Names kinds_of_affinity = {"requiredDuringSchedulingIgnoredDuringExecution",
                                          "preferredDuringSchedulingIgnoredDuringExecution"};
  static const Names node_terms = {"matchExpressions", "matchFields"};
  static const Names requirement = {"key", "operator", "values"};
  static const Names selector = {"matchLabels", "matchExpressions"};
  static const std::map<std::string_view, Names> orders = {
      {"ports", {"name", "hostPort", "containerPort", "protocol", "hostIP"}},
      {"tolerations", {"key", "operator", "value", "effect", "tolerationSeconds"}},
      {"affinity", {"nodeAffinity", "podAffinity", "podAntiAffinity"}},
      {"nodeAffinity", kinds_of_affinity},
      {"podAffinity", kinds_of_affinity},
      {"podAntiAffinity", kinds_of_affinity},
      {"requiredDuringSchedulingIgnoredDuringExecution", term},
      {"podAffinityTerm", term},
      {"preferredDuringSchedulingIgnoredDuringExecution",
       {"weight", "preference", "podAffinityTerm"}},
      {"nodeSelectorTerms", node_terms},
      {"preference", node_terms},
      {"matchExpressions", requirement},
      {"matchFields", requirement},
      {"labelSelector", selector},
      {"namespaceSelector", selector},
      {"topologySpreadConstraints",
       {"maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", "minDomains",
        "nodeAffinityPolicy", "nodeTaintsPolicy", "matchLabelKeys"}},
      {"resourceClaims", {"name", "resourceClaimName", "resourceClaimTemplateName"}},
  };
  const auto found = orders.find(holder);
  return found == orders.end() ? nullptr : &found->second;
}

std::string scalar_text(const Json& value) {
  std::string out;
  append_json(out, value, Escapes::html);
  return out;
}

bool is_empty(const Json& value) {
  return value.is_null() || value == "" || (value.is_structured() && value.empty());
}

std::string text_of(const Json& value, std::string_view holder);

std::string object_text(const Json& object, const Names* order, std::string_view) {
  std::string out;
  const auto write = [&](const std::string& key, const Json& value) {
    if (order && is_empty(value)) return;
    out += (out.empty() ? "" : ",") + scalar_text(key) + ":" + text_of(value, key);
  };
  if (order) {
    for (const std::string_view name : *order) {
      if (object.contains(name)) write(std::string(name), object[std::string(name)]);
    }
  }
  for (const auto& [key, value] : object.items()) {
    const bool written = order && std::find(order->begin(), order->end(), key) != order->end();
    if (!written) write(key, value);
  }
  return "{" + out + "}";
}

std::string text_of(const Json& value, std::string_view holder) {
  if (value.is_object()) return object_text(value, order_in(holder), holder);
  if (!value.is_array()) return scalar_text(value);
  std::string out;
  for (const Json& one : value) out += (out.empty() ? "" : ",") + text_of(one, holder);
  return "[" + out + "]";
}

/// What is empty counts as absent.
Json field(const Json& object, const char* name) {
  const Json& value = at_or_null(object, name);
  return is_empty(value) ? Json() : value;
}

Json quantities(const Json& object, const char* name) {
  Json out = field(object, name);
  if (!out.is_object()) return out;
  for (Json& one : out) {
    const auto read = api::Quantity::parse(one.is_string() ? one.get<std::string>() : one.dump());
    if (read) one = read->str();
  }
  return out;
}

Json containers(const Json& spec, const char* name) {
  Json out;
  for (const Json& one : list_or_empty(spec, name)) {
    const Json& resources = object_or_empty(one, {"resources"});
    out.push_back(Json{{"ports", field(one, "ports")},
                       {"resources", {{"requests", quantities(resources, "requests")}}}});
  }
  return out;
}

}  // namespace

Json pod_shape(const Json& pod_spec) {
  Json shape{{"containers", containers(pod_spec, "containers")},
             {"initContainers", containers(pod_spec, "initContainers")},
             {"overhead", quantities(pod_spec, "overhead")}};
  for (const char* name : {"affinity", "nodeSelector", "priority", "resourceClaims",
                           "runtimeClassName", "tolerations", "topologySpreadConstraints"}) {
    shape[name] = field(pod_spec, name);
  }
  const Json& own = object_or_empty(pod_spec, {"resources"});
  if (Json requests = quantities(own, "requests"); !requests.is_null()) {
    shape["resources"] = std::move(requests);
  }
  return shape;
}

std::string role_hash(const Json& pod_spec) {
  return sha256_hex(text_of(Json{{"spec", pod_shape(pod_spec)}}, "")).substr(0, 8);
}

}  // namespace regatta::jobs
