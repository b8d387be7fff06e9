// The wall between kinds of jobs and what handles them: a kind that only this test knows goes the
// whole way, on one cluster and across the fleet.
#include "jobs/integrations/integrations.h"
#include "tests/component/federation.h"
#include "tests/support/crew.h"
#include "tests/support/manifests.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class MadeUpKind : public Federation {
 protected:
  static manager::CoreConfig with_crews() {
    manager::CoreConfig config;
    auto kinds = jobs::all_kinds().all();
    kinds.push_back(crew_kind());
    config.kinds = jobs::JobKinds(std::move(kinds));
    return config;
  }
  static const api::ResourceInfo& crews() { return crew_kind()->resource(); }

  /// A captain and so many sailors, one CPU each.
  static std::string crew_yaml(const std::string& name, int sailors, const std::string& more = "") {
    const std::string pod =
        "{spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}";
    return "apiVersion: example.dev/v1\nkind: Crew\nmetadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}\nspec: {suspend: "
           "true, sailors: " +
           std::to_string(sailors) + more + ", captain: " + pod + ", sailor: " + pod + "}\n";
  }
  void crew_status(TestCluster& cluster, const std::string& name, const std::string& json) {
    const Status done = cluster.patch(crews(), key(name), "{\"status\":" + json + "}", "status");
    ASSERT_TRUE(done) << done.error().what();
  }
};

TEST_F(MadeUpKind, IsQueuedStartedPreemptedAndFinishedLikeAnyOther) {
  apply(crd_yaml(crew_kind()->resource()));
  apply(flavor_yaml);
  std::string queue = cluster_queue_yaml;
  apply(queue.replace(queue.find("  resourceGroups"), 0,
                      "  preemption: {withinClusterQueue: LowerPriority}\n"));
  apply(local_queue_yaml);
  apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\n"
      "value: 100");
  start_manager(with_crews());
  apply(crew_yaml("c", 2));
  settle();

  const auto workload = workload_of("c");
  ASSERT_TRUE(workload);
  EXPECT_THAT(workload->metadata.name, StartsWith("crew-c-"));
  EXPECT_EQ(workload->metadata.controller()->api_version, "example.dev/v1");
  ASSERT_EQ(workload->spec.pod_sets.size(), 2U);
  EXPECT_EQ(workload->spec.pod_sets[0].name, "captain");
  EXPECT_EQ(workload->spec.pod_sets[1].count, 2);
  Json crew = cluster_.get(crews(), key("c"));
  EXPECT_FALSE(crew["spec"]["suspend"].get<bool>());
  for (const char* member : {"captain", "sailor"}) {
    EXPECT_EQ(crew["spec"][member]["spec"]["nodeSelector"]["pool"], "cpu") << member;
  }
  EXPECT_THAT(events("Crew"), Contains(HasSubstr("Started: Admitted by clusterQueue cq")));

  crew_status(cluster_, "c", R"({"running": 3, "ready": 3})");
  apply(job_yaml("urgent", 2, "main", "{}", ", kueue.x-k8s.io/priority-class: high"));
  settle();
  EXPECT_THAT(condition_of("c", "Preempted"), StartsWith("True InClusterQueue"));
  crew = cluster_.get(crews(), key("c"));
  EXPECT_TRUE(crew["spec"]["suspend"].get<bool>());
  EXPECT_FALSE(crew["spec"]["sailor"]["spec"].contains("nodeSelector"));
  EXPECT_TRUE(job("urgent").spec.suspend.value_or(false)) << "before the pods of the victim ended";
  crew_status(cluster_, "c", R"({"running": 0, "ready": 0})");
  settle();
  EXPECT_FALSE(job("urgent").spec.suspend.value_or(true));

  complete_job("urgent", 2);
  settle(5s);
  crew_status(cluster_, "c", R"({"running": 0, "result": "Succeeded"})");
  settle();
  EXPECT_EQ(condition_of("c", "Finished"), "True Succeeded: Succeeded");
  EXPECT_TRUE(workload_of("c")->metadata.finalizers.empty());
}

TEST_F(MadeUpKind, RacesOverTheFleetAndItsStatusComesHome) {
  worker_config_ = with_crews();
  for (const char* name : {"east", "west"}) {
    add_worker(name);
    ASSERT_TRUE(workers_.at(name).cluster->apply(crd_yaml(crew_kind()->resource())));
  }
  apply(crd_yaml(crew_kind()->resource()));
  configure_hub();
  start_manager(with_crews());
  for (const char* name : {"east", "west"}) start_worker(name);
  settle(10s);
  apply(crew_yaml("c", 2, ", managedBy: kueue.x-k8s.io/multikueue"));
  until("won", [&] {
    const auto workload = workload_of("c");
    return workload && workload->status.cluster_name;
  });
  settle();
  const std::string winner = *workload_of("c")->status.cluster_name;
  TestCluster& host = *workers_.at(winner).cluster;
  const Json remote = host.get(crews(), key("c"));
  ASSERT_TRUE(remote.is_object());
  EXPECT_FALSE(remote["spec"]["suspend"].get<bool>());
  EXPECT_FALSE(remote["spec"].contains("managedBy"));
  EXPECT_EQ(remote["spec"]["captain"]["spec"]["nodeSelector"]["pool"], "cpu");
  for (const auto& [name, worker] : workers_) {
    if (name == winner) continue;
    EXPECT_TRUE(worker.cluster->get(crews(), key("c")).is_null());
    EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
  }

  crew_status(host, "c", R"({"running": 3, "ready": 3})");
  settle();
  EXPECT_EQ(cluster_.get(crews(), key("c"))["status"]["running"], 3);
  crew_status(host, "c", R"({"running": 0, "ready": 0, "result": "Succeeded"})");
  until("finished", [&] { return condition_of("c", "Finished") != ""; });
  settle();
  EXPECT_EQ(condition_of("c", "Finished"), "True Succeeded: Succeeded");
  EXPECT_EQ(cluster_.get(crews(), key("c"))["status"]["result"], "Succeeded");
  for (const auto& [name, worker] : workers_) {
    EXPECT_TRUE(worker.cluster->get(crews(), key("c")).is_null()) << name;
    EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
  }
}

}  // namespace
}  // namespace regatta::test_support
