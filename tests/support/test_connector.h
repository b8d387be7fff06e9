#pragma once

#include "clusters/kubeconfig_connector.h"
#include "tests/support/test_cluster.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace regatta::test_support {

/// The real rules for kubeconfigs over a network of TestClusters: "https://<name>:6443" is the
/// cluster of that name, behind the faults of its link.
class TestConnector final : public clusters::Connector,
                            private kubeconfig::FileSystem,
                            private clusters::PluginRunner {
 public:
  explicit TestConnector(sim::World& world);

  void add(TestCluster& cluster) { add(cluster.name(), cluster); }
  /// The cluster by that name, with a link of its own.
  void add(const std::string& name, TestCluster& cluster) { clusters_[name] = &cluster; }
  /// The faults between the hub and that worker.
  kube::NetworkFaults& faults(const std::string& cluster);
  /// Files below /etc/multikueue/kubeconfigs.
  std::map<std::string, std::string> files;

  /// What credential plugins answer, by their command, and how long each run takes.
  std::map<std::string, std::function<Result<std::string>(const std::string& exec_info)>> plugins;
  Duration plugins_take{100};

  /// A kubeconfig of that cluster, whether it exists or not.
  static std::string kubeconfig(const std::string& cluster,
                                const std::string& token = TestCluster::manager_token);
  /// A Secret with the kubeconfig, and a MultiKueueCluster of that name that uses it.
  static std::string member_yaml(const std::string& cluster,
                                 const std::string& token = TestCluster::manager_token);

  std::variant<clusters::WorkerConnection, clusters::ConnectFailure> connect(
      std::string_view kubeconfig) override;
  std::variant<clusters::WorkerConnection, clusters::ConnectFailure> connect_by_plugin(
      const kubeconfig::ProfileAccess& access, TaskScope& scope) override;
  std::variant<std::string, clusters::ConnectFailure> read_path(
      const std::string& location) override;

 private:
  Task<Result<std::string>> run(api::ExecPlugin plugin, std::string exec_info) override;
  Result<std::string> resolve(const std::string& path) override;
  Result<std::string> read_regular(const std::string& path, std::size_t limit) override;
  Result<std::shared_ptr<net::HttpSender>> open(const kubeconfig::Endpoint& endpoint);

  sim::World& world_;
  std::map<std::string, TestCluster*> clusters_;
  std::map<std::string, std::shared_ptr<kube::NetworkFaults>> faults_;
  clusters::KubeconfigConnector rules_;
};

}  // namespace regatta::test_support
