#pragma once

#include "manager/core.h"
#include "tests/support/test_cluster.h"

#include <map>
#include <memory>
#include <string>

namespace regatta::test_support {

/// Whether a manager acts as soon as it has synced, or waits for take_over().
enum class Role { leader, standby };

/// A manager of one cluster. Destroying it is a crash: everything that it waits for is cancelled.
class TestManager {
 public:
  TestManager(TestCluster& cluster, clusters::Connector& connector, manager::CoreConfig config = {},
              Log log = {}, Role role = Role::leader);
  ~TestManager();
  TestManager(const TestManager&) = delete;

  manager::Core& core() { return *core_; }
  bool started() const { return started_; }
  /// How take_over() ended.
  const Status& taken_over() const { return taken_over_; }
  bool synced() const { return core_->synced(); }
  /// A standby becomes the leader.
  void take_over();
  /// Faults between the manager and its own API server.
  kube::NetworkFaults& faults() { return *faults_; }
  /// Requests to its own API server.
  RequestCounts requests;
  /// Requests to workers, by cluster.
  std::map<std::string, RequestCounts> remote_requests;

 private:
  Task<> lead(Role role);
  Task<> follow();

  TestCluster& cluster_;
  std::shared_ptr<kube::NetworkFaults> faults_ = std::make_shared<kube::NetworkFaults>();
  kube::FaultySender sender_;
  kube::Client client_;
  bool started_ = false;
  Status taken_over_ = ok();
  TaskScope scope_;
  std::unique_ptr<manager::Core> core_;
};

}  // namespace regatta::test_support
