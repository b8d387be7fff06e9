#include "bench/cluster.h"

#include "bench/manager_program.h"
#include "kubeconfig/local.h"
#include "lab/servers/apply.h"
#include "lib/kube/in_cluster.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::bench {
namespace {

constexpr Duration embedded_poll{20};
constexpr Duration real_poll{200};
constexpr std::size_t file_bytes_max = 1u << 20;
constexpr std::size_t connections_max = 16;

}  // namespace

Task<Result<std::unique_ptr<Cluster>>> Cluster::start(Ground ground, std::string name) {
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(ground), std::move(name)));
  const Ground& here = cluster->ground_;
  std::error_code ignored;
  std::filesystem::create_directories(cluster->folder(), ignored);
  cluster->server_ = here.assets.empty() ? embedded_server(here, cluster->name_)
                                         : real_server(here, cluster->name_);
  const SteadyPoint began = here.clock.steady();
  Status done = cluster->server_->start();
  if (done) done = co_await cluster->connect();
  if (done) done = co_await cluster->server_->complete(cluster->client());
  if (!done) co_return done.error().within("see the logs in " + cluster->folder().string());
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(here.clock.steady() - began);
  here.progress(cluster->name_ + " serves after " + std::to_string(seconds.count()) + " s");
  co_return cluster;
}

Task<Status> Cluster::connect() {
  const SteadyPoint deadline = ground_.clock.steady() + ground_.start_max();
  const Duration poll_every = ground_.assets.empty() ? embedded_poll : real_poll;
  kubeconfig::SystemFiles files;
  for (;; co_await ground_.clock.sleep_for(poll_every)) {
    if (ground_.clock.steady() > deadline) co_return Error(Errc::timeout, "not ready in time");
    const Status running = check();
    if (!running) co_return running;
    auto endpoint = kubeconfig::load_local(files, server_->admin_kubeconfig());
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
  return kube::read_small_file(server_->hub_kubeconfig(), file_bytes_max);
}

Task<Status> Cluster::apply(std::vector<Json> objects) {
  lab::Applier applier(client(), ground_.clock);
  const SteadyPoint deadline = ground_.clock.steady() + ground_.start_max();
  co_return co_await applier.apply(std::move(objects), deadline);
}

Status Cluster::start_manager(const std::string& more) {
  const auto argv = manager_command(ground_, {folder(), server_->manager_kubeconfig(), more});
  if (!argv) return argv.error();
  const Ending ending = ground_.kueue.empty() ? Ending::asked : Ending::killed;
  auto process = Process::start(name_ + " manager", *argv, folder() / "manager.log", ending);
  if (!process) return process.error();
  manager_ = std::make_unique<Process>(std::move(*process));
  return ok();
}

std::vector<Part> Cluster::parts() const {
  std::vector<Part> all;
  if (manager_) all.push_back({Role::manager, manager_.get()});
  for (const Part& part : server_->parts()) all.push_back(part);
  return all;
}

Status Cluster::check() const {
  for (const Part& part : parts()) {
    if (part.process->running()) continue;
    return Error(Errc::unavailable,
                 part.process->name() + " has ended; see " + part.process->log().string());
  }
  return ok();
}

}  // namespace regatta::bench
