#include "lib/api/validation.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <set>

namespace regatta::manifest::builtin {

namespace {

constexpr std::int64_t port_max = 65535;
constexpr std::int64_t node_port_first = 30000;
constexpr std::int64_t node_ports = 2768;

bool is_headless(const Json& spec) {
  return text_at(spec, "clusterIP") == "None";
}

/// A number that stays the same for an object, for addresses and ports that are never routed.
std::size_t number_of(const Json& service, std::string_view salt) {
  return std::hash<std::string>()(text_at(service, {"metadata", "uid"}) + std::string(salt));
}

/// The list of ports; null when the member is no list.
Json* ports_of(Json& spec) {
  const auto ports = spec.find("ports");
  return ports != spec.end() && ports->is_array() ? &*ports : nullptr;
}

class ServiceStrategy final : public GenericStrategy {
 public:
  ServiceStrategy() : GenericStrategy({.status = true, .names = NameRule::label_rfc1035}) {}

  void set_defaults(Json& service) const override {
    Json& spec = object_in(service, "spec");
    default_to(spec, "sessionAffinity", "None");
    default_to(spec, "type", "ClusterIP");
    drop_empty(spec, "selector");
    drop_empty(spec, "clusterIP");
    if (Json* ports = ports_of(spec)) {
      for (Json& port : *ports) default_port(port);
    }
    if (text_at(spec, "type") == "ExternalName") return;
    default_to(spec, "internalTrafficPolicy", "Cluster");
    if (text_at(spec, "type") == "ClusterIP") return;
    default_to(spec, "externalTrafficPolicy", "Cluster");
    if (text_at(spec, "type") == "LoadBalancer") {
      default_to(spec, "allocateLoadBalancerNodePorts", true);
    }
  }

  void prepare_for_create(Json& service, TimePoint now) const override {
    GenericStrategy::prepare_for_create(service, now);
    allocate(service, Json::object());
  }

  void prepare_for_update(Json& service, const Json& old, TimePoint now) const override {
    GenericStrategy::prepare_for_update(service, old, now);
    allocate(service, object_or_empty(old, {"spec"}));
  }

  FieldErrors validate_create(const Json& service) const override {
    FieldErrors errors;
    const Json& spec = object_or_empty(service, {"spec"});
    const std::string& type = text_at(spec, "type");
    if (type != "ClusterIP" && type != "NodePort" && type != "LoadBalancer" &&
        type != "ExternalName") {
      errors.push_back(not_supported("spec.type", type,
                                     {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}));
    }
    if (type == "ExternalName") {
      check_external_name(spec, &errors);
    } else if (list_or_empty(spec, "ports").empty() && !is_headless(spec)) {
      errors.push_back(required("spec.ports"));
    }
    const std::string& affinity = text_at(spec, "sessionAffinity");
    if (affinity != "None" && affinity != "ClientIP") {
      errors.push_back(not_supported("spec.sessionAffinity", affinity, {"ClientIP", "None"}));
    }
    check_ports(list_or_empty(spec, "ports"), &errors);
    return errors;
  }

  FieldErrors validate_update(const Json& service, const Json& old) const override {
    FieldErrors errors = validate_create(service);
    const Json& spec = object_or_empty(service, {"spec"});
    const Json& before = object_or_empty(old, {"spec"});
    const bool had = !text_at(before, "clusterIP").empty();
    const bool named = text_at(spec, "type") == "ExternalName";
    if (had && !named && !same_member(spec, before, "clusterIP")) {
      errors.push_back(
          invalid("spec.clusterIPs[0]", text_at(spec, "clusterIP"), "may not change once set"));
    }
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(),
            column("Type", "string", "How the service is exposed."),
            column("Cluster-IP", "string", "Address within the cluster."),
            column("External-IP", "string", "Addresses outside."),
            column("Port(s)", "string", "Its ports."),
            age_column(),
            column("Selector", "string", "Labels of its pods.", 1)};
  }

  std::vector<Json> cells(const Json& service, TimePoint now) const override {
    const Json& spec = object_or_empty(service, {"spec"});
    const std::string& address = text_at(spec, "clusterIP");
    const std::string selector = labels_text(object_or_empty(spec, {"selector"}));
    return {name_cell(service),
            text_at(spec, "type"),
            address.empty() ? "<none>" : address,
            external(service),
            ports_text(spec),
            age_cell(service, now),
            selector};
  }

  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& service) const override {
    return {{"spec.clusterIP", text_at(service, {"spec", "clusterIP"})},
            {"spec.type", text_at(service, {"spec", "type"})}};
  }

 protected:
  Json initial_status() const override { return Json{{"loadBalancer", Json::object()}}; }

 private:
  static void default_port(Json& port) {
    if (!port.is_object()) return;
    default_to(port, "protocol", "TCP");
    const Json* target = member(port, "targetPort");
    if ((target == nullptr || *target == 0 || *target == "") && member(port, "port") != nullptr) {
      port["targetPort"] = port["port"];
    }
  }

  /// Allocates addresses, families and node ports that the writer leaves to the server.
  static void allocate(Json& service, const Json& old) {
    Json& spec = service["spec"];
    const std::string type = text_at(spec, "type");
    if (type == "ExternalName") return;
    if (member(spec, "clusterIP") == nullptr) copy_member(spec, old, "clusterIP");
    if (member(spec, "clusterIP") == nullptr) {
      const std::size_t number = number_of(service, "address");
      spec["clusterIP"] =
          "10.96." + std::to_string(number % 256) + "." + std::to_string(1 + number / 256 % 254);
    }
    spec["clusterIPs"] = Json::array({spec["clusterIP"]});
    if (member(spec, "ipFamilies") == nullptr) spec["ipFamilies"] = Json::array({"IPv4"});
    default_to(spec, "ipFamilyPolicy", "SingleStack");
    Json* ports = type == "ClusterIP" ? nullptr : ports_of(spec);
    for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
      Json& port = (*ports)[i];
      if (!port.is_object() || integer_at(port, "nodePort").value_or(0) != 0) continue;
      const Json& before = list_or_empty(old, "ports");
      if (i < before.size()) copy_member(port, before[i], "nodePort");
      if (member(port, "nodePort") != nullptr) continue;
      port["nodePort"] = node_port_first + static_cast<std::int64_t>(
                                               number_of(service, std::to_string(i)) % node_ports);
    }
  }

  static void check_external_name(const Json& spec, FieldErrors* errors) {
    const std::string& name = text_at(spec, "externalName");
    if (name.empty()) {
      errors->push_back(required("spec.externalName"));
      return;
    }
    for (const std::string& why : api::check_dns1123_subdomain(name)) {
      errors->push_back(invalid("spec.externalName", name, why));
    }
  }

  static void check_ports(const Json& ports, FieldErrors* errors) {
    std::set<std::string> names;
    std::set<std::string> numbers;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string path = index_path("spec.ports", i);
      const std::string& name = text_at(ports[i], "name");
      if (name.empty() && ports.size() > 1) {
        errors->push_back(required(path + ".name"));
      } else if (!name.empty()) {
        for (const std::string& why : api::check_dns1123_label(name)) {
          errors->push_back(invalid(path + ".name", name, why));
        }
        if (!names.insert(name).second) errors->push_back(duplicate(path + ".name", name));
      }
      const std::int64_t number = integer_at(ports[i], "port").value_or(0);
      if (number < 1 || number > port_max) {
        errors->push_back(
            invalid(path + ".port", number, "must be between 1 and 65535, inclusive"));
      }
      const std::string& protocol = text_at(ports[i], "protocol");
      if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
        errors->push_back(not_supported(path + ".protocol", protocol, {"SCTP", "TCP", "UDP"}));
      }
      if (!numbers.insert(protocol + "/" + std::to_string(number)).second) {
        errors->push_back(duplicate(path, Json{{"port", number}, {"protocol", protocol}}));
      }
    }
  }

  static std::string external(const Json& service) {
    const Json& spec = object_or_empty(service, {"spec"});
    const std::string& type = text_at(spec, "type");
    if (type == "ExternalName") return text_at(spec, "externalName");
    std::string all;
    for (const Json& address : list_or_empty(spec, "externalIPs")) {
      if (address.is_string()) all += (all.empty() ? "" : ",") + address.get<std::string>();
    }
    if (!all.empty()) return all;
    if (type != "LoadBalancer") return "<none>";
    for (const Json& ingress :
         list_or_empty(object_or_empty(service, {"status", "loadBalancer"}), "ingress")) {
      const std::string& ip = text_at(ingress, "ip");
      all += (all.empty() ? "" : ",") + (ip.empty() ? text_at(ingress, "hostname") : ip);
    }
    return all.empty() ? "<pending>" : all;
  }

  static std::string ports_text(const Json& spec) {
    std::string all;
    for (const Json& port : list_or_empty(spec, "ports")) {
      if (!all.empty()) all += ',';
      all += std::to_string(integer_at(port, "port").value_or(0));
      if (const auto node = integer_at(port, "nodePort")) all += ":" + std::to_string(*node);
      all += "/" + text_at(port, "protocol");
    }
    return all.empty() ? "<none>" : all;
  }
};

}  // namespace

StrategyPtr service_strategy() {
  return std::make_shared<ServiceStrategy>();
}

}  // namespace regatta::manifest::builtin
