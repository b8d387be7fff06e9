#include "lab/federation/state.h"

#include "lab/servers/files.h"
#include "lib/kube/in_cluster.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

constexpr int format_version = 1;
constexpr std::size_t bytes_max = 4u << 20;
constexpr std::array<std::string_view, 4> roles = {"etcd", "apiserver", "nodes", "manager"};

Json to_json(const Component& component) {
  Json out = Json::object();
  out["name"] = component.name;
  out["cluster"] = component.cluster;
  out["role"] = name_of(component.role);
  out["argv"] = component.argv;
  out["log"] = component.log;
  out["pid"] = component.process.pid;
  out["startTicks"] = component.process.ticks;
  return out;
}

Json to_json(const ClusterState& cluster) {
  Json out = Json::object();
  out["name"] = cluster.name;
  out["role"] = cluster.hub ? "hub" : "worker";
  out["fleet"] = cluster.fleet;
  out["folder"] = cluster.folder;
  out["server"] = "https://127.0.0.1:" + std::to_string(cluster.port);
  out["port"] = cluster.port;
  out["healthPort"] = cluster.health_port;
  out["metricsPort"] = cluster.metrics_port;
  out["etcdPort"] = cluster.etcd_port;
  out["peerPort"] = cluster.peer_port;
  Json kubeconfigs = Json::object();
  for (const char* user : {"admin", "manager"}) kubeconfigs[user] = cluster.kubeconfig(user);
  if (!cluster.hub) kubeconfigs["multikueue"] = cluster.kubeconfig("multikueue");
  out["kubeconfigs"] = std::move(kubeconfigs);
  return out;
}

Component component_from(const Json& value) {
  Component component;
  component.name = value.at("name").get<std::string>();
  component.cluster = value.at("cluster").get<std::string>();
  const auto role = std::find(roles.begin(), roles.end(), value.at("role").get<std::string>());
  if (role != roles.end()) component.role = static_cast<Role>(role - roles.begin());
  component.argv = value.at("argv").get<std::vector<std::string>>();
  component.log = value.at("log").get<std::string>();
  component.process.pid = value.at("pid").get<int>();
  component.process.ticks = value.at("startTicks").get<std::uint64_t>();
  return component;
}

ClusterState cluster_from(const Json& value) {
  ClusterState cluster;
  cluster.name = value.at("name").get<std::string>();
  cluster.hub = value.at("role").get<std::string>() == "hub";
  cluster.fleet = value.at("fleet").get<std::string>();
  cluster.folder = value.at("folder").get<std::string>();
  cluster.port = value.at("port").get<std::uint16_t>();
  cluster.health_port = value.at("healthPort").get<std::uint16_t>();
  cluster.metrics_port = value.at("metricsPort").get<std::uint16_t>();
  cluster.etcd_port = value.at("etcdPort").get<std::uint16_t>();
  cluster.peer_port = value.at("peerPort").get<std::uint16_t>();
  return cluster;
}

fs::path file_in(const fs::path& folder) {
  return folder / "state.json";
}

}  // namespace

std::string_view name_of(Role role) {
  return roles[static_cast<std::size_t>(role)];
}

const ClusterState* SandboxState::cluster(const std::string& name) const {
  for (const ClusterState& cluster : clusters) {
    if (cluster.name == name) return &cluster;
  }
  return nullptr;
}

Component* SandboxState::component(const std::string& name) {
  for (Component& component : components) {
    if (component.name == name) return &component;
  }
  return nullptr;
}

Json to_json(const SandboxState& state) {
  Json out = Json::object();
  out["version"] = format_version;
  out["folder"] = state.folder;
  out["dispatcher"] = state.dispatcher;
  out["kinds"] = state.kinds;
  out["clusters"] = Json::array();
  for (const ClusterState& cluster : state.clusters) out["clusters"].push_back(to_json(cluster));
  out["components"] = Json::array();
  for (const Component& component : state.components) {
    out["components"].push_back(to_json(component));
  }
  return out;
}

Result<SandboxState> state_from_json(const Json& value) {
  try {
    if (value.at("version").get<int>() != format_version) {
      return Error(Errc::invalid, "written by another version of regatta");
    }
    SandboxState state;
    state.folder = value.at("folder").get<std::string>();
    state.dispatcher = value.at("dispatcher").get<std::string>();
    state.kinds = value.value("kinds", state.kinds);
    for (const Json& cluster : value.at("clusters")) {
      state.clusters.push_back(cluster_from(cluster));
    }
    for (const Json& component : value.at("components")) {
      state.components.push_back(component_from(component));
    }
    if (state.clusters.empty()) return Error(Errc::invalid, "no cluster");
    return state;
  } catch (const Json::exception& e) {
    return Error(Errc::invalid, e.what());
  }
}

Status save(const SandboxState& state) {
  return write_private(file_in(state.folder), dump_json_pretty(to_json(state)) + "\n");
}

Result<SandboxState> load_state(const fs::path& folder) {
  const fs::path file = file_in(folder);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    return Error(Errc::not_found, "no sandbox in " + folder.string() +
                                      "; start one with: ./dev sandbox up --dir " +
                                      folder.string());
  }
  const auto text = kube::read_small_file(file, bytes_max);
  if (!text) return text.error();
  const auto value = parse_json(*text);
  if (!value) return value.error().within(file.string());
  auto state = state_from_json(*value);
  if (!state) return state.error().within(file.string());
  return state;
}

void forget_state(const fs::path& folder) {
  std::error_code ignored;
  fs::remove(file_in(folder), ignored);
}

}  // namespace regatta::lab
