#include "lib/api/quantity.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/builtin/workloads.h"

#include <nlohmann/json.hpp>

#include <map>

namespace regatta::manifest::builtin {

namespace {

/// What tables show between the name and the age, and what a kind fills in.
struct Shown {
  Traits traits;
  std::vector<TableColumn> columns;
  std::vector<Json> (*cells)(const Json& object) = nullptr;
  void (*defaults)(Json& object) = nullptr;
  void (*validate)(const Json& object, FieldErrors* errors) = nullptr;
  const char* status = "{}";
  std::vector<TableColumn> wide_columns{};  ///< after the age
  std::vector<Json> (*wide_cells)(const Json& object) = nullptr;
};

class ShownStrategy final : public GenericStrategy {
 public:
  explicit ShownStrategy(Shown shown) : GenericStrategy(shown.traits), shown_(std::move(shown)) {}

  void set_defaults(Json& object) const override {
    if (shown_.defaults != nullptr && object.is_object()) shown_.defaults(object);
  }

  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    if (shown_.validate != nullptr) shown_.validate(object, &errors);
    return errors;
  }
  FieldErrors validate_update(const Json& object, const Json&) const override {
    return validate_create(object);
  }

  std::vector<TableColumn> columns() const override {
    std::vector<TableColumn> columns = {name_column()};
    columns.insert(columns.end(), shown_.columns.begin(), shown_.columns.end());
    columns.push_back(age_column());
    columns.insert(columns.end(), shown_.wide_columns.begin(), shown_.wide_columns.end());
    return columns;
  }

  std::vector<Json> cells(const Json& object, TimePoint now) const override {
    std::vector<Json> cells = {name_cell(object)};
    for (Json& cell : shown_.cells(object)) cells.push_back(std::move(cell));
    cells.emplace_back(age_cell(object, now));
    if (shown_.wide_cells == nullptr) return cells;
    for (Json& cell : shown_.wide_cells(object)) cells.push_back(std::move(cell));
    return cells;
  }

 protected:
  Json initial_status() const override { return Json::parse(shown_.status); }

 private:
  Shown shown_;
};

std::string or_none(std::string text) {
  return text.empty() ? "<none>" : std::move(text);
}

const Json& spec_of(const Json& object) {
  return object_or_empty(object, {"spec"});
}
const Json& status_of(const Json& object) {
  return object_or_empty(object, {"status"});
}

std::string joined(const Json& list, const char* between = ",") {
  std::string all;
  for (const Json& item : list) {
    if (item.is_string()) all += (all.empty() ? "" : between) + item.get<std::string>();
  }
  return all;
}

/// "RWO,ROX".
std::string access_modes(const Json& modes) {
  static const std::map<std::string, std::string> short_names = {{"ReadWriteOnce", "RWO"},
                                                                 {"ReadOnlyMany", "ROX"},
                                                                 {"ReadWriteMany", "RWX"},
                                                                 {"ReadWriteOncePod", "RWOP"}};
  std::string all;
  for (const Json& mode : modes) {
    const auto found =
        mode.is_string() ? short_names.find(mode.get<std::string>()) : short_names.end();
    if (found != short_names.end()) all += (all.empty() ? "" : ",") + found->second;
  }
  return all;
}

/// A number or a percentage.
std::string amount(const Json& object, const char* name, const char* missing) {
  const Json* value = member(object, name);
  if (value == nullptr) return missing;
  return value->is_string() ? value->get<std::string>() : value->dump();
}

Shown volume_claims() {
  Shown shown{.traits = {.status = true}};
  shown.columns = {column("Status", "string", "Whether it is bound."),
                   column("Volume", "string", "What it is bound to."),
                   column("Capacity", "string", "Size of the volume."),
                   column("Access Modes", "string", "How it can be mounted."),
                   column("StorageClass", "string", "Where the volume comes from."),
                   column("VolumeAttributesClass", "string", "Attributes of the volume.")};
  shown.wide_columns = {column("VolumeMode", "string", "File system or block device.", 1)};
  shown.defaults = [](Json& claim) {
    default_to(object_in(claim, "spec"), "volumeMode", "Filesystem");
  };
  shown.status = R"({"phase":"Pending"})";
  shown.cells = [](const Json& claim) -> std::vector<Json> {
    const Json& status = status_of(claim);
    const bool bound = !text_at(spec_of(claim), "volumeName").empty();
    const bool deleting = member(claim, {"metadata", "deletionTimestamp"}) != nullptr;
    return {deleting ? "Terminating" : text_at(status, "phase"),
            text_at(spec_of(claim), "volumeName"),
            bound ? text_at(status, {"capacity", "storage"}) : "",
            bound ? access_modes(list_or_empty(status, "accessModes")) : "",
            text_at(spec_of(claim), "storageClassName"),
            amount(spec_of(claim), "volumeAttributesClassName", "<unset>")};
  };
  shown.wide_cells = [](const Json& claim) -> std::vector<Json> {
    return {text_at(spec_of(claim), "volumeMode")};
  };
  return shown;
}

Shown volumes() {
  Shown shown{.traits = {.status = true}};
  shown.columns = {column("Capacity", "string", "Its size."),
                   column("Access Modes", "string", "How it can be mounted."),
                   column("Reclaim Policy", "string", "What becomes of it after its claim."),
                   column("Status", "string", "Whether it is bound."),
                   column("Claim", "string", "What it is bound to."),
                   column("StorageClass", "string", "The class it belongs to."),
                   column("VolumeAttributesClass", "string", "Its attributes."),
                   column("Reason", "string", "Why it is in its state.")};
  shown.wide_columns = {column("VolumeMode", "string", "File system or block device.", 1)};
  shown.defaults = [](Json& volume) {
    Json& spec = object_in(volume, "spec");
    default_to(spec, "persistentVolumeReclaimPolicy", "Retain");
    default_to(spec, "volumeMode", "Filesystem");
  };
  shown.status = R"({"phase":"Pending"})";
  shown.cells = [](const Json& volume) -> std::vector<Json> {
    const Json& spec = spec_of(volume);
    const Json* claim = member(spec, "claimRef");
    return {text_at(spec, {"capacity", "storage"}),
            access_modes(list_or_empty(spec, "accessModes")),
            text_at(spec, "persistentVolumeReclaimPolicy"),
            text_at(status_of(volume), "phase"),
            claim == nullptr ? "" : text_at(*claim, "namespace") + "/" + text_at(*claim, "name"),
            text_at(spec, "storageClassName"),
            amount(spec, "volumeAttributesClassName", "<unset>"),
            text_at(status_of(volume), "reason")};
  };
  shown.wide_cells = [](const Json& volume) -> std::vector<Json> {
    return {text_at(spec_of(volume), "volumeMode")};
  };
  return shown;
}

Shown storage_classes() {
  Shown shown;
  shown.columns = {column("Provisioner", "string", "Who makes the volumes."),
                   column("ReclaimPolicy", "string", "What becomes of them after their claims."),
                   column("VolumeBindingMode", "string", "When they are made."),
                   column("AllowVolumeExpansion", "boolean", "Whether they can grow.")};
  shown.defaults = [](Json& storage) {
    default_to(storage, "reclaimPolicy", "Delete");
    default_to(storage, "volumeBindingMode", "Immediate");
  };
  shown.cells = [](const Json& storage) -> std::vector<Json> {
    return {text_at(storage, "provisioner"), text_at(storage, "reclaimPolicy"),
            text_at(storage, "volumeBindingMode"), true_at(storage, "allowVolumeExpansion")};
  };
  return shown;
}

std::string hosts_of(const Json& ingress) {
  std::string all;
  for (const Json& rule : list_or_empty(spec_of(ingress), "rules")) {
    const std::string& host = text_at(rule, "host");
    if (!host.empty()) all += (all.empty() ? "" : ",") + host;
  }
  return all.empty() ? "*" : all;
}

Shown ingresses() {
  Shown shown{.traits = {.status = true, .generation = true}};
  shown.columns = {column("Class", "string", "Who serves it."),
                   column("Hosts", "string", "Hosts it is for."),
                   column("Address", "string", "Where it is reached."),
                   column("Ports", "string", "Ports it listens on.")};
  shown.status = R"({"loadBalancer":{}})";
  shown.cells = [](const Json& ingress) -> std::vector<Json> {
    std::string addresses;
    for (const Json& point :
         list_or_empty(object_or_empty(ingress, {"status", "loadBalancer"}), "ingress")) {
      const std::string& ip = text_at(point, "ip");
      addresses += (addresses.empty() ? "" : ",") + (ip.empty() ? text_at(point, "hostname") : ip);
    }
    const bool tls = !list_or_empty(spec_of(ingress), "tls").empty();
    return {amount(spec_of(ingress), "ingressClassName", "<none>"), hosts_of(ingress), addresses,
            tls ? "80, 443" : "80"};
  };
  return shown;
}

Shown ingress_classes() {
  Shown shown{.traits = {.generation = true}};
  shown.columns = {column("Controller", "string", "Who serves ingresses of the class."),
                   column("Parameters", "string", "Its parameters.")};
  shown.cells = [](const Json& one) -> std::vector<Json> {
    const Json* parameters = member(one, {"spec", "parameters"});
    if (parameters == nullptr) return {text_at(spec_of(one), "controller"), "<none>"};
    const std::string& group = text_at(*parameters, "apiGroup");
    return {text_at(spec_of(one), "controller"), text_at(*parameters, "kind") +
                                                     (group.empty() ? "" : "." + group) + "/" +
                                                     text_at(*parameters, "name")};
  };
  return shown;
}

Shown network_policies() {
  Shown shown{.traits = {.generation = true}};
  shown.columns = {column("Pod-Selector", "string", "The pods it is for.")};
  shown.defaults = [](Json& policy) {
    Json& spec = object_in(policy, "spec");
    default_object(spec, "podSelector");
    if (!list_or_empty(spec, "policyTypes").empty()) return;
    spec["policyTypes"] = Json::array({"Ingress"});
    if (!list_or_empty(spec, "egress").empty()) spec["policyTypes"].push_back("Egress");
  };
  shown.cells = [](const Json& policy) -> std::vector<Json> {
    return {selector_text(object_or_empty(policy, {"spec", "podSelector"}))};
  };
  return shown;
}

std::string endpoints_text(const Json& endpoints) {
  std::string all;
  for (const Json& subset : list_or_empty(endpoints, "subsets")) {
    for (const Json& address : list_or_empty(subset, "addresses")) {
      const Json& ports = list_or_empty(subset, "ports");
      if (ports.empty()) all += (all.empty() ? "" : ",") + text_at(address, "ip");
      for (const Json& port : ports) {
        all += (all.empty() ? "" : ",") + text_at(address, "ip") + ":" + amount(port, "port", "0");
      }
    }
  }
  return or_none(all);
}

Shown endpoints() {
  Shown shown;
  shown.columns = {column("Endpoints", "string", "Addresses and ports.")};
  shown.cells = [](const Json& object) -> std::vector<Json> { return {endpoints_text(object)}; };
  return shown;
}

Shown endpoint_slices() {
  Shown shown{.traits = {.generation = true}};
  shown.columns = {column("AddressType", "string", "What the addresses are."),
                   column("Ports", "string", "Ports of all of them."),
                   column("Endpoints", "string", "The addresses.")};
  shown.cells = [](const Json& slice) -> std::vector<Json> {
    std::string ports, addresses;
    for (const Json& port : list_or_empty(slice, "ports")) {
      ports += (ports.empty() ? "" : ",") + amount(port, "port", "*");
    }
    for (const Json& endpoint : list_or_empty(slice, "endpoints")) {
      addresses += (addresses.empty() ? "" : ",") + joined(list_or_empty(endpoint, "addresses"));
    }
    return {text_at(slice, "addressType"), ports.empty() ? "<unset>" : ports,
            addresses.empty() ? "<unset>" : addresses};
  };
  return shown;
}

/// "cpu: 50%/80%" for the metrics that are about a resource.
std::string targets_of(const Json& scaler) {
  std::string all;
  for (const Json& metric : list_or_empty(spec_of(scaler), "metrics")) {
    const Json& resource = object_or_empty(metric, {"resource"});
    const std::string wanted =
        amount(object_or_empty(resource, {"target"}), "averageUtilization", "<auto>");
    all += (all.empty() ? "" : ", ") + text_at(resource, "name") + ": <unknown>/" + wanted +
           (wanted == "<auto>" ? "" : "%");
  }
  return or_none(all);
}

Shown autoscalers() {
  Shown shown{.traits = {.status = true}};
  shown.columns = {column("Reference", "string", "What is scaled."),
                   column("Targets", "string", "What it is scaled by."),
                   column("MinPods", "string", "Fewest replicas."),
                   column("MaxPods", "string", "Most replicas."),
                   column("Replicas", "string", "Replicas there are.")};
  shown.defaults = [](Json& scaler) {
    Json& spec = object_in(scaler, "spec");
    default_to(spec, "minReplicas", std::int64_t{1});
    const bool old = text_at(scaler, "apiVersion") == "autoscaling/v1";
    if (old || !list_or_empty(spec, "metrics").empty()) return;
    spec["metrics"] = Json::parse(
        R"([{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",)"
        R"("averageUtilization":80}}}])");
  };
  shown.status = R"({"desiredReplicas":0,"currentMetrics":null})";
  shown.cells = [](const Json& scaler) -> std::vector<Json> {
    const Json& target = object_or_empty(scaler, {"spec", "scaleTargetRef"});
    return {text_at(target, "kind") + "/" + text_at(target, "name"), targets_of(scaler),
            amount(spec_of(scaler), "minReplicas", "<unset>"),
            amount(spec_of(scaler), "maxReplicas", "0"),
            amount(status_of(scaler), "currentReplicas", "0")};
  };
  return shown;
}

/// "pods: 1/5, cpu: 0/2" of those resources whose name starts with "limits." or does not.
std::string quota_text(const Json& quota, bool limits) {
  std::string all;
  for (const auto& [name, hard] : object_or_empty(quota, {"status", "hard"}).items()) {
    if (name.starts_with("limits.") != limits) continue;
    const std::string used = amount(object_or_empty(quota, {"status", "used"}), name.c_str(), "0");
    all += (all.empty() ? "" : ", ") + name + ": " + used + "/" +
           (hard.is_string() ? hard.get<std::string>() : hard.dump());
  }
  return all;
}

Shown quotas() {
  Shown shown{.traits = {.status = true}};
  shown.columns = {column("Request", "string", "Requests used of those allowed."),
                   column("Limit", "string", "Limits used of those allowed.")};
  shown.validate = [](const Json& quota, FieldErrors* errors) {
    for (const auto& [name, amount] : object_or_empty(quota, {"spec", "hard"}).items()) {
      if (!amount.is_string()) continue;
      const auto parsed = api::Quantity::parse(amount.get_ref<const std::string&>());
      if (parsed && parsed->is_negative()) {
        errors->push_back(invalid(key_path("spec.hard", name), parsed->str(),
                                  "must be greater than or equal to 0"));
      }
    }
  };
  shown.cells = [](const Json& quota) -> std::vector<Json> {
    return {quota_text(quota, false), quota_text(quota, true)};
  };
  return shown;
}

Shown revisions() {
  Shown shown;
  shown.columns = {column("Controller", "string", "Whose revision it is."),
                   column("Revision", "string", "Its number.")};
  shown.cells = [](const Json& revision) -> std::vector<Json> {
    std::string owner = "<none>";
    for (const Json& one :
         list_or_empty(object_or_empty(revision, {"metadata"}), "ownerReferences")) {
      if (!true_at(one, "controller")) continue;
      const std::string& version = text_at(one, "apiVersion");
      const std::size_t slash = version.find('/');
      std::string kind = text_at(one, "kind");
      for (char& c : kind) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      owner = kind + (slash == std::string::npos ? "" : "." + version.substr(0, slash)) + "/" +
              text_at(one, "name");
    }
    return {owner, amount(revision, "revision", "0")};
  };
  return shown;
}

Shown webhooks() {
  Shown shown{.traits = {.generation = true, .versioned = "webhooks"}};
  shown.columns = {column("Webhooks", "integer", "Number of webhooks.")};
  shown.cells = [](const Json& configuration) -> std::vector<Json> {
    return {list_or_empty(configuration, "webhooks").size()};
  };
  return shown;
}

Shown budgets() {
  Shown shown{.traits = {.status = true, .generation = true}};
  shown.columns = {column("Min Available", "string", "Pods that must stay."),
                   column("Max Unavailable", "string", "Pods that may be away."),
                   column("Allowed Disruptions", "integer", "Pods that may go now.")};
  shown.status =
      R"({"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0})";
  shown.validate = [](const Json& budget, FieldErrors* errors) {
    const Json& spec = spec_of(budget);
    if (member(spec, "minAvailable") != nullptr && member(spec, "maxUnavailable") != nullptr) {
      errors->push_back(
          invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set"));
    }
    for (const char* name : {"minAvailable", "maxUnavailable"}) {
      check_not_negative(spec, name, "spec", errors);
    }
  };
  shown.cells = [](const Json& budget) -> std::vector<Json> {
    return {amount(spec_of(budget), "minAvailable", "N/A"),
            amount(spec_of(budget), "maxUnavailable", "N/A"),
            integer_at(status_of(budget), "disruptionsAllowed").value_or(0)};
  };
  return shown;
}

}  // namespace

StrategyPtr shown_strategy(const std::string& plural) {
  static const std::map<std::string, Shown (*)()> kinds = {
      {"controllerrevisions", revisions},          {"endpoints", endpoints},
      {"endpointslices", endpoint_slices},         {"horizontalpodautoscalers", autoscalers},
      {"ingressclasses", ingress_classes},         {"ingresses", ingresses},
      {"mutatingwebhookconfigurations", webhooks}, {"networkpolicies", network_policies},
      {"persistentvolumeclaims", volume_claims},   {"persistentvolumes", volumes},
      {"poddisruptionbudgets", budgets},           {"resourcequotas", quotas},
      {"storageclasses", storage_classes},         {"validatingwebhookconfigurations", webhooks},
  };
  const auto found = kinds.find(plural);
  if (found == kinds.end()) return std::make_shared<GenericStrategy>();
  return std::make_shared<ShownStrategy>(found->second());
}

}  // namespace regatta::manifest::builtin
