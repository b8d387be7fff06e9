#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

#include <set>

namespace regatta::manifest::builtin {

namespace {

constexpr const char* not_ready = "node.kubernetes.io/not-ready";
constexpr std::string_view role_prefix = "node-role.kubernetes.io/";

std::string status_of(const Json& node) {
  const Json* conditions = member(node, {"status", "conditions"});
  const Json* ready = conditions == nullptr ? nullptr : condition_in(*conditions, "Ready");
  std::string out = "Unknown";
  if (ready != nullptr) out = text_at(*ready, "status") == "True" ? "Ready" : "NotReady";
  if (true_at(object_or_empty(node, {"spec"}), "unschedulable")) out += ",SchedulingDisabled";
  return out;
}

std::string roles_of(const Json& node) {
  std::set<std::string> roles;
  for (const auto& [key, value] : object_or_empty(node, {"metadata", "labels"}).items()) {
    if (key.starts_with(role_prefix) && key.size() > role_prefix.size()) {
      roles.insert(key.substr(role_prefix.size()));
    } else if (key == "kubernetes.io/role" && value.is_string()) {
      roles.insert(value.get<std::string>());
    }
  }
  std::string out;
  for (const std::string& role : roles) out += (out.empty() ? "" : ",") + role;
  return out.empty() ? "<none>" : out;
}

std::string address_of(const Json& node, std::string_view type) {
  for (const Json& address : list_or_empty(object_or_empty(node, {"status"}), "addresses")) {
    if (text_at(address, "type") == type) return text_at(address, "address");
  }
  return "<none>";
}

std::string info_of(const Json& node, std::string_view name) {
  const std::string& text = text_at(node, {"status", "nodeInfo", name});
  return text.empty() ? "<unknown>" : text;
}

class NodeStrategy final : public GenericStrategy {
 public:
  NodeStrategy() : GenericStrategy({.status = true, .keep_status_on_create = true}) {}

  void set_defaults(Json& node) const override {
    Json& spec = object_in(node, "spec");
    // podCIDR and podCIDRs are one field: the first range alone, and all ranges.
    const std::string range = text_at(spec, "podCIDR");
    const Json& ranges = list_or_empty(spec, "podCIDRs");
    if (!range.empty() && (ranges.empty() || ranges[0] != range)) {
      spec["podCIDRs"] = Json::array({range});
    } else if (range.empty() && !ranges.empty()) {
      spec["podCIDR"] = ranges[0];
    }
    Json& status = object_in(node, "status");
    Json& kubelet = object_in(object_in(status, "daemonEndpoints"), "kubeletEndpoint");
    default_to(kubelet, "Port", std::int64_t{0});
    Json& info = object_in(status, "nodeInfo");
    for (const char* name : {"machineID", "systemUUID", "bootID", "kernelVersion", "osImage",
                             "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion",
                             "operatingSystem", "architecture"}) {
      default_to(info, name, "");
    }
    if (const Json* capacity = member(status, "capacity")) {
      if (member(status, "allocatable") == nullptr) status["allocatable"] = *capacity;
    }
  }

  void prepare_for_create(Json& node, TimePoint now) const override {
    GenericStrategy::prepare_for_create(node, now);
    Json taints = list_or_empty(object_in(node, "spec"), "taints");
    for (const Json& taint : taints) {
      if (text_at(taint, "key") == not_ready && text_at(taint, "effect") == "NoSchedule") return;
    }
    Json taint = Json::object();
    taint["key"] = not_ready;
    taint["effect"] = "NoSchedule";
    taints.push_back(std::move(taint));
    node["spec"]["taints"] = std::move(taints);
  }

  FieldErrors validate_create(const Json& node) const override {
    FieldErrors errors;
    const Json& taints = list_or_empty(object_or_empty(node, {"spec"}), "taints");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < taints.size(); ++i) {
      const std::string path = index_path("metadata.taints", i);
      const std::string& key = text_at(taints[i], "key");
      const std::string& effect = text_at(taints[i], "effect");
      if (key.empty()) errors.push_back(invalid(path + ".key", "", "name part must be non-empty"));
      if (effect.empty()) {
        errors.push_back(required(path + ".effect"));
      } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
        errors.push_back(not_supported(path + ".effect", effect,
                                       {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
      }
      if (!seen.insert(key + ":" + effect).second) {
        errors.push_back(duplicate(path, taints[i]));
      }
    }
    return errors;
  }
  FieldErrors validate_update(const Json& node, const Json& old) const override {
    FieldErrors errors = validate_create(node);
    const Json& spec = object_or_empty(node, {"spec"});
    const Json& before = object_or_empty(old, {"spec"});
    if (!list_or_empty(before, "podCIDRs").empty() && !same_member(spec, before, "podCIDRs")) {
      errors.push_back(forbidden("spec.podCIDRs",
                                 "node updates may not change podCIDR except from \"\" to valid"));
    }
    const std::string& provider = text_at(before, "providerID");
    if (!provider.empty() && provider != text_at(spec, "providerID")) {
      errors.push_back(forbidden(
          "spec.providerID", "node updates may not change providerID except from \"\" to valid"));
    }
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(),
            column("Status", "string", "Whether the node is ready."),
            column("Roles", "string", "The roles its labels give it."),
            age_column(),
            column("Version", "string", "Version of its kubelet."),
            column("Internal-IP", "string", "Address inside the cluster.", 1),
            column("External-IP", "string", "Address outside the cluster.", 1),
            column("OS-Image", "string", "Operating system.", 1),
            column("Kernel-Version", "string", "Kernel.", 1),
            column("Container-Runtime", "string", "Container runtime.", 1)};
  }
  std::vector<Json> cells(const Json& node, TimePoint now) const override {
    return {name_cell(node),
            status_of(node),
            roles_of(node),
            age_cell(node, now),
            text_at(node, {"status", "nodeInfo", "kubeletVersion"}),
            address_of(node, "InternalIP"),
            address_of(node, "ExternalIP"),
            info_of(node, "osImage"),
            info_of(node, "kernelVersion"),
            info_of(node, "containerRuntimeVersion")};
  }
  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& node) const override {
    const bool off = true_at(object_or_empty(node, {"spec"}), "unschedulable");
    return {{"spec.unschedulable", off ? "true" : "false"}};
  }
};

}  // namespace

StrategyPtr node_strategy() {
  return std::make_shared<NodeStrategy>();
}

}  // namespace regatta::manifest::builtin
