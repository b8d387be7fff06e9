#include "tests/support/test_nodes.h"

namespace regatta::test_support {
namespace {

kube::ClientDeps client_deps(TestCluster& cluster, RequestCounts& counts) {
  kube::ClientDeps deps{cluster.sender(), cluster.world(), cluster.world().rng, nullptr, {}};
  deps.credentials = std::make_shared<kube::StaticToken>(TestCluster::admin_token);
  deps.config.field_manager = "kube-controller-manager";
  deps.config.observer = [&counts](const kube::RequestSeen& seen) { counts.note(seen); };
  return deps;
}

}  // namespace

TestNodes::TestNodes(TestCluster& cluster, lab::JobControllerOptions options)
    : cluster_(cluster),
      client_(client_deps(cluster, requests)),
      controller_(
          {client_, cluster.world(), cluster.world().rng, cluster.world().executor(), Log()},
          options),
      scope_(cluster.world().executor()) {
  scope_.spawn("nodes of " + cluster.name(), controller_.run());
}

TestNodes::~TestNodes() {
  scope_.stop();
  cluster_.world().settle();
}

}  // namespace regatta::test_support
