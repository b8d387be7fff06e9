#include "bench/cluster.h"

#include "bench/requests.h"
#include "kubeconfig/local.h"
#include "lab/servers/apply.h"
#include "lab/servers/files.h"
#include "lib/kube/in_cluster.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::bench {
namespace {

constexpr Duration start_max = std::chrono::seconds(30);
constexpr Duration poll_every{20};
constexpr std::size_t file_bytes_max = 1u << 20;
constexpr std::size_t connections_max = 16;

constexpr std::string_view manager_config = R"(apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health:
  healthProbeBindAddress: "0"
metrics:
  bindAddress: "0"
leaderElection:
  leaderElect: false
clientConnection:
  qps: -1
)";

}  // namespace

Task<Result<std::unique_ptr<Cluster>>> Cluster::start(Ground ground, std::string name) {
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(ground), std::move(name)));
  const Status started = cluster->start_server();
  if (!started) co_return started.error();
  const Status connected = co_await cluster->connect();
  if (!connected) {
    co_return connected.error().within("see " + cluster->server_->log().string());
  }
  co_return cluster;
}

Status Cluster::start_server() {
  std::error_code ignored;
  std::filesystem::create_directories(folder(), ignored);
  std::vector<std::string> argv = {ground_.lab, "apiserver", "--dir",   folder(),
                                   "--crds",    "--no-pods", "--fleet", "8xCPU"};
  if (ground_.server_latency_ms > 0) {
    argv.insert(argv.end(), {"--faults", dump_json({{"latencyMs", ground_.server_latency_ms}})});
  }
  auto process = Process::start(name_ + " API server", argv, folder() / "apiserver.log");
  if (!process) return process.error();
  server_ = std::make_unique<Process>(std::move(*process));
  return ok();
}

Task<Status> Cluster::connect() {
  const SteadyPoint deadline = ground_.clock.steady() + start_max;
  kubeconfig::SystemFiles files;
  for (;; co_await ground_.clock.sleep_for(poll_every)) {
    if (ground_.clock.steady() > deadline) co_return Error(Errc::timeout, "not ready in time");
    if (!server_->running()) co_return Error(Errc::unavailable, "the API server ended");
    auto endpoint = kubeconfig::load_local(files, folder() / "admin.kubeconfig");
    if (!endpoint) continue;
    kube::ClientConfig config;
    config.user_agent = user_agent;
    net::HttpClientOptions http;
    http.connections_max = connections_max;
    auto made = kubeconfig::Connection::create(ground_.executor, ground_.clock, ground_.rng,
                                               std::move(*endpoint), std::move(config), http);
    if (!made) co_return made.error();
    const auto ready = co_await (*made)->client().get_path("/readyz");
    if (!ready) continue;
    connection_ = std::move(*made);
    co_return ok();
  }
}

Result<std::string> Cluster::kubeconfig() const {
  return kube::read_small_file(folder() / "admin.kubeconfig", file_bytes_max);
}

Task<Status> Cluster::apply(std::vector<Json> objects) {
  lab::Applier applier(client(), ground_.clock);
  const SteadyPoint deadline = ground_.clock.steady() + start_max;
  co_return co_await applier.apply(std::move(objects), deadline);
}

Status Cluster::start_manager(const std::string& more) {
  const std::filesystem::path config = folder() / "manager.yaml";
  const Status written = lab::write_private(config, std::string(manager_config) + more);
  if (!written) return written;
  const std::vector<std::string> argv = {
      ground_.binary, "manager", "--kubeconfig",  folder() / "admin.kubeconfig",
      "--config",     config,    "--zap-encoder", "console"};
  auto process = Process::start(name_ + " manager", argv, folder() / "manager.log");
  if (!process) return process.error();
  manager_ = std::make_unique<Process>(std::move(*process));
  return ok();
}

Task<Result<Json>> Cluster::requests() {
  const auto text = co_await client().get_path("/_regatta/requests");
  if (!text) co_return text.error();
  co_return parse_json(*text);
}

Task<Status> Cluster::forget_requests() {
  net::HttpRequest request("DELETE", "/_regatta/requests");
  net::SendOptions options;
  options.deadline = ground_.clock.steady() + start_max;
  const auto answer = co_await connection_->sender().send(std::move(request), options);
  if (!answer) co_return answer.error();
  co_return ok();
}

}  // namespace regatta::bench
