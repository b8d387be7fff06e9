#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

/// LocalQueues `main` and `other` share a ClusterQueue that prefers the one that used less.
class AdmissionFairSharing : public OneCluster {
 protected:
  static manager::CoreConfig by_usage() {
    manager::CoreConfig config;
    auto& sharing = config.scheduler.admission.admission_fair_sharing.emplace();
    sharing.usage_half_life = 10min;
    sharing.usage_sampling_interval = 5min;
    return config;
  }
  void create_queues() {
    apply(flavor_yaml);
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: cpu-only, resources: [{name: cpu, nominalQuota: "4"}]}]
)");
    apply(local_queue_yaml);
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: other, namespace: default}
spec: {clusterQueue: cq}
)");
  }
  std::map<std::string, api::Quantity> consumed(const std::string& queue) {
    const auto stored = cluster_.get<api::LocalQueue>(key(queue));
    if (!stored || !stored->status.fair_sharing) return {};
    const auto& sharing = stored->status.fair_sharing->admission_fair_sharing_status;
    return sharing ? sharing->consumed_resources : std::map<std::string, api::Quantity>();
  }
  bool started(const std::string& name) { return !job(name).spec.suspend.value_or(true); }
  void finish(const std::string& name, int pods) {
    run_job(name, pods);
    complete_job(name, pods);
    settle();
  }
};

TEST_F(AdmissionFairSharing, TheStatusRemembersAcrossManagers) {
  create_queues();
  start_manager(by_usage());
  apply(job_yaml("first", 4));
  until("started", [&] { return started("first"); });
  settle(6min);
  ASSERT_TRUE(consumed("main").contains("cpu"));
  const api::Quantity sampled = consumed("main").at("cpu");
  EXPECT_GT(sampled, api::Quantity(1));
  EXPECT_LT(sampled, api::Quantity(4));
  EXPECT_EQ(consumed("other"), (std::map<std::string, api::Quantity>{{"cpu", api::Quantity(0)}}));

  manager_.reset();
  start_manager(by_usage());
  settle();
  EXPECT_EQ(consumed("main").at("cpu"), sampled);
  // Both wait for room. `main` asked first, `other` has used nothing.
  apply(job_yaml("again", 4));
  settle();
  apply(job_yaml("newcomer", 4, "other"));
  settle();
  finish("first", 4);
  until("the newcomer runs", [&] { return started("newcomer"); });
  EXPECT_FALSE(started("again"));
}

}  // namespace
}  // namespace regatta::test_support
