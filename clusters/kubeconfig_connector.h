#pragma once

#include "clusters/connector.h"
#include "kubeconfig/endpoint.h"
#include "kubeconfig/file_system.h"

#include <functional>
#include <string>

namespace regatta::clusters {

/// Makes the client that sends requests to an endpoint.
using OpenSender =
    std::function<Result<std::shared_ptr<net::HttpSender>>(const kubeconfig::Endpoint&)>;

/// Real connections, over TLS.
OpenSender open_http_clients(const Executor& executor, Clock& clock);

/// Connects to the server that a kubeconfig names, if the rules for kubeconfigs of workers allow
/// it.
class KubeconfigConnector final : public Connector {
 public:
  /// `files` must outlive it. Paths must lie below `allowed_prefix`; empty allows any path.
  KubeconfigConnector(OpenSender open, kubeconfig::FileSystem& files,
                      std::string allowed_prefix = std::string(kubeconfig::default_allowed_prefix));

  std::variant<WorkerConnection, ConnectFailure> connect(std::string_view kubeconfig) override;
  std::variant<std::string, ConnectFailure> read_path(const std::string& location) override;

 private:
  OpenSender open_;
  kubeconfig::FileSystem& files_;
  std::string allowed_prefix_;
};

}  // namespace regatta::clusters
