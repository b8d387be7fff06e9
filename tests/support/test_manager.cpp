#include "tests/support/test_manager.h"

namespace regatta::test_support {
namespace {

kube::ClientDeps client_deps(sim::World& world, net::HttpSender& sender, RequestCounts& counts) {
  kube::ClientDeps deps{sender, world, world.rng, nullptr, {}};
  deps.credentials = std::make_shared<kube::StaticToken>(TestCluster::manager_token);
  deps.config.observer = [&counts](const kube::RequestSeen& seen) { counts.note(seen); };
  return deps;
}

}  // namespace

TestManager::TestManager(TestCluster& cluster, clusters::Connector& connector,
                         manager::CoreConfig config, Log log, Role role)
    : cluster_(cluster),
      sender_(cluster.sender(), cluster.world(), cluster.world().rng, faults_),
      client_(client_deps(cluster.world(), sender_, requests)),
      scope_(cluster.world().executor()) {
  config.on_remote_request = [this, given = config.on_remote_request](
                                 const std::string& name, const kube::RequestSeen& seen) {
    remote_requests[name].note(seen);
    if (given) given(name, seen);
  };
  core_ = std::make_unique<manager::Core>(
      manager::CoreDeps{client_, connector, cluster.world(), cluster.world().rng, scope_, log},
      std::move(config));
  scope_.spawn("manager of " + cluster.name(), lead(role));
}

TestManager::~TestManager() {
  scope_.stop();
  cluster_.world().settle();
}

Task<> TestManager::lead(Role role) {
  co_await core_->sync();
  if (role == Role::standby) co_return;
  core_->start();
  started_ = true;
}

void TestManager::take_over() {
  scope_.spawn("take over", follow());
}

Task<> TestManager::follow() {
  taken_over_ = co_await core_->take_over();
  started_ = taken_over_.has_value();
}

}  // namespace regatta::test_support
