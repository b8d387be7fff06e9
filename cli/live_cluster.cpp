#include "cli/live_cluster.h"

#include "kubeconfig/connection.h"
#include "manager/endpoint.h"
#include "manager/version.h"

namespace regatta::cli {

Task<Result<LiveCluster>> read_live_cluster(LiveClusterFlags flags, whatif::ReadOptions options) {
  const Executor executor = co_await asio::this_coro::executor;
  SystemClock clock;
  Rng rng = Rng::from_system();
  auto endpoint = manager::find_users_cluster(flags.kubeconfig, flags.context);
  if (!endpoint) co_return endpoint.error();
  if (options.fallback_namespace.empty()) options.fallback_namespace = endpoint->default_namespace;
  const std::string url = endpoint->url;
  kube::ClientConfig config;
  config.user_agent = "regatta/" + std::string(manager::version);
  auto connection =
      kubeconfig::Connection::create(executor, clock, rng, std::move(*endpoint), std::move(config));
  if (!connection) co_return connection.error();
  LiveCluster live;
  live.at = clock.now();
  auto picture = co_await whatif::read_cluster((*connection)->client(), std::move(options));
  if (!picture) co_return picture.error().within(url);
  live.picture = std::move(*picture);
  co_return live;
}

}  // namespace regatta::cli
