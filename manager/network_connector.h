#pragma once

#include "clusters/connector.h"
#include "kubeconfig/file_system.h"
#include "kubeconfig/validate.h"
#include "lib/base/clock.h"

#include <string>

namespace regatta::manager {

/// Connections to workers over the network, under the rules for kubeconfigs that others wrote.
class NetworkConnector final : public clusters::Connector {
 public:
  /// `paths_checked`: files must lie below the allowed folder.
  NetworkConnector(Executor executor, Clock& clock, bool paths_checked)
      : executor_(std::move(executor)), clock_(clock), paths_checked_(paths_checked) {}

  std::variant<clusters::Connection, clusters::ConnectFailure> connect(
      std::string_view kubeconfig) override;
  std::variant<std::string, clusters::ConnectFailure> read_path(
      const std::string& location) override;

 private:
  Executor executor_;
  Clock& clock_;
  bool paths_checked_;
  kubeconfig::SystemFiles files_;
};

}  // namespace regatta::manager
