#pragma once

#include "tests/component/one_cluster.h"
#include "tests/support/test_nodes.h"

#include <memory>
#include <vector>

namespace regatta::test_support {

/// A hub (the cluster of OneCluster) and workers with the same queues. The hub's ClusterQueue needs
/// the admission check `mk`, which leads to every worker.
class Federation : public OneCluster {
 protected:
  ~Federation() override { manager_.reset(); }  // the manager watches the workers

  struct Worker {
    std::unique_ptr<TestCluster> cluster;
    std::unique_ptr<TestManager> manager;
    std::unique_ptr<TestNodes> nodes;
  };

  static constexpr const char* hub_queue_yaml = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: cpu-only, resources: [{name: cpu, nominalQuota: "100"}]}]
  admissionChecksStrategy: {admissionChecks: [{name: mk}]}
)";

  void add_worker(const std::string& name) {
    Worker& worker = workers_[name];
    worker.cluster = std::make_unique<TestCluster>(world_, name);
    worker.cluster->install_crds();
    network_.add(*worker.cluster);
    if (!define_on_workers_.empty()) ASSERT_TRUE(worker.cluster->apply(define_on_workers_));
    for (const char* yaml : {flavor_yaml, cluster_queue_yaml, local_queue_yaml}) {
      ASSERT_TRUE(worker.cluster->apply(yaml));
    }
  }
  void start_worker(const std::string& name) {
    Worker& worker = workers_.at(name);
    worker.manager = std::make_unique<TestManager>(*worker.cluster, network_, worker_config_);
    lab::JobControllerOptions options;
    options.behaviour.pods = false;
    options.behaviour.run = 30s;
    worker.nodes = std::make_unique<TestNodes>(*worker.cluster, options);
  }
  void configure_hub() {
    apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: kueue-system}");
    std::string names;
    for (const auto& [name, worker] : workers_) {
      apply(TestConnector::member_yaml(name));
      names += (names.empty() ? "" : ", ") + name;
    }
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueConfig\nmetadata: {name: all}\n"
        "spec: {clusters: [" +
        names + "]}");
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: mk}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: all}
)");
    apply(flavor_yaml);
    apply(hub_queue_yaml);
    apply(local_queue_yaml);
  }
  void start_all(std::vector<std::string> names, manager::CoreConfig config = {}) {
    for (const std::string& name : names) add_worker(name);
    configure_hub();
    start_manager(std::move(config));
    for (const std::string& name : names) start_worker(name);
    until("every worker is active", [&] {
      for (const auto& [name, worker] : workers_) {
        if (member_condition(name) != "True Active: Connected") return false;
      }
      return true;
    });
    settle();
  }

  TestCluster& worker(const std::string& name) { return *workers_.at(name).cluster; }
  /// Sets the quota of that worker.
  void give(const std::string& name, const std::string& cpus) { give(worker(name), cpus); }
  static void give(TestCluster& cluster, const std::string& cpus) {
    ASSERT_TRUE(
        cluster.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                      R"({"spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{
        "name": "cpu-only", "resources": [{"name": "cpu", "nominalQuota": ")" +
                          cpus + R"("}]}]}]}})"));
  }
  /// The Active condition of a MultiKueueCluster.
  std::string member_condition(const std::string& name) {
    const auto cluster = cluster_.get<api::MultiKueueCluster>(api::ObjectKey(name));
    return cluster ? condition(cluster->status.conditions, "Active") : "no such cluster";
  }
  /// A Job for MultiKueue.
  static std::string remote_job_yaml(const std::string& name, int pods = 1) {
    std::string yaml = job_yaml(name, pods);
    return yaml.replace(yaml.find("suspend: true"), 13,
                        "suspend: true, managedBy: kueue.x-k8s.io/multikueue");
  }
  /// One that ends after so many seconds instead of thirty. The default outlasts every test.
  static std::string lasting_job_yaml(const std::string& name, int seconds = 100000, int pods = 1) {
    const std::string none = "annotations: {";
    std::string yaml = remote_job_yaml(name, pods);
    return yaml.insert(yaml.find(none) + none.size(),
                       "sandbox.regatta.dev/run-seconds: \"" + std::to_string(seconds) + "\"");
  }
  /// A copy that no hub has sent, of a Workload of the hub, with a condition.
  void make_up_copy(TestCluster& there, const api::ObjectKey& of, const std::string& name,
                    const std::string& type, const std::string& status) {
    Json copy = cluster_.get(api::Workload::resource, of);
    copy["metadata"] = {{"name", name},
                        {"namespace", of.ns},
                        {"labels", {{"kueue.x-k8s.io/multikueue-origin", "multikueue"}}}};
    copy.erase("status");
    ASSERT_TRUE(there.apply(dump_json(copy)));
    const Json condition = {{"type", type},
                            {"status", status},
                            {"reason", "MadeUp"},
                            {"message", ""},
                            {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
    const Json patch = {{"status", {{"conditions", Json::array({condition})}}}};
    ASSERT_TRUE(there.patch(api::Workload::resource, api::ObjectKey(of.ns, name), dump_json(patch),
                            "status"));
  }
  using OneCluster::make_unreadable;
  /// An object of the hub that has conditions.
  void make_unreadable(const api::ResourceInfo& resource, const std::string& name) {
    accept_newer(cluster_, resource);
    const api::ObjectKey object(name);
    Json conditions = cluster_.get(resource, object)["status"]["conditions"];
    conditions.front()["status"] = "Perhaps";
    const Json patch = {{"status", {{"conditions", conditions}}}};
    ASSERT_TRUE(cluster_.patch(resource, object, dump_json(patch), "status"));
  }
  /// MultiKueue's objects on that worker: "workloads 1, jobs 0".
  std::string held_by(const std::string& worker) {
    TestCluster& cluster = *workers_.at(worker).cluster;
    return "workloads " + std::to_string(cluster.list<api::Workload>("default").size()) +
           ", jobs " + std::to_string(cluster.list<api::Job>("default").size());
  }

  manager::CoreConfig worker_config_;
  std::string define_on_workers_;  ///< a CRD that workers have from the beginning
  std::map<std::string, Worker> workers_;
};

}  // namespace regatta::test_support
