#include "kubeconfig/connection.h"
#include "kubeconfig/local.h"
#include "lab/servers/controllers.h"
#include "lab/servers/servers.h"
#include "lib/runtime/process.h"

#include <utility>

namespace regatta::lab {
namespace {

int refuse(const Log& log, const Error& error) {
  log.error("cannot start", {{"error", error.what()}});
  return 1;
}

Task<int> simulate(NodesOptions options) {
  const Executor executor = co_await asio::this_coro::executor;
  const Log log(make_stderr_sink(options.log_format, options.log_level), "nodes");
  SystemClock clock;
  Rng rng = Rng::from_system();
  auto fleet = find_fleet(options.fleet);
  if (!fleet) co_return refuse(log, fleet.error());
  kubeconfig::SystemFiles files;
  auto endpoint = kubeconfig::load_local(files, options.kubeconfig);
  if (!endpoint) co_return refuse(log, endpoint.error());
  kube::ClientConfig config;
  config.user_agent = "regatta-sandbox";
  config.field_manager = "regatta-sandbox-controllers";
  const std::string url = endpoint->url;
  auto connection =
      kubeconfig::Connection::create(executor, clock, rng, std::move(*endpoint), std::move(config));
  if (!connection) co_return refuse(log, connection.error());
  log.info("simulating", {{"cluster", url}, {"fleet", options.fleet}});
  ControllersDeps deps{(*connection)->client(), clock, rng, executor, log};
  ControllerOptions controllers;
  controllers.fleet = std::move(*fleet);
  controllers.pods = options.pods;
  Task<> work = run_cluster_controllers(std::move(deps), std::move(controllers));
  co_await until_signalled(std::move(work));
  co_return 0;
}

}  // namespace

int run_nodes(NodesOptions options) {
  die_with_parent(options.parent);
  return run_process([&] { return simulate(options); });
}

}  // namespace regatta::lab
