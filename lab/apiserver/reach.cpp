#include "lab/apiserver/reach.h"

#include "lib/base/json_access.h"

#include <boost/url/parse.hpp>
#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

Error not_reached(const std::string& why) {
  return Error(Errc::unavailable, why);
}

Result<Reached> reach_url(const HookTarget& target) {
  const auto url = boost::urls::parse_uri(target.url);
  if (!url) return not_reached("invalid URL: " + target.url);
  Reached reached;
  reached.peer.host = url->encoded_host_address();
  reached.peer.port = url->has_port() ? url->port_number() : 443;
  reached.peer.ca_pem = target.ca_pem;
  reached.path = std::string(url->encoded_path());
  if (reached.path.empty()) reached.path = "/";
  return reached;
}

/// The port of the Service; null when it has no such port.
const Json* service_port(const Json& service, std::uint16_t number) {
  for (const Json& port : list_or_empty(object_or_empty(service, {"spec"}), "ports")) {
    if (integer_at(port, "port") == number) return &port;
  }
  return nullptr;
}

bool is_ready(const Json& endpoint) {
  const Json* conditions = object_at(endpoint, "conditions");
  const Json* ready = conditions ? member(*conditions, "ready") : nullptr;
  return !ready || !ready->is_boolean() || ready->get<bool>();
}

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

void add_addresses(const Json& slice, const std::string& port_name, std::vector<Address>* into) {
  for (const Json& port : list_or_empty(slice, "ports")) {
    if (text_at(port, "name") != port_name) continue;
    const auto number = static_cast<std::uint16_t>(integer_at(port, "port").value_or(0));
    for (const Json& endpoint : list_or_empty(slice, "endpoints")) {
      if (!is_ready(endpoint)) continue;
      for (const Json& address : list_or_empty(endpoint, "addresses")) {
        if (address.is_string()) into->push_back({address.get<std::string>(), number});
      }
    }
  }
}

std::vector<Address> addresses_of(Store& store, const HookTarget& target,
                                  const std::string& port_name) {
  std::vector<Address> found;
  const Shelf* shelf = store.find_shelf("endpointslices.discovery.k8s.io");
  if (!shelf) return found;
  const std::string prefix = target.service_namespace + "/";
  auto it = shelf->objects().lower_bound(prefix);
  for (; it != shelf->objects().end() && it->first.starts_with(prefix); ++it) {
    const Json& slice = it->second->value();
    const std::string& service =
        text_at(slice, {"metadata", "labels", "kubernetes.io/service-name"});
    if (service == target.service) add_addresses(slice, port_name, &found);
  }
  return found;
}

Result<Reached> reach_service(Store& store, const HookTarget& target, std::uint64_t turn) {
  const Shelf* shelf = store.find_shelf("services");
  const StoredPtr service = shelf ? shelf->find(target.service_namespace, target.service) : nullptr;
  const std::string quoted = "\"" + target.service + "\"";
  if (!service) return not_reached("service " + quoted + " not found");
  const Json* port = service_port(service->value(), target.port);
  if (!port) {
    return not_reached("no service port " + std::to_string(target.port) + " found for service " +
                       quoted);
  }
  const std::vector<Address> found = addresses_of(store, target, text_at(*port, "name"));
  if (found.empty()) return not_reached("no endpoints available for service " + quoted);
  const Address& address = found[turn % found.size()];
  Reached reached;
  reached.peer.host = address.host;
  reached.peer.port = address.port;
  reached.peer.server_name = target.service + "." + target.service_namespace + ".svc";
  reached.peer.ca_pem = target.ca_pem;
  reached.path = target.path.empty() ? "/" : target.path;
  return reached;
}

}  // namespace

Result<Reached> reach(Store& store, const HookTarget& target, std::uint64_t turn) {
  return target.url.empty() ? reach_service(store, target, turn) : reach_url(target);
}

}  // namespace regatta::apiserver
