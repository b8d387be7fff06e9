#pragma once

#include "lib/base/error.h"
#include "lib/kube/credentials.h"
#include "lib/net/http.h"

#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace regatta {
class TaskScope;
}
namespace regatta::kubeconfig {
struct ProfileAccess;
}

namespace regatta::clusters {

/// How to talk to one worker. It holds credentials, so it is never logged.
struct WorkerConnection {
  std::shared_ptr<net::HttpSender> sender;
  std::shared_ptr<kube::Credentials> credentials;  ///< null when the sender has its own
  std::string base_path;
  /// URL and authority: two connections with the same one reach the same API server.
  std::string server;
  std::string url;  ///< of the server, for logs
};

/// Why there is no connection, for the Active condition.
struct ConnectFailure {
  std::string reason;  ///< BadKubeConfig, InsecureKubeConfig, …
  std::string message;
};

/// Turns kubeconfigs, and what ClusterProfiles say, into connections. Tests replace the network
/// here.
class Connector {
 public:
  virtual ~Connector() = default;
  /// Reads and checks the kubeconfig. No connection is opened: the first request does that.
  virtual std::variant<WorkerConnection, ConnectFailure> connect(std::string_view kubeconfig) = 0;
  /// A connection with the credentials of a plugin, which runs in `scope` when the first request
  /// asks for them. How it fails is how that request fails.
  virtual std::variant<WorkerConnection, ConnectFailure> connect_by_plugin(
      const kubeconfig::ProfileAccess& access, TaskScope& scope) = 0;
  /// The kubeconfig in a file, under the rules for such paths.
  virtual std::variant<std::string, ConnectFailure> read_path(const std::string& location) = 0;
};

}  // namespace regatta::clusters
