#include "cli/cluster_connection.h"

#include "manager/endpoint.h"
#include "manager/version.h"

namespace regatta::cli {

Result<std::unique_ptr<kubeconfig::Connection>> Connections::open(const ClusterFlags& flags) {
  auto endpoint = manager::find_users_cluster(flags.kubeconfig, flags.context);
  if (!endpoint) return endpoint.error();
  return open(std::move(*endpoint));
}

Result<std::unique_ptr<kubeconfig::Connection>> Connections::open(kubeconfig::Endpoint endpoint) {
  kube::ClientConfig config;
  config.user_agent = "regatta/" + std::string(manager::version);
  config.timeout = std::chrono::seconds(20);
  return kubeconfig::Connection::create(executor_, clock_, rng_, std::move(endpoint),
                                        std::move(config));
}

}  // namespace regatta::cli
