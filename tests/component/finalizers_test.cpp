#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

/// The finalizer `resource-in-use` of what queues and flavors use.
class InUse : public OneCluster {
 protected:
  static constexpr const char* topology_yaml = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: rack}]}
)";

  template <class T>
  bool exists(const std::string& name) {
    return cluster_.get<T>(api::ObjectKey(name)).has_value();
  }
  template <class T>
  void remove(const std::string& name) {
    ASSERT_TRUE(cluster_.remove(T::resource, api::ObjectKey(name)));
  }
  /// From now on the manager hears of nothing below `path`, until it lists anew.
  void stop_hearing(const std::string& path, const std::string& write = "") {
    let_faults_concern(path, write);
    manager_->faults().half_open_watch = 1;
  }
  /// The check `checked` is there and is not used, and what happens to queues is not heard of.
  void start_with_idle_check(const std::string& write = "") {
    start_with_queues();
    apply_check();
    settle();
    stop_hearing("/clusterqueues", write);
  }
  static std::string bare_flavor(const std::string& name) {
    return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: " + name +
           "}\n";
  }
  /// The server does not answer what stop_hearing() is about.
  void stop_reading() {
    manager_->faults().withheld = 1;
    manager_->faults().withheld_with = 503;
  }
  void flavor_with_topology() {
    apply(topology_yaml);
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: placed}
spec: {nodeLabels: {pool: cpu}, topologyName: racks}
)");
  }
  int looks(const std::string& resource) {
    return manager_->requests.count("list", resource) + manager_->requests.count("watch", resource);
  }
};

TEST_F(InUse, ACheckThatAQueueTookUnheardStays) {
  start_with_idle_check();
  require_check();
  remove<api::AdmissionCheck>("checked");
  settle(1min);
  EXPECT_TRUE(exists<api::AdmissionCheck>("checked"));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"admissionChecksStrategy":null}})"));
  manager_->faults() = {};
  until("it went", [&] { return !exists<api::AdmissionCheck>("checked"); }, 20min);
}

TEST_F(InUse, AFlavorThatAnUnheardQueueUsesStays) {
  start_with_queues();
  apply(bare_flavor("gpus"));
  settle();
  stop_hearing("/clusterqueues");
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: new}
spec:
  resourceGroups:
  - coveredResources: [gpu]
    flavors: [{name: gpus, resources: [{name: gpu, nominalQuota: "4"}]}]
)");
  remove<api::ResourceFlavor>("gpus");
  settle(1min);
  EXPECT_TRUE(exists<api::ResourceFlavor>("gpus"));
}

TEST_F(InUse, ATopologyThatAnUnheardFlavorUsesStays) {
  start_manager();
  apply(topology_yaml);
  settle();
  stop_hearing("/resourceflavors");
  flavor_with_topology();
  remove<api::Topology>("racks");
  settle(1min);
  EXPECT_TRUE(exists<api::Topology>("racks"));
}

TEST_F(InUse, AListFromBeforeTheDeletionSaysNothing) {
  start_with_queues();
  apply(bare_flavor("gpus"));
  apply_check();
  settle();
  stop_hearing("/clusterqueues");
  remove<api::ResourceFlavor>("gpus");
  until("it went", [&] { return !exists<api::ResourceFlavor>("gpus"); }, 2s);
  require_check();
  remove<api::AdmissionCheck>("checked");
  settle(1min);
  EXPECT_TRUE(exists<api::AdmissionCheck>("checked"));
}

TEST_F(InUse, AListFromLongBeforeTheWriteSaysNothing) {
  start_with_idle_check("/admissionchecks");
  manager_->faults().refused = 1;
  manager_->faults().refused_with = 500;
  remove<api::AdmissionCheck>("checked");
  settle(1min);
  EXPECT_GE(manager_->requests.count("patch", "admissionchecks"), 2) << "the write is tried";
  require_check();
  settle(1min);
  manager_->faults().refused = 0;
  settle(2min);
  EXPECT_TRUE(exists<api::AdmissionCheck>("checked"));
}

TEST_F(InUse, NothingIsLetGoWhileItsUsersCannotBeListed) {
  start_with_idle_check();
  stop_reading();
  remove<api::AdmissionCheck>("checked");
  settle(10min);
  EXPECT_TRUE(exists<api::AdmissionCheck>("checked"));
  manager_->faults() = {};
  until("it went", [&] { return !exists<api::AdmissionCheck>("checked"); }, 5min);
}

TEST_F(InUse, WhatAnUnreadableQueueMayUseStays) {
  apply(flavor_yaml);
  apply(cluster_queue_yaml);
  apply_check();
  accept_newer(cluster_, api::ClusterQueue::resource);
  require_check();
  make_unreadable(cluster_, api::ObjectKey("cq"), api::ClusterQueue::resource);
  start_manager();
  settle();
  remove<api::AdmissionCheck>("checked");
  remove<api::ResourceFlavor>("cpu-only");
  settle(5min);
  EXPECT_TRUE(exists<api::AdmissionCheck>("checked"));
  EXPECT_TRUE(exists<api::ResourceFlavor>("cpu-only"));
  remove<api::ClusterQueue>("cq");
  until(
      "both went",
      [&] {
        return !exists<api::AdmissionCheck>("checked") && !exists<api::ResourceFlavor>("cpu-only");
      },
      5min);
}

TEST_F(InUse, ManyThatGoTogetherCostOneListOfTheirUsers) {
  start_with_queues();
  for (int i = 0; i < 40; ++i) apply(bare_flavor("f" + std::to_string(i)));
  settle();
  manager_->requests.clear();
  for (int i = 0; i < 40; ++i) remove<api::ResourceFlavor>("f" + std::to_string(i));
  settle(30s);
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(exists<api::ResourceFlavor>("f" + std::to_string(i)));
  EXPECT_EQ(manager_->requests.count("patch", "resourceflavors"), 40);
  EXPECT_GE(looks("clusterqueues"), 1);
  EXPECT_LE(looks("clusterqueues"), 2) << manager_->requests.str();
}

TEST_F(InUse, OneThatIsUsedCostsNoList) {
  start_with_queues();
  manager_->requests.clear();
  remove<api::ResourceFlavor>("cpu-only");
  settle(1min);
  EXPECT_TRUE(exists<api::ResourceFlavor>("cpu-only"));
  EXPECT_EQ(looks("clusterqueues"), 0) << manager_->requests.str();
}

}  // namespace
}  // namespace regatta::test_support
