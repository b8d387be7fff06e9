#include "lab/federation/layout.h"

#include "lib/api/names.h"
#include "lib/api/quantity.h"
#include "lib/api/yaml.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> fleets = {"a100", "h100", "cpu"};
constexpr const char* external_dispatcher = "sandbox.regatta.dev/external";

std::string local(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

std::string local_url(std::uint16_t port) {
  return "http://" + local(port);
}

void end_with_parent(const LayoutOptions& options, std::vector<std::string>* argv) {
  if (options.parent == 0) return;
  argv->push_back("--die-with-parent");
  argv->push_back(std::to_string(options.parent));
}

std::vector<std::string> embedded_server(const LayoutOptions& options,
                                         const ClusterState& cluster) {
  std::vector<std::string> argv = {options.binary, "apiserver",  "--dir",
                                   cluster.folder, "--port",     std::to_string(cluster.port),
                                   "--fleet",      cluster.fleet};
  if (options.persist) {
    argv.push_back("--data-dir");
    argv.push_back(cluster.folder + "/data");
  }
  if (!options.pods) argv.push_back("--no-pods");
  end_with_parent(options, &argv);
  return argv;
}

std::vector<std::string> etcd(const LayoutOptions& options, const ClusterState& cluster) {
  return {options.assets + "/etcd",     "--data-dir",
          cluster.folder + "/etcd",     "--listen-client-urls",
          local_url(cluster.etcd_port), "--advertise-client-urls",
          local_url(cluster.etcd_port), "--listen-peer-urls",
          local_url(cluster.peer_port)};
}

std::vector<std::string> real_server(const LayoutOptions& options, const ClusterState& cluster) {
  const std::string& folder = cluster.folder;
  return {options.assets + "/kube-apiserver",
          "--etcd-servers=" + local_url(cluster.etcd_port),
          "--secure-port=" + std::to_string(cluster.port),
          "--bind-address=127.0.0.1",
          "--advertise-address=127.0.0.1",
          "--tls-cert-file=" + folder + "/server.crt",
          "--tls-private-key-file=" + folder + "/server.key",
          "--client-ca-file=" + folder + "/ca.crt",
          "--token-auth-file=" + folder + "/tokens.csv",
          "--service-account-issuer=https://kubernetes.default.svc",
          "--service-account-key-file=" + folder + "/sa.pub",
          "--service-account-signing-key-file=" + folder + "/sa.key",
          "--service-cluster-ip-range=10.0.0.0/24",
          "--authorization-mode=RBAC",
          "--disable-admission-plugins=ServiceAccount",
          "--endpoint-reconciler-type=none"};
}

/// The command line of a program that is not ours, such that it ends with the parent.
std::vector<std::string> foreign(const LayoutOptions& options, std::vector<std::string> argv) {
  if (options.parent == 0) return argv;
  const std::vector<std::string> prefix = {options.binary, "exec", "--die-with-parent",
                                           std::to_string(options.parent)};
  argv.insert(argv.begin(), prefix.begin(), prefix.end());
  return argv;
}

std::vector<std::string> nodes(const LayoutOptions& options, const ClusterState& cluster) {
  std::vector<std::string> argv = {options.binary, "nodes",
                                   "--kubeconfig", cluster.kubeconfig("admin"),
                                   "--fleet",      cluster.fleet};
  if (!options.pods) argv.push_back("--no-pods");
  end_with_parent(options, &argv);
  return argv;
}

std::vector<std::string> manager(const LayoutOptions& options, const ClusterState& cluster) {
  std::vector<std::string> argv = {options.manager, "manager",
                                   "--kubeconfig",  cluster.kubeconfig("manager"),
                                   "--config",      cluster.folder + "/manager.yaml",
                                   "--zap-encoder", "console"};
  end_with_parent(options, &argv);
  return argv;
}

void add_components(const LayoutOptions& options, const ClusterState& cluster,
                    std::vector<Component>* components) {
  const auto add = [&](Role role, std::vector<std::string> argv) {
    Component component;
    component.name = cluster.name + "-" + std::string(name_of(role));
    component.cluster = cluster.name;
    component.role = role;
    component.argv = std::move(argv);
    component.log = options.folder + "/logs/" + component.name + ".log";
    components->push_back(std::move(component));
  };
  if (options.assets.empty()) {
    add(Role::apiserver, embedded_server(options, cluster));
  } else {
    add(Role::etcd, foreign(options, etcd(options, cluster)));
    add(Role::apiserver, foreign(options, real_server(options, cluster)));
    add(Role::nodes, nodes(options, cluster));
  }
  add(Role::manager, manager(options, cluster));
}

}  // namespace

std::vector<std::string> worker_names(int workers) {
  std::vector<std::string> names;
  const int kinds = static_cast<int>(fleets.size());
  for (int i = 0; i < workers; ++i) {
    std::string name = fleets[static_cast<std::size_t>(i % kinds)];
    if (i >= kinds) name += "-" + std::to_string(i / kinds + 1);
    names.push_back(std::move(name));
  }
  return names;
}

Result<std::string> dispatcher_name(const std::string& option) {
  if (option == "all-at-once") return std::string(api::dispatchers::all_at_once);
  if (option == "incremental") return std::string(api::dispatchers::incremental);
  if (option == "external") return std::string(external_dispatcher);
  return Error(Errc::invalid,
               "unknown dispatcher \"" + option + "\": write all-at-once, incremental or external");
}

Result<SandboxState> lay_out(const LayoutOptions& options,
                             const std::function<std::uint16_t()>& free_port) {
  if (options.workers < 1 || options.workers > workers_max) {
    return Error(Errc::invalid, "a sandbox has 1 to " + std::to_string(workers_max) +
                                    " workers, not " + std::to_string(options.workers));
  }
  const auto dispatcher = dispatcher_name(options.dispatcher);
  if (!dispatcher) return dispatcher.error();
  if (const auto kinds = raced_kinds(options.kinds); !kinds) return kinds.error();
  SandboxState state;
  state.folder = options.folder;
  state.dispatcher = options.dispatcher;
  state.kinds = options.kinds;
  std::vector<std::string> names = worker_names(options.workers);
  names.insert(names.begin(), "hub");
  bool none_free = false;
  const auto next_port = [&] {
    const std::uint16_t port = free_port();
    none_free = none_free || port == 0;
    return port;
  };
  for (const std::string& name : names) {
    ClusterState cluster;
    cluster.name = name;
    cluster.hub = name == "hub";
    cluster.fleet = cluster.hub ? "none" : name.substr(0, name.find('-'));
    cluster.folder = (fs::path(options.folder) / name).string();
    cluster.port = next_port();
    cluster.health_port = next_port();
    cluster.metrics_port = next_port();
    if (!options.assets.empty()) {
      cluster.etcd_port = next_port();
      cluster.peer_port = next_port();
    }
    if (none_free) return Error(Errc::unavailable, "no port of 127.0.0.1 is free");
    add_components(options, cluster, &state.components);
    state.clusters.push_back(std::move(cluster));
  }
  return state;
}

std::string manager_config(const ClusterState& cluster, const std::string& dispatcher,
                           const std::vector<const RacedKind*>& kinds) {
  Json config = Json::object();
  config["apiVersion"] = "config.kueue.x-k8s.io/v1beta2";
  config["kind"] = "Configuration";
  config["health"]["healthProbeBindAddress"] = local(cluster.health_port);
  config["metrics"]["bindAddress"] = local(cluster.metrics_port);
  // Nothing starts a manager again that lost its lease, as one does on a machine with much to do.
  // The successor of a killed one waits for as long.
  config["leaderElection"]["leaderElect"] = true;
  config["leaderElection"]["leaseDuration"] = "20s";
  config["leaderElection"]["renewDeadline"] = "18s";
  config["leaderElection"]["retryPeriod"] = "2s";
  config["clientConnection"]["qps"] = -1;
  for (const RacedKind* kind : kinds) {
    config["integrations"]["frameworks"].push_back(kind->framework);
  }
  if (cluster.hub) {
    config["multiKueue"]["gcInterval"] = "10s";
    config["multiKueue"]["dispatcherName"] = dispatcher;
  }
  return api::dump_yaml(config);
}

namespace {

Json multikueue_cluster(const std::string& name) {
  Json object = Json::object();
  object["apiVersion"] = "kueue.x-k8s.io/v1beta2";
  object["kind"] = "MultiKueueCluster";
  object["metadata"]["name"] = name;
  Json& source = object["spec"]["clusterSource"]["kubeConfig"];
  source["locationType"] = "Secret";
  source["location"] = name + "-kubeconfig";
  return object;
}

using Quotas = std::map<std::string, api::Quantity>;

Result<api::Quantity> quantity_of(const Json& value) {
  const std::string text = value.is_number_integer() ? std::to_string(value.get<std::int64_t>())
                           : value.is_string()       ? value.get<std::string>()
                                                     : std::string();
  return api::Quantity::parse(text);
}

/// Calls `visit` with every {name, nominalQuota} of a ClusterQueue.
template <class Object, class Visit>
void for_each_quota(Object& queue, const Visit& visit) {
  for (auto& group : queue.at("spec").at("resourceGroups")) {
    for (auto& flavor : group.at("flavors")) {
      for (auto& resource : flavor.at("resources")) visit(resource);
    }
  }
}

Result<Quotas> sum_of_quotas(const std::vector<std::vector<Json>>& worker_objects) {
  Quotas sums;
  Status failed = ok();
  for (const std::vector<Json>& objects : worker_objects) {
    for (const Json& object : objects) {
      if (text_at(object, "kind") != "ClusterQueue") continue;
      for_each_quota(object, [&](const Json& resource) {
        const auto quota = quantity_of(resource.at("nominalQuota"));
        if (!quota) {
          failed = quota.error();
          return;
        }
        auto [it, fresh] = sums.try_emplace(text_at(resource, "name"), *quota);
        if (!fresh) it->second = it->second + *quota;
      });
    }
  }
  if (!failed) return failed.error();
  return sums;
}

}  // namespace

Result<std::vector<Json>> hub_objects(std::vector<Json> examples,
                                      const std::vector<std::string>& workers,
                                      const std::vector<std::vector<Json>>& worker_objects) {
  try {
    const auto sums = sum_of_quotas(worker_objects);
    if (!sums) return sums.error();
    std::vector<Json> out;
    for (Json& object : examples) {
      const std::string kind = text_at(object, "kind");
      if (kind == "MultiKueueCluster") continue;
      if (kind == "MultiKueueConfig") object["spec"]["clusters"] = workers;
      if (kind == "ClusterQueue") {
        for_each_quota(object, [&](Json& resource) {
          const auto sum = sums->find(text_at(resource, "name"));
          if (sum != sums->end()) resource["nominalQuota"] = sum->second.str();
        });
      }
      out.push_back(std::move(object));
    }
    for (const std::string& worker : workers) out.push_back(multikueue_cluster(worker));
    return out;
  } catch (const Json::exception& e) {
    return Error(Errc::invalid, std::string("the examples of the hub: ") + e.what());
  }
}

}  // namespace regatta::lab
