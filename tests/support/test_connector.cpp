#include "tests/support/test_connector.h"

#include "kubeconfig/endpoint.h"
#include "lib/base/base64.h"

namespace regatta::test_support {

TestConnector::TestConnector(sim::World& world)
    : world_(world),
      rules_([this](const kubeconfig::Endpoint& endpoint) { return open(endpoint); }, *this,
             std::string(kubeconfig::default_allowed_prefix),
             clusters::KubeconfigConnector::Plugins{*this, world}) {}

kube::NetworkFaults& TestConnector::faults(const std::string& cluster) {
  auto& faults = faults_[cluster];
  if (!faults) faults = std::make_shared<kube::NetworkFaults>();
  return *faults;
}

std::string TestConnector::kubeconfig(const std::string& cluster, const std::string& token) {
  kubeconfig::Endpoint endpoint;
  endpoint.url = "https://" + cluster + ":6443";
  endpoint.bearer_token = token;
  return kubeconfig::write(endpoint, cluster);
}

std::string TestConnector::member_yaml(const std::string& cluster, const std::string& token) {
  return R"(apiVersion: v1
kind: Secret
metadata: {name: )" +
         cluster + R"(, namespace: kueue-system}
data: {kubeconfig: )" +
         base64_encode(kubeconfig(cluster, token)) + R"(}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: )" +
         cluster + R"(}
spec: {clusterSource: {kubeConfig: {locationType: Secret, location: )" +
         cluster + "}}}\n";
}

std::variant<clusters::WorkerConnection, clusters::ConnectFailure> TestConnector::connect(
    std::string_view kubeconfig) {
  return rules_.connect(kubeconfig);
}

std::variant<clusters::WorkerConnection, clusters::ConnectFailure> TestConnector::connect_by_plugin(
    const kubeconfig::ProfileAccess& access, TaskScope& scope) {
  return rules_.connect_by_plugin(access, scope);
}

Task<Result<std::string>> TestConnector::run(api::ExecPlugin plugin, std::string exec_info) {
  co_await world_.sleep_for(plugins_take);
  const auto found = plugins.find(plugin.command);
  if (found == plugins.end()) {
    co_return Error(Errc::not_found, "cannot start " + plugin.command);
  }
  co_return found->second(exec_info);
}

std::variant<std::string, clusters::ConnectFailure> TestConnector::read_path(
    const std::string& location) {
  return rules_.read_path(location);
}

Result<std::string> TestConnector::resolve(const std::string& path) {
  if (path == kubeconfig::default_allowed_prefix || files.contains(path)) return path;
  return Error(Errc::not_found, path + ": no such file or directory");
}

Result<std::string> TestConnector::read_regular(const std::string& path, std::size_t) {
  const auto found = files.find(path);
  if (found == files.end()) return Error(Errc::not_found, path + ": no such file or directory");
  return found->second;
}

Result<std::shared_ptr<net::HttpSender>> TestConnector::open(const kubeconfig::Endpoint& endpoint) {
  /// A server that cannot be reached.
  struct Refusing final : net::HttpSender {
    Task<Result<net::HttpResponse>> send(net::HttpRequest, net::SendOptions) override {
      co_return Error(Errc::unavailable, "connection refused");
    }
  };
  using Sender = std::shared_ptr<net::HttpSender>;
  const auto found = clusters_.find(endpoint.host);
  if (found == clusters_.end()) return Sender(std::make_shared<Refusing>());
  faults(endpoint.host);
  return Sender(std::make_shared<kube::FaultySender>(found->second->sender(), world_, world_.rng,
                                                     faults_.at(endpoint.host)));
}

}  // namespace regatta::test_support
