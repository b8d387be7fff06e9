#pragma once

#include "lab/federation/process.h"
#include "lib/base/json.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regatta::lab {

enum class Role { etcd, apiserver, nodes, manager };
std::string_view name_of(Role role);

/// One process of the sandbox; "hub-manager", "a100-apiserver".
struct Component {
  std::string name;
  std::string cluster;
  Role role = Role::apiserver;
  std::vector<std::string> argv;
  std::string log;
  ProcessId process;
};

struct ClusterState {
  std::string name;
  bool hub = false;
  std::string fleet;  ///< "none" for the hub
  std::string folder;
  std::uint16_t port = 0;          ///< of the API server
  std::uint16_t health_port = 0;   ///< of the manager
  std::uint16_t metrics_port = 0;  ///< of the manager
  std::uint16_t etcd_port = 0;     ///< 0 with the embedded API server
  std::uint16_t peer_port = 0;

  std::string kubeconfig(const std::string& user) const {
    return (std::filesystem::path(folder) / (user + ".kubeconfig")).string();
  }
};

/// The description of a running sandbox, kept in `state.json` of its folder.
struct SandboxState {
  std::string folder;
  std::string dispatcher;
  std::vector<std::string> kinds = {"job"};  ///< of jobs (lab/kinds)
  std::vector<ClusterState> clusters;        ///< the hub first
  std::vector<Component> components;         ///< in the order of their start

  const ClusterState& hub() const { return clusters.front(); }
  const ClusterState* cluster(const std::string& name) const;
  Component* component(const std::string& name);
};

Json to_json(const SandboxState& state);
Result<SandboxState> state_from_json(const Json& value);

Status save(const SandboxState& state);
/// `not_found` when no sandbox was started in `folder`.
Result<SandboxState> load_state(const std::filesystem::path& folder);
void forget_state(const std::filesystem::path& folder);

}  // namespace regatta::lab
