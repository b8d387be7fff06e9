#include "lib/base/rng.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

/// Queues of a cohort that take back quota that they lent. The hub has room for everything, so the
/// workers decide, and each worker sees only its own workloads.
class Chase : public Federation {
 protected:
  static std::string cohort_yaml(int nominal, const std::string& more) {
    std::string yaml;
    for (int q = 0; q < queues; ++q) {
      const std::string name = "q" + std::to_string(q);
      yaml +=
          "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: " + name +
          ", namespace: default}\nspec: {clusterQueue: " + name + "}\n" +
          "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: " + name +
          "}\nspec:\n  namespaceSelector: {}\n  cohortName: all\n" +
          "  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}\n" +
          "  resourceGroups:\n  - coveredResources: [cpu]\n    flavors: [{name: cpu-only, " +
          "resources: [{name: cpu, nominalQuota: \"" + std::to_string(nominal) + "\"}]}]\n" + more;
    }
    for (const char* value : {"10", "100"}) {
      yaml +=
          "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: "
          "{name: p" +
          std::string(value) + "}, value: " + value + "}\n";
    }
    return yaml;
  }

  static std::string long_job_yaml(const std::string& name, int pods, const std::string& queue,
                                   const std::string& priority) {
    std::string yaml = job_yaml(name, pods, queue, R"({sandbox.regatta.dev/run-seconds: "36000"})",
                                ", kueue.x-k8s.io/priority-class: " + priority);
    return yaml.replace(yaml.find("suspend: true"), 13,
                        "suspend: true, managedBy: kueue.x-k8s.io/multikueue");
  }

  int copies_made() {
    int copies = 0;
    for (const auto& [name, worker] : workers_) {
      copies += manager_->remote_requests[name].count("create", "workloads");
    }
    return copies;
  }

  static constexpr int queues = 5;
};

TEST_F(Chase, JobsThatTakeEachOthersPlacesOnTheWorkersComeToRest) {
  start_all({"east", "north", "west"});
  apply(cohort_yaml(1000, "  admissionChecksStrategy: {admissionChecks: [{name: mk}]}\n"));
  for (const auto& [name, worker] : workers_) {
    ASSERT_TRUE(worker.cluster->apply(cohort_yaml(4, "")));
  }
  settle();
  Rng rng(3);
  constexpr int jobs = 30;
  for (int i = 0; i < jobs; ++i) {
    const auto pods = static_cast<int>(1 << rng.between(0, 2));
    apply(long_job_yaml("j" + std::to_string(i), pods, "q" + std::to_string(rng.between(0, 4)),
                        rng.chance(0.3) ? "p100" : "p10"));
    settle(200ms);
  }
  settle(1min);
  const int copies = copies_made();
  EXPECT_GT(copies, 3 * jobs + 10) << "no workload lost its place: there is nothing to see";
  EXPECT_LT(copies, 3 * jobs * 3) << "each job raced more than three times, on average";
  settle(3min);
  EXPECT_EQ(copies_made(), copies) << "they still chase each other";
}

TEST_F(Chase, AJobThatNeverKeepsItsPlaceIsTriedLessAndLessOften) {
  start_all({"east"});
  TestCluster& east = *workers_.at("east").cluster;
  apply(remote_job_yaml("j"));
  std::vector<Duration> pauses;
  TimePoint lost{};
  for (int round = 0; round < 8; ++round) {
    until("it has its place", [&] { return east.get<api::Job>(key("j")).has_value(); }, 5min);
    if (round > 0) pauses.push_back(world_.now() - lost);
    lost = world_.now();
    const auto workload = workload_of("j");
    ASSERT_TRUE(workload);
    ASSERT_TRUE(east.remove(api::Workload::resource, workload->metadata.key()));
    until("it is noticed", [&] { return !east.get<api::Job>(key("j")).has_value(); });
  }
  EXPECT_LT(pauses[0], 500ms) << "the first time is for nothing";
  for (std::size_t i = 2; i < pauses.size(); ++i) {
    EXPECT_GT(pauses[i], pauses[i - 1] * 3 / 2) << "pause " << i;
  }
  EXPECT_GT(pauses.back(), 25s);
  EXPECT_LT(pauses.back(), 40s);
}

}  // namespace
}  // namespace regatta::test_support
