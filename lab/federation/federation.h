#pragma once

#include "kubeconfig/connection.h"
#include "lab/federation/layout.h"
#include "lab/federation/state.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::lab {

/// Called with a sentence about each step.
using Progress = std::function<void(const std::string&)>;

struct FederationDeps {
  Executor executor;
  Clock& clock;
  Rng& rng;
  Progress progress;
};

/// Starts and stops the processes of a sandbox and sets its clusters up through their APIs.
class Federation {
 public:
  Federation(FederationDeps deps, SandboxState state);

  /// Starts everything and waits until every queue and connection is Active. After a failure the
  /// started processes still run; the Error says where to look.
  Task<Status> up();
  /// Ends every process, the managers first.
  Task<> down();
  /// Stops one process, or all of one cluster, starts it again, and waits until it answers.
  Task<Status> restart(std::string name);
  Task<Status> stop(std::string name);
  /// Gives the hub new credentials for a worker.
  Task<Status> rotate(std::string worker);

  const SandboxState& state() const { return state_; }
  /// A client with every permission. The API server counts its requests under `agent`.
  Result<std::unique_ptr<kubeconfig::Connection>> connect(const std::string& cluster,
                                                          const std::string& agent) const;

 private:
  using Connections = std::map<std::string, std::unique_ptr<kubeconfig::Connection>>;

  Status prepare_files(const ClusterState& cluster) const;
  Task<> set_up(const ClusterState& cluster, Status* outcome);
  Task<Status> start_servers(const ClusterState& cluster);
  Task<Status> start(Component* component);
  Task<Status> wait_answering(Component* component);
  Task<Status> answers_once(const Component& component, const ClusterState& cluster);
  Task<Status> each_cluster(std::function<Task<>(const ClusterState&, Status*)> step);
  Task<> start_manager(const ClusterState& cluster, Status* outcome);
  Task<Status> set_up_hub();
  Task<> wait_active(const ClusterState& cluster, Status* outcome);
  Task<Result<std::string>> first_inactive(const ClusterState& cluster);
  Task<Status> put_kubeconfig_secret(const ClusterState& worker);
  std::vector<Component*> components_of(const std::string& name);
  Result<kube::Client*> admin(const std::string& cluster);
  Error died(const Component& component) const;

  FederationDeps deps_;
  SandboxState state_;
  Connections admins_;
  std::map<std::string, std::vector<Json>> worker_objects_;
};

}  // namespace regatta::lab
