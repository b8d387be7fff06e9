// A job with several Workloads, all of which go to one worker: LeaderWorkerSets in a fleet.
#include "jobs/integrations/integrations.h"
#include "tests/component/federation.h"
#include "tests/support/manifests.h"

namespace regatta::test_support {
namespace {

class LeaderWorkerSets : public Federation {
 protected:
  static const api::ResourceInfo& sets() {
    static const api::ResourceInfo resource =
        jobs::all_kinds().find("leaderworkerset.x-k8s.io", "LeaderWorkerSet")->resource();
    return resource;
  }
  static const api::ResourceInfo& pods() {
    static const api::ResourceInfo resource{"", "v1", "Pod", "pods", true};
    return resource;
  }
  static Json replicas(int count) { return {{"spec", {{"replicas", count}}}}; }

  void start(std::vector<std::string> names) {
    manager::CoreConfig config;
    config.kinds = jobs::enabled_kinds({"pod", "leaderworkerset.x-k8s.io/leaderworkerset"});
    worker_config_ = config;
    apply(crd_yaml(sets()));
    define_on_workers_ = crd_yaml(sets());
    start_all(std::move(names), config);
  }
  /// Groups of one Pod, as the webhook leaves the job.
  void submit(int count) {
    apply(R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llm, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  replicas: )" +
          std::to_string(count) + R"(
  leaderWorkerTemplate:
    size: 1
    workerTemplate:
      metadata: {annotations: {kueue.x-k8s.io/pod-suspending-parent:
        leaderworkerset.x-k8s.io/leaderworkerset}}
      spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
)");
  }
  /// What the controller of LeaderWorkerSets and the webhook of Pods do: a Pod for each replica.
  void make_pods(TestCluster& cluster) {
    const Json set = cluster.get(sets(), key("llm"));
    if (set.is_null()) return;
    const int wanted = set["spec"].value("replicas", 1);
    for (int i = 0; i < wanted; ++i) {
      const std::string name = "llm-" + std::to_string(i);
      if (!cluster.get(pods(), key(name)).is_null()) continue;
      Json pod{{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"metadata",
                {{"name", name},
                 {"namespace", "default"},
                 {"labels",
                  {{"leaderworkerset.sigs.k8s.io/name", "llm"},
                   {"leaderworkerset.sigs.k8s.io/worker-index", "0"},
                   {"leaderworkerset.sigs.k8s.io/group-index", std::to_string(i)}}},
                 {"annotations",
                  {{"kueue.x-k8s.io/pod-suspending-parent",
                    "leaderworkerset.x-k8s.io/leaderworkerset"}}}}},
               {"spec", set["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]}};
      pod["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/admission"}}});
      ASSERT_TRUE(cluster.apply(pod.dump()));
    }
  }
  void make_pods_everywhere() {
    make_pods(cluster_);
    for (auto& [name, worker] : workers_) make_pods(*worker.cluster);
  }
  /// As a kubelet that ends the Pod in its own time.
  void run_slowly(TestCluster& cluster, const std::string& name) {
    const char* kept = R"({"metadata": {"finalizers": ["example.com/kubelet"]}})";
    ASSERT_TRUE(cluster.patch(pods(), key(name), kept));
    const char* runs = R"({"status": {"phase": "Running"}})";
    ASSERT_TRUE(cluster.patch(pods(), key(name), runs, "status"));
  }
  void end(TestCluster& cluster, const std::string& name) {
    ASSERT_TRUE(cluster.patch(pods(), key(name), R"({"metadata": {"finalizers": null}})"));
  }
  void activate(const std::string& group, bool on) {
    ASSERT_TRUE(
        cluster_.patch(api::Workload::resource, workload_of_group(group),
                       std::string(R"({"spec": {"active": )") + (on ? "true}}" : "false}}")));
  }
  /// By the index of the group: "east east -".
  std::string hosts() {
    std::map<std::string, std::string> found;
    for (const api::Workload& one : cluster_.list<api::Workload>()) {
      const std::string index = one.metadata.annotation("kueue.x-k8s.io/component-workload-index");
      found[index] = one.status.cluster_name.value_or("-");
    }
    std::string out;
    for (const auto& [index, cluster] : found) out += (out.empty() ? "" : " ") + cluster;
    return out;
  }
  /// "0 open, 1 gated"
  static std::string pods_of(TestCluster& cluster) {
    std::string out;
    for (int i = 0; i < 4; ++i) {
      const Json pod = cluster.get(pods(), key("llm-" + std::to_string(i)));
      if (pod.is_null()) continue;
      const bool gated = pod["spec"].contains("schedulingGates");
      const bool going = pod["metadata"].contains("deletionTimestamp");
      out += (out.empty() ? "" : ", ") + std::to_string(i) + (gated ? " gated" : " open") +
             (going ? " going" : "");
    }
    return out;
  }
  void until_pods(TestCluster& cluster, const std::string& wanted) {
    until((cluster.name() + ": " + wanted).c_str(), [&] {
      make_pods_everywhere();
      return pods_of(cluster) == wanted;
    });
  }
  void until_hosts(const std::string& wanted) {
    until(("hosts " + wanted).c_str(), [&] {
      make_pods_everywhere();
      return hosts() == wanted;
    });
  }
  api::ObjectKey workload_of_group(const std::string& index) {
    for (const api::Workload& one : cluster_.list<api::Workload>()) {
      if (one.metadata.annotation("kueue.x-k8s.io/component-workload-index") == index) {
        return one.metadata.key();
      }
    }
    return {};
  }
  void scale(int count) { ASSERT_TRUE(cluster_.patch(sets(), key("llm"), replicas(count).dump())); }
  std::string copies(const std::string& name) {
    return std::to_string(worker(name).list<api::Workload>("default").size());
  }
};

TEST_F(LeaderWorkerSets, AllGroupsGoToOneWorkerAndTheirPodsStayGatedOnTheHub) {
  start({"east", "west"});
  submit(3);
  make_pods(cluster_);
  until("all have a worker", [&] {
    const std::string all = hosts();
    return all == "east east east" || all == "west west west";
  });
  const std::string name = hosts().substr(0, 4);
  until_pods(worker(name), "0 open, 1 open, 2 open");
  settle(10s);
  EXPECT_EQ(pods_of(cluster_), "0 gated, 1 gated, 2 gated");
  EXPECT_EQ(copies(name), "3") << "it makes no Workload of its own there";
  const std::string other = name == "east" ? "west" : "east";
  EXPECT_TRUE(worker(other).get(sets(), key("llm")).is_null());
  EXPECT_EQ(copies(other), "0");
}

TEST_F(LeaderWorkerSets, ReplicasFollowFromTheHub) {
  start({"east", "west"});
  submit(1);
  until("it has a worker", [&] { return hosts().size() == 4; });
  const std::string name = hosts();
  TestCluster& there = worker(name);
  until_pods(there, "0 open");
  scale(3);
  until_hosts(name + " " + name + " " + name);
  until_pods(there, "0 open, 1 open, 2 open");
  const std::string uid = there.get(sets(), key("llm"))["metadata"].value("uid", "");

  scale(1);
  until_hosts(name);
  until("it is scaled down there",
        [&] { return there.get(sets(), key("llm"))["spec"].value("replicas", 0) == 1; });
  until_pods(there, "0 open");
  settle(30s);
  EXPECT_EQ(there.get(sets(), key("llm"))["metadata"].value("uid", ""), uid) << "it is the same";
  EXPECT_EQ(pods_of(there), "0 open") << "the first group went on";
  EXPECT_EQ(copies(name), "1");
}

TEST_F(LeaderWorkerSets, WithoutReplicasItGoesFromTheWorkerAndComesBackWithThem) {
  start({"east"});
  submit(1);
  until_hosts("east");
  until_pods(worker("east"), "0 open");
  scale(0);
  until("it is gone there", [&] { return worker("east").get(sets(), key("llm")).is_null(); });
  settle(30s);
  EXPECT_EQ(hosts(), "");
  EXPECT_EQ(copies("east"), "0");
  scale(1);
  until_hosts("east");
  until_pods(worker("east"), "0 open");
}

TEST_F(LeaderWorkerSets, ACopyThatWasScaledToNoneOnItsWorkerIsFound) {
  start({"east"});
  submit(1);
  until_hosts("east");
  until_pods(worker("east"), "0 open");
  // As a hub did that let its copy follow it to none.
  ASSERT_TRUE(worker("east").patch(sets(), key("llm"), replicas(0).dump()));
  scale(0);
  until("it is gone there", [&] { return worker("east").get(sets(), key("llm")).is_null(); });
  settle(10s);
  EXPECT_EQ(copies("east"), "0");
}

TEST_F(LeaderWorkerSets, AGroupThatLostItsPlaceComesBackToTheOthers) {
  start({"east", "west"});
  submit(1);
  until("it has a worker", [&] { return hosts().size() == 4; });
  const std::string name = hosts();
  TestCluster& there = worker(name);
  scale(2);
  until_pods(there, "0 open, 1 open");
  const std::string uid = there.get(sets(), key("llm"))["metadata"].value("uid", "");
  run_slowly(there, "llm-0");
  // The first group goes: it does not race while the other one is there.
  activate("0", false);
  until_pods(there, "0 open going, 1 open");
  settle(30s);
  EXPECT_EQ(copies(name), "2") << "it may still run";
  end(there, "llm-0");
  until_hosts("- " + name);
  settle(30s);
  EXPECT_EQ(there.get(sets(), key("llm"))["metadata"].value("uid", ""), uid) << "the job stays";
  EXPECT_EQ(copies(name), "1");
  EXPECT_EQ(pods_of(there), "0 gated, 1 open");
  // It waits for room there, although another worker has some.
  const std::string other = name == "east" ? "west" : "east";
  give(name, "1");
  activate("0", true);
  settle(1min);
  EXPECT_EQ(hosts(), "- " + name);
  EXPECT_EQ(copies(other), "0");
  give(name, "4");
  until_hosts(name + " " + name);
  until_pods(there, "0 open, 1 open");
  EXPECT_EQ(there.get(sets(), key("llm"))["metadata"].value("uid", ""), uid);
}

TEST_F(LeaderWorkerSets, OtherGroupsWaitForTheFirstOne) {
  start({"east", "west"});
  cluster_.set_local_stop_policy("Hold");
  submit(2);
  until("both Workloads are there", [&] { return hosts() == "- -"; });
  activate("0", false);
  cluster_.set_local_stop_policy("None");
  settle(2min);
  EXPECT_EQ(hosts(), "- -");
  EXPECT_EQ(copies("east") + copies("west"), "00");
  const auto second = cluster_.get<api::Workload>(workload_of_group("1"));
  EXPECT_EQ(condition(second->status.conditions, "QuotaReserved").substr(0, 4), "True");
  EXPECT_EQ(condition(second->status.conditions, "Dispatched"),
            "False WaitingForFirstGroup: The Workload of the job's first group decides the worker "
            "cluster, and has none");
  activate("0", true);
  until("both have a worker", [&] { return hosts() == "east east" || hosts() == "west west"; });
}

TEST_F(LeaderWorkerSets, TheLastGroupThatLeavesTakesTheJobAlong) {
  start({"east"});
  submit(2);
  until_hosts("east east");
  until_pods(worker("east"), "0 open, 1 open");
  run_slowly(worker("east"), "llm-0");
  activate("0", false);
  activate("1", false);
  until_pods(worker("east"), "0 open going, 1 gated");
  settle(30s);
  EXPECT_EQ(copies("east"), "1");
  EXPECT_FALSE(worker("east").get(sets(), key("llm")).is_null()) << "the first group still runs";
  end(worker("east"), "llm-0");
  until("it is gone there", [&] {
    make_pods_everywhere();
    return worker("east").get(sets(), key("llm")).is_null();
  });
  until_hosts("- -");
  settle(10s);
  EXPECT_EQ(copies("east"), "0");
}

TEST_F(LeaderWorkerSets, ItGoesFromTheWorkerWithTheJobOfTheHub) {
  start({"east", "west"});
  submit(2);
  until("it has a worker", [&] { return hosts().size() == 9; });
  const std::string name = hosts().substr(0, 4);
  until_pods(worker(name), "0 open, 1 open");
  ASSERT_TRUE(cluster_.remove(sets(), key("llm")));
  for (const api::Workload& one : cluster_.list<api::Workload>()) {
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, one.metadata.key()));
  }
  until("it is gone there", [&] { return worker(name).get(sets(), key("llm")).is_null(); });
  settle(10s);
  EXPECT_EQ(copies(name), "0");
  EXPECT_EQ(cluster_.list<api::Workload>().size(), 0U);
}

TEST_F(LeaderWorkerSets, ItsPodsThatAreLeftOnTheHubAreNoGroupForAWorker) {
  start({"east"});
  submit(1);
  until_pods(worker("east"), "0 open");
  ASSERT_TRUE(cluster_.remove(sets(), key("llm")));
  settle(5min);
  EXPECT_EQ(hosts(), "east");
  for (const std::string& one : events("Workload")) {
    EXPECT_EQ(one.find("was not created by MultiKueue"), std::string::npos) << one;
  }
  ASSERT_TRUE(cluster_.patch(pods(), key("llm-0"), R"({"metadata": {"finalizers": null}})"));
  ASSERT_TRUE(cluster_.remove(pods(), key("llm-0")));
  // As the garbage collector.
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, workload_of_group("0")));
  until("it is gone there", [&] { return worker("east").get(sets(), key("llm")).is_null(); });
}

TEST_F(LeaderWorkerSets, WhenTheWorkerIsLostAllGroupsGoToAnotherOne) {
  start({"east", "west"});
  submit(2);
  until("it has a worker", [&] { return hosts().size() == 9; });
  const std::string name = hosts().substr(0, 4);
  const std::string other = name == "east" ? "west" : "east";
  until_pods(worker(name), "0 open, 1 open");
  network_.faults(name).partitioned = true;
  settle(20min);
  EXPECT_EQ(hosts(), other + " " + other);
  until_pods(worker(other), "0 open, 1 open");
  network_.faults(name).partitioned = false;
  until("it is gone there", [&] { return worker(name).get(sets(), key("llm")).is_null(); });
  settle(1min);
  EXPECT_EQ(hosts(), other + " " + other);
  EXPECT_EQ(copies(name), "0");
}

}  // namespace
}  // namespace regatta::test_support
