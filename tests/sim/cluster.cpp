#include "tests/sim/cluster.h"

#include "tests/support/manifests.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace regatta::simtest {
namespace {

kube::ClientDeps client_deps(sim::World& world, net::HttpSender& sender, std::string agent) {
  kube::ClientConfig config;
  config.user_agent = std::move(agent);
  return kube::ClientDeps{sender, world, world.rng, nullptr, std::move(config)};
}

/// "workloads" of "Workload": good enough for the kinds of the manifests.
std::string plural_of(const std::string& kind) {
  std::string out;
  for (const char c : kind) out += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return out.ends_with("class") ? out + "es" : out + "s";
}

}  // namespace

SimCluster::SimCluster(sim::World& world, std::string name, bool runs_jobs)
    : world_(world),
      name_(std::move(name)),
      runs_jobs_(runs_jobs),
      infrastructure_(world.executor()) {
  server_ = std::make_unique<apiserver::Server>(world.executor(), world, world.rng);
  admin_sender_ = std::make_unique<LinkSender>(world, world.rng, *server_, "admin", no_faults_);
  admin_ = std::make_unique<kube::Client>(client_deps(world, *admin_sender_, "admin"));
}

SimCluster::~SimCluster() = default;

Task<> SimCluster::apply(Json object) {
  const std::string api_version = object.value("apiVersion", "");
  const std::string kind = object.value("kind", "");
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version =
      slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  const std::string plural = plural_of(kind);
  const std::string ns = object["metadata"].value("namespace", "");
  const api::ResourceInfo resource{group, version, kind, plural, !ns.empty()};
  const Result<std::string> created = co_await admin_->create_raw(resource, ns, dump_json(object));
  if (!created) {
    throw std::runtime_error(name_ + ": " + kind + " " + dump_json(object["metadata"]) + ": " +
                             created.error().what());
  }
}

Task<> SimCluster::set_up(std::vector<Json> objects) {
  for (const Json& crd : test_support::crd_manifests()) co_await apply(crd);
  co_await world_.sleep_for(Duration(2000));
  for (Json& object : objects) co_await apply(std::move(object));
}

void SimCluster::start_infrastructure() {
  garbage_ = std::make_unique<lab::GarbageCollector>(
      lab::GarbageCollectorDeps{*admin_, world_, world_.rng, world_.executor(), Log()});
  infrastructure_.spawn("garbage collector", garbage_->run());
  if (!runs_jobs_) return;
  lab::JobControllerOptions options;
  options.behaviour.pods = false;
  nodes_ = std::make_unique<lab::JobController>(
      lab::JobControllerDeps{*admin_, world_, world_.rng, world_.executor(), Log()}, options);
  infrastructure_.spawn("nodes", nodes_->run());
}

void SimCluster::stop_infrastructure() {
  infrastructure_.stop();
  world_.settle();
}

Task<> SimCluster::run_manager(manager::Core* core) {
  co_await core->sync();
  core->start();
}

Task<> SimCluster::run_standby(manager::Core* core, std::shared_ptr<kube::NetworkFaults> link) {
  co_await core->sync();
  link->half_open_watch = 1;
}

std::unique_ptr<SimCluster::Process> SimCluster::make_process(
    manager::CoreConfig config, clusters::Connector& connector,
    std::shared_ptr<kube::NetworkFaults> link) {
  auto process = std::make_unique<Process>(world_.executor());
  process->sender = std::make_unique<LinkSender>(world_, world_.rng, *server_, "manager", link);
  kube::ClientDeps deps = client_deps(world_, *process->sender, "manager");
  deps.config.timeout = std::chrono::seconds(10);
  deps.config.observer = [this](const kube::RequestSeen& seen) {
    std::string line(seen.verb);
    ((line += ' ') += seen.resource) += seen.subresource.empty() ? "" : "/";
    ((line += seen.subresource) += ' ') += std::to_string(seen.http_status);
    ++manager_requests[line];
  };
  process->client = std::make_unique<kube::Client>(std::move(deps));
  process->core = std::make_unique<manager::Core>(
      manager::CoreDeps{*process->client, connector, world_, world_.rng, process->scope, Log()},
      std::move(config));
  return process;
}

void SimCluster::start_manager(manager::CoreConfig config, clusters::Connector& connector) {
  process_ = make_process(std::move(config), connector, own_link);
  process_->scope.spawn("manager", run_manager(process_->core.get()));
}

void SimCluster::start_standby(manager::CoreConfig config, clusters::Connector& connector) {
  standby_link_ = std::make_shared<kube::NetworkFaults>(*own_link);
  standby_ = make_process(std::move(config), connector, standby_link_);
  standby_->scope.spawn("standby", run_standby(standby_->core.get(), standby_link_));
}

void SimCluster::promote_standby() {
  // From now on its requests are those of the manager; its open watches stay dead.
  *standby_link_ = *own_link;
  own_link = standby_link_;
  process_ = std::move(standby_);
  process_->scope.spawn("take over", process_->core->take_over());
}

void SimCluster::crash_manager() {
  if (!process_) return;
  process_->scope.stop();
  world_.settle();
  process_.reset();
}

void SimCluster::stop_standby() {
  if (!standby_) return;
  standby_->scope.stop();
  world_.settle();
  standby_.reset();
}

}  // namespace regatta::simtest
