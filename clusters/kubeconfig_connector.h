#pragma once

#include "clusters/connector.h"
#include "clusters/plugin_runner.h"
#include "kubeconfig/endpoint.h"
#include "kubeconfig/file_system.h"

#include <functional>
#include <optional>
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
  /// What plugins need.
  struct Plugins {
    PluginRunner& runner;
    Clock& clock;
  };
  /// `files` and what `plugins` refers to must outlive it. Paths must lie below `allowed_prefix`;
  /// empty allows any path. Without `plugins` none runs.
  KubeconfigConnector(OpenSender open, kubeconfig::FileSystem& files,
                      std::string allowed_prefix = std::string(kubeconfig::default_allowed_prefix),
                      std::optional<Plugins> plugins = std::nullopt);

  std::variant<WorkerConnection, ConnectFailure> connect(std::string_view kubeconfig) override;
  std::variant<WorkerConnection, ConnectFailure> connect_by_plugin(
      const kubeconfig::ProfileAccess& access, TaskScope& scope) override;
  std::variant<std::string, ConnectFailure> read_path(const std::string& location) override;

 private:
  OpenSender open_;
  kubeconfig::FileSystem& files_;
  std::string allowed_prefix_;
  std::optional<Plugins> plugins_;
};

}  // namespace regatta::clusters
