#pragma once

#include "bench/server.h"

#include <memory>
#include <string>
#include <vector>

namespace regatta::bench {

/// One cluster: what serves its API, with simulated nodes, and a manager.
class Cluster {
 public:
  /// A cluster with installed CRDs that answers requests.
  static Task<Result<std::unique_ptr<Cluster>>> start(Ground ground, std::string name);

  const std::string& name() const { return name_; }
  kube::Client& client() { return connection_->client(); }
  /// The kubeconfig of the hub's manager, as text.
  Result<std::string> kubeconfig() const;
  Task<Status> apply(std::vector<Json> objects);
  /// `more`: further lines of its configuration.
  Status start_manager(const std::string& more = {});

  const Process& manager() const { return *manager_; }
  /// The manager first.
  std::vector<Part> parts() const;
  /// Fails when one of its processes has ended.
  Status check() const;

  Task<Result<Requests>> requests() { return server_->requests(*connection_); }
  Task<Status> forget_requests() { return server_->forget_requests(*connection_); }

 private:
  Cluster(Ground ground, std::string name) : ground_(std::move(ground)), name_(std::move(name)) {}
  Task<Status> connect();
  std::filesystem::path folder() const { return ground_.folder / name_; }

  Ground ground_;
  std::string name_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<kubeconfig::Connection> connection_;
  std::unique_ptr<Process> manager_;
};

}  // namespace regatta::bench
