#pragma once

#include "bench/ground.h"
#include "bench/process.h"
#include "bench/report/requests.h"
#include "kubeconfig/connection.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace regatta::bench {

/// What a process of a cluster does.
enum class Role { manager, api_server, etcd, nodes };

struct Part {
  Role role;
  const Process* process;  ///< of the cluster, and as long there
};

/// What serves the API of one cluster: processes, credentials, and the count of requests.
class Server {
 public:
  virtual ~Server() = default;

  /// Starts what answers requests; it does so a little later.
  virtual Status start() = 0;
  /// Adds what is missing in a server that answers: Kueue's CRDs, and simulated nodes.
  virtual Task<Status> complete(kube::Client& client) = 0;
  /// The processes that were started so far.
  virtual std::vector<Part> parts() const = 0;

  // Kubeconfigs of administrators: of the measuring process, of the manager of this cluster, and of
  // the manager of the hub.
  virtual std::filesystem::path admin_kubeconfig() const = 0;
  virtual std::filesystem::path manager_kubeconfig() const = 0;
  virtual std::filesystem::path hub_kubeconfig() const = 0;

  /// Those answered since forget_requests(), without those of the measuring process.
  virtual Task<Result<Requests>> requests(kubeconfig::Connection& connection) = 0;
  virtual Task<Status> forget_requests(kubeconfig::Connection& connection) = 0;
};

/// An API server of the laboratory, with CRDs and simulated nodes in it.
std::unique_ptr<Server> embedded_server(Ground ground, std::string name);
/// kube-apiserver and etcd, with simulated nodes in a process of their own.
std::unique_ptr<Server> real_server(Ground ground, std::string name);

}  // namespace regatta::bench
