#pragma once

#include "bench/process.h"
#include "kubeconfig/connection.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace regatta::bench {

/// What every part of a measurement needs.
struct Ground {
  Executor executor;
  Clock& clock;
  Rng& rng;
  std::string binary;  ///< regatta, the measured program
  std::string lab;     ///< regatta-lab, which serves the API
  std::filesystem::path folder;
  int server_latency_ms = 0;  ///< how much later the API servers answer
};

/// One cluster: an API server with simulated nodes in it, and a manager.
class Cluster {
 public:
  /// A cluster with installed CRDs that answers requests.
  static Task<Result<std::unique_ptr<Cluster>>> start(Ground ground, std::string name);

  const std::string& name() const { return name_; }
  kube::Client& client() { return connection_->client(); }
  /// The kubeconfig of its administrator, as text.
  Result<std::string> kubeconfig() const;
  Task<Status> apply(std::vector<Json> objects);
  /// `more`: further lines of its configuration.
  Status start_manager(const std::string& more = {});

  const Process& server() const { return *server_; }
  const Process& manager() const { return *manager_; }

  Task<Result<Json>> requests();
  Task<Status> forget_requests();

 private:
  Cluster(Ground ground, std::string name) : ground_(std::move(ground)), name_(std::move(name)) {}
  Status start_server();
  Task<Status> connect();
  std::filesystem::path folder() const { return ground_.folder / name_; }

  Ground ground_;
  std::string name_;
  std::unique_ptr<Process> server_;
  std::unique_ptr<kubeconfig::Connection> connection_;
  std::unique_ptr<Process> manager_;
};

}  // namespace regatta::bench
