// Jobs that are several objects, and run on a worker: groups of Pods, and StatefulSets.
#include "jobs/integrations/integrations.h"
#include "tests/component/federation.h"
#include "tests/component/stateful_set.h"

namespace regatta::test_support {
namespace {

class GroupsInFleet : public Federation {
 protected:
  void start(std::vector<std::string> names, const std::vector<std::string>& frameworks = {"pod"},
             manager::CoreConfig config = {}) {
    config.kinds = jobs::enabled_kinds(frameworks);
    worker_config_ = config;
    start_all(std::move(names), config);
  }
  static const api::ResourceInfo& pods() {
    static const api::ResourceInfo resource{"", "v1", "Pod", "pods", true};
    return resource;
  }
  static const api::ResourceInfo& sets() {
    static const api::ResourceInfo resource{"apps", "v1", "StatefulSet", "statefulsets", true};
    return resource;
  }
  /// A Pod of the group "g" of two, as the webhook lets it in.
  static std::string pod_yaml(const std::string& name, const std::string& total = "2") {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           R"(, namespace: default, finalizers: [kueue.x-k8s.io/managed],
  labels: {kueue.x-k8s.io/managed: "true", kueue.x-k8s.io/queue-name: main,
           kueue.x-k8s.io/pod-group-name: g},
  annotations: {kueue.x-k8s.io/role-hash: "1", kueue.x-k8s.io/pod-group-total-count: ")" +
           total + R"("}}
spec:
  restartPolicy: Never
  schedulingGates: [{name: kueue.x-k8s.io/admission}]
  containers: [{name: main, image: img, resources: {requests: {cpu: "1"}}}]
)";
  }
  /// One that is not tried again when it has failed.
  static std::string last_try_yaml(const std::string& name) {
    const std::string before = "annotations: {";
    std::string yaml = pod_yaml(name);
    return yaml.insert(yaml.find(before) + before.size(),
                       "kueue.x-k8s.io/retriable-in-group: \"false\", ");
  }
  std::string host(const std::string& workload = "g") {
    const auto found = cluster_.get<api::Workload>(key(workload));
    return found ? found->status.cluster_name.value_or("") : "";
  }
  /// "a gated, b open, c Running going": the Pods of a cluster.
  static std::string pods_of(TestCluster& cluster) {
    std::string out;
    for (const char* name : {"a", "b", "c", "db-0"}) {
      const Json pod = cluster.get(pods(), key(name));
      if (pod.is_null()) continue;
      std::string state = pod["status"].value("phase", "");
      if (state.empty() || state == "Pending") {
        state = pod["spec"].contains("schedulingGates") ? "gated" : "open";
      }
      if (pod["metadata"].contains("deletionTimestamp")) state += " going";
      out += (out.empty() ? "" : ", ") + std::string(name) + " " + state;
    }
    return out;
  }
  void until_pods(TestCluster& cluster, const std::string& wanted, Duration limit = 60s) {
    const std::string what = cluster.name() + ": " + wanted;
    until(what.c_str(), [&] { return pods_of(cluster) == wanted; }, limit);
  }
  /// Two Pods of the group are on `east`, the only worker.
  TestCluster& start_two() {
    start({"east"});
    apply(pod_yaml("a"));
    apply(pod_yaml("b"));
    until_pods(worker("east"), "a open, b open");
    return worker("east");
  }
  std::string only_workload() {
    const auto all = cluster_.list<api::Workload>();
    return all.size() == 1 ? all.front().metadata.name : "";
  }
  void set_phase(TestCluster& cluster, const std::string& pod, const std::string& phase) {
    const Json status{{"status", {{"phase", phase}}}};
    ASSERT_TRUE(cluster.patch(pods(), key(pod), status.dump(), "status"));
  }
};

TEST_F(GroupsInFleet, AGroupRunsOnOneWorkerAndItsPodsStayGatedOnTheHub) {
  start({"east", "west"});
  apply(pod_yaml("a"));
  apply(pod_yaml("b"));
  until("a worker has won", [&] { return !host().empty(); });
  TestCluster& there = worker(host());
  until_pods(there, "a open, b open");
  EXPECT_EQ(pods_of(cluster_), "a gated, b gated");
  set_phase(there, "b", "Running");
  until_pods(cluster_, "a gated, b Running");
  EXPECT_TRUE(cluster_.get(pods(), key("b"))["spec"].contains("schedulingGates"));

  set_phase(there, "a", "Succeeded");
  set_phase(there, "b", "Succeeded");
  settle(10s);
  const auto workload = cluster_.get<api::Workload>(key("g"));
  ASSERT_TRUE(workload);
  EXPECT_EQ(condition(workload->status.conditions, "Finished"),
            "True Succeeded: Pods succeeded: 2/2.");
  for (const char* name : {"a", "b"}) {
    const Json ended = cluster_.get(pods(), key(name));
    EXPECT_EQ(ended["status"]["phase"], "Succeeded") << name;
    EXPECT_FALSE(ended["metadata"].contains("finalizers")) << name;
  }
  for (const char* name : {"east", "west"}) {
    EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
    EXPECT_EQ(pods_of(worker(name)), "") << name;
  }
}

TEST_F(GroupsInFleet, AGroupOfSixteenCostsTheHubFewWritesBesidesThoseOfItsPods) {
  start({"east", "west"});
  give("east", "16");
  give("west", "16");
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec": {"resourceGroups": [{"coveredResources": ["cpu"],
      "flavors": [{"name": "cpu-only",
                   "resources": [{"name": "cpu", "nominalQuota": "16"}]}]}]}})"));
  settle(5s);
  manager_->requests.clear();
  constexpr int size = 16;
  const auto name = [](int i) { return "p" + std::to_string(i); };
  for (int i = 0; i < size; ++i) apply(pod_yaml(name(i), std::to_string(size)));
  until("a worker has won", [&] { return !host().empty(); });
  TestCluster& there = worker(host());
  for (int i = 0; i < size; ++i) {
    until("it is there", [&] { return !there.get(pods(), key(name(i))).is_null(); });
    set_phase(there, name(i), "Running");
  }
  settle(10s);
  for (int i = 0; i < size; ++i) set_phase(there, name(i), "Succeeded");
  settle(10s);
  EXPECT_EQ(condition(cluster_.get<api::Workload>(key("g"))->status.conditions, "Finished"),
            "True Succeeded: Pods succeeded: 16/16.");
  const RequestCounts& sent = manager_->requests;
  const int of_pods = sent.count("patch", "pods") + sent.count("patch", "pods/status");
  // A Job's Workload costs six.
  EXPECT_LE(sent.writes() - of_pods, 12) << sent.str();
  EXPECT_LE(of_pods, 5 * size) << "started, ended, and let go: " << sent.str();
}

TEST_F(GroupsInFleet, AGroupOfWhichOneHasSucceededIsStillReady) {
  manager::CoreConfig config;
  wait_for_pods(&config, 5min);
  start({"east"}, {"pod"}, config);
  apply(pod_yaml("a"));
  apply(pod_yaml("b"));
  until("a worker has won", [&] { return !host().empty(); });
  TestCluster& there = worker(host());
  until_pods(there, "a open, b open");
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(there.patch(pods(), key(name), R"({"status": {"phase": "Running", "conditions": [
        {"type": "Ready", "status": "True"}]}})",
                            "status"));
  }
  settle(10s);
  ASSERT_TRUE(there.patch(pods(), key("a"), R"({"status": {"phase": "Succeeded", "conditions": [
      {"type": "Ready", "status": "False"}]}})",
                          "status"));
  settle(20min);
  EXPECT_EQ(pods_of(cluster_), "a Succeeded, b Running");
  for (TestCluster* cluster : {&cluster_, &there}) {
    const auto workload = cluster->get<api::Workload>(key("g"));
    ASSERT_TRUE(workload);
    EXPECT_EQ(condition(workload->status.conditions, "Evicted"), "") << cluster->name();
    EXPECT_EQ(condition(workload->status.conditions, "PodsReady").substr(0, 13), "True Started:");
  }
}

/// As when the worker's API server goes back to before the end, and its kubelet finds nothing left.
TEST_F(GroupsInFleet, APodThatHasSucceededIsNotToldToHaveFailed) {
  start({"east"});
  apply(pod_yaml("a"));
  apply(pod_yaml("b"));
  until("a worker has won", [&] { return !host().empty(); });
  TestCluster& there = worker(host());
  until_pods(there, "a open, b open");
  set_phase(there, "b", "Running");
  set_phase(there, "a", "Succeeded");
  until_pods(cluster_, "a Succeeded, b Running");
  set_phase(there, "a", "Failed");
  settle(10s);
  EXPECT_EQ(pods_of(cluster_), "a Succeeded, b Running");
  set_phase(there, "b", "Succeeded");
  until_pods(cluster_, "a Succeeded, b Succeeded");
}

TEST_F(GroupsInFleet, APodThatReplacesOneOnTheHubReplacesItThere) {
  start_two();
  ASSERT_TRUE(cluster_.remove(pods(), key("b")));
  until_pods(worker("east"), "a open");
  apply(pod_yaml("c"));
  until_pods(worker("east"), "a open, c open");
  settle(10s);
  EXPECT_EQ(pods_of(cluster_), "a gated, c gated");
  EXPECT_EQ(pods_of(worker("east")), "a open, c open");
  EXPECT_EQ(host(), "east");
}

TEST_F(GroupsInFleet, APodThatHasTheNameOfAnEarlierOneOfTheGroupRuns) {
  TestCluster& there = start_two();
  set_phase(there, "a", "Running");
  set_phase(there, "b", "Failed");
  until_pods(cluster_, "a Running, b Failed");
  ASSERT_TRUE(cluster_.remove(pods(), key("b")));
  apply(pod_yaml("c"));
  until_pods(cluster_, "a Running, c gated");
  until_pods(there, "a Running, b Failed, c open");
  set_phase(there, "c", "Failed");
  until_pods(cluster_, "a Running, c Failed");
  ASSERT_TRUE(cluster_.remove(pods(), key("c")));
  const auto kept = [&](const char* finalizers) {
    const std::string patch = std::string(R"({"metadata":{"finalizers":)") + finalizers + "}}";
    ASSERT_TRUE(there.patch(pods(), key("b"), patch));
  };
  kept(R"(["test/kept"])");
  apply(pod_yaml("b"));
  until_pods(there, "a Running, b Failed going, c Failed");
  set_phase(there, "a", "Succeeded");
  until_pods(cluster_, "a Succeeded, b gated");
  kept("null");
  until_pods(there, "a Succeeded, b open, c Failed");
  settle(10s);
  EXPECT_EQ(pods_of(cluster_), "a Succeeded, b gated") << "how the one before it ended";
  set_phase(there, "b", "Running");
  until_pods(cluster_, "a Succeeded, b Running");
}

TEST_F(GroupsInFleet, ACreationWhoseAnswerWasLostIsNoReasonToGiveTheWorkerUp) {
  manager::CoreConfig config;
  config.dispatch.plan.worker_lost_timeout = 60s;
  start({"east"}, {"pod"}, config);
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.method == "POST" && request.target.find("/pods") != std::string::npos;
  };
  network_.faults("east").hang_reply = 1;
  apply(pod_yaml("a"));
  apply(pod_yaml("b"));
  until_pods(worker("east"), "a open, b open");
  settle(20s);
  network_.faults("east").hang_reply = 0;
  settle(70s);
  network_.faults("east").hang_before = 1;
  ASSERT_TRUE(cluster_.remove(pods(), key("b")));
  until_pods(worker("east"), "a open");
  apply(pod_yaml("c"));
  settle(20s);
  network_.faults("east").hang_before = 0;
  until_pods(worker("east"), "a open, c open");
  EXPECT_EQ(host(), "east");
  const auto group = cluster_.get<api::Workload>(key("g"));
  EXPECT_FALSE(api::find_condition(group->status.conditions, "Evicted"));
}

TEST_F(GroupsInFleet, APodThatIsGoneOnTheWorkerIsCreatedAnew) {
  start_two();
  const std::string first = worker("east").get(pods(), key("a"))["metadata"].value("uid", "");
  ASSERT_TRUE(worker("east").patch(pods(), key("a"), R"({"metadata": {"finalizers": null}})"));
  ASSERT_TRUE(worker("east").remove(pods(), key("a")));
  until("another one is there", [&] {
    const Json pod = worker("east").get(pods(), key("a"));
    return pod.is_object() && pod["metadata"].value("uid", "") != first;
  });
  until_pods(worker("east"), "a open, b open");
  EXPECT_EQ(host(), "east");
}

TEST_F(GroupsInFleet, APodWithoutANodeThatIsDeletedOnTheWorkerIsCreatedAnew) {
  TestCluster& there = start_two();
  const std::string first = there.get(pods(), key("a"))["metadata"].value("uid", "");
  // As the webhook there has let it in.
  ASSERT_TRUE(
      there.patch(pods(), key("a"), R"({"metadata": {"finalizers": ["kueue.x-k8s.io/managed"]}})"));
  ASSERT_TRUE(there.remove(pods(), key("a")));
  until("another one is there", [&] {
    const Json pod = there.get(pods(), key("a"));
    return pod.is_object() && pod["metadata"].value("uid", "") != first;
  });
  until_pods(there, "a open, b open");
  EXPECT_EQ(host(), "east");
}

TEST_F(GroupsInFleet, AGroupGoesElsewhereWhenAPodOfTheWorkerHasTheNameOfOneOfThem) {
  start({"east"});
  Json taken = Json::parse(R"({"apiVersion": "v1", "kind": "Pod",
      "metadata": {"name": "b", "namespace": "default"},
      "spec": {"containers": [{"name": "main", "image": "img"}]}})");
  ASSERT_TRUE(worker("east").apply(taken.dump()));
  apply(pod_yaml("a"));
  apply(pod_yaml("b"));
  until("it is told", [&] {
    const auto told = events("Workload");
    return std::any_of(told.begin(), told.end(), [](const std::string& one) {
      return one.find("was not created by MultiKueue exists on worker cluster \"east\"") !=
             std::string::npos;
    });
  });
  settle(30s);
  EXPECT_EQ(pods_of(worker("east")), "b open") << "what is not ours stays, what is ours goes";
  EXPECT_EQ(host(), "");
}

TEST_F(GroupsInFleet, AGroupThatIsDeletedOnTheHubGoesOnItsWorker) {
  start_two();
  ASSERT_TRUE(cluster_.remove(pods(), key("a")));
  ASSERT_TRUE(cluster_.remove(pods(), key("b")));
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("g")));
  until_pods(worker("east"), "");
  until("it is gone on the hub",
        [&] { return pods_of(cluster_).empty() && !cluster_.get<api::Workload>(key("g")); });
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

TEST_F(GroupsInFleet, AGroupThatLostItsPlaceRunsAgainWithTheSamePodsOfTheHub) {
  TestCluster& there = start_two();
  // As a kubelet: it runs, and ends it in its own time.
  const char* kept = R"({"metadata": {"finalizers": ["example.com/kubelet"]}})";
  ASSERT_TRUE(there.patch(pods(), key("b"), kept));
  set_phase(there, "b", "Running");
  until_pods(cluster_, "a gated, b Running");
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, key("g"), R"({"spec": {"active": false}})"));
  until_pods(there, "b Running going");
  set_phase(there, "b", "Failed");
  settle(5s);
  EXPECT_EQ(pods_of(cluster_), "a gated, b Running") << "it has not failed";
  ASSERT_TRUE(there.patch(pods(), key("b"), R"({"metadata": {"finalizers": null}})"));
  until_pods(there, "");
  settle(10s);
  EXPECT_EQ(host(), "");
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, key("g"), R"({"spec": {"active": true}})"));
  until_pods(there, "a open, b open");
  EXPECT_EQ(pods_of(cluster_), "a gated, b gated");
}

TEST_F(GroupsInFleet, AGroupForOneTryThatLostItsPlaceWhileTheHubWasAwayHasNotEnded) {
  start({"east"});
  for (const char* name : {"a", "b"}) apply(last_try_yaml(name));
  TestCluster& there = worker("east");
  until_pods(there, "a open, b open");
  // As a kubelet: it runs them, and ends them in its own time.
  const auto keep = [&](const char* finalizers) {
    const Json patch{{"metadata", {{"finalizers", Json::parse(finalizers)}}}};
    for (const char* name : {"a", "b"}) ASSERT_TRUE(there.patch(pods(), key(name), patch.dump()));
  };
  const auto set_all = [&](const char* phase) {
    for (const char* name : {"a", "b"}) set_phase(there, name, phase);
  };
  keep(R"(["example.com/kubelet"])");
  set_all("Running");
  until_pods(cluster_, "a Running, b Running");
  network_.faults("east").partitioned = true;
  there.set_stop_policy("HoldAndDrain");
  until_pods(there, "a Running going, b Running going");
  set_all("Failed");
  settle(5s);
  const auto copy = there.get<api::Workload>(key("g"));
  ASSERT_TRUE(copy);
  EXPECT_FALSE(api::is_true(copy->status.conditions, "Finished"));
  EXPECT_FALSE(api::is_true(copy->status.conditions, "QuotaReserved"));
  keep("[]");
  network_.faults("east").partitioned = false;
  there.set_stop_policy("None");
  // The watches that were cut off say nothing.
  until_pods(there, "a open, b open", 5min);
  until_pods(cluster_, "a gated, b gated");
  EXPECT_FALSE(api::is_true(cluster_.get<api::Workload>(key("g"))->status.conditions, "Finished"));
}

TEST_F(GroupsInFleet, WhatRunsOnAWorkerGoesOnWhenTheHubNoLongerManagesItsKind) {
  TestCluster& there = start_two();
  const manager::CoreConfig with_pods = worker_config_;
  for (const char* name : {"a", "b"}) set_phase(there, name, "Running");
  until_pods(cluster_, "a Running, b Running");
  manager_.reset();
  start_manager();  // Jobs alone
  settle(2min);
  EXPECT_EQ(pods_of(there), "a Running, b Running");
  EXPECT_EQ(host(), "east");
  const auto dispatched = [this] {
    return condition(cluster_.get<api::Workload>(key("g"))->status.conditions, "Dispatched");
  };
  EXPECT_EQ(dispatched(),
            "False KindNotManaged: The manager runs no such jobs on worker clusters (No multikueue "
            "adapter found for owner kind \"v1, Kind=Pod\"). The job goes on on worker cluster "
            "\"east\", and nothing is told of it here: list its kind in integrations.frameworks");
  manager_.reset();
  start_manager(with_pods);
  until("told", [&] { return dispatched().starts_with("True Dispatched"); });
  for (const char* name : {"a", "b"}) set_phase(there, name, "Succeeded");
  until_pods(cluster_, "a Succeeded, b Succeeded");
  until_pods(there, "");
}

TEST_F(GroupsInFleet, PodsOfAWorkerThatCallsTheGroupFinishedEndOnTheHubAsTheyEndedThere) {
  start({"east"});
  for (const char* name : {"a", "b"}) apply(last_try_yaml(name));
  TestCluster& there = worker("east");
  until_pods(there, "a open, b open");
  // As Kueue's manager.
  workers_.at("east").manager.reset();
  const char* killed = R"({"status": {"phase": "Failed", "conditions": [
      {"type": "TerminationTarget", "status": "True", "reason": "Preempted"}]}})";
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(there.patch(pods(), key(name), killed, "status"));
  }
  Json conditions = there.get(api::Workload::resource, key("g"))["status"]["conditions"];
  conditions.push_back({{"type", "Finished"},
                        {"status", "True"},
                        {"reason", "Succeeded"},
                        {"message", "Pods succeeded: 0/2."},
                        {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
  const Json patch{{"status", {{"conditions", conditions}}}};
  ASSERT_TRUE(there.patch(api::Workload::resource, key("g"), patch.dump(), "status"));
  until("it has ended", [&] {
    const auto workload = cluster_.get<api::Workload>(key("g"));
    return workload && api::is_true(workload->status.conditions, "Finished");
  });
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(cluster_.get(pods(), key(name))["status"]["phase"], "Failed") << name;
  }
}

TEST_F(GroupsInFleet, AStatefulSetRunsOnOneWorkerAndItsPodsStayGatedOnTheHub) {
  manager::CoreConfig config;
  wait_for_pods(&config, 5min);
  start({"east", "west"}, {"pod", "statefulset"}, config);
  /// As the controller of StatefulSets makes it, and the webhook of Pods lets it in.
  const auto make_pod = [&](TestCluster& cluster) {
    const Json set = cluster.get(sets(), key("db"));
    const Json owner{{"apiVersion", "apps/v1"},
                     {"kind", "StatefulSet"},
                     {"name", "db"},
                     {"controller", true},
                     {"uid", set["metadata"].value("uid", "")}};
    const Json pod{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata",
                    {{"name", "db-0"},
                     {"namespace", "default"},
                     {"ownerReferences", Json::array({owner})},
                     {"labels", {{"app", "db"}, {"apps.kubernetes.io/pod-index", "0"}}},
                     {"annotations", {{"kueue.x-k8s.io/pod-suspending-parent", "statefulset"}}}}},
                   {"spec", set["spec"]["template"]["spec"]}};
    Json gated = pod;
    gated["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/admission"}}});
    ASSERT_TRUE(cluster.apply(gated.dump()));
  };
  apply(stateful_set_yaml(1));
  make_pod(cluster_);
  until("a worker has won", [&] { return !host(only_workload()).empty(); });
  const std::string name = host(only_workload());
  TestCluster& there = worker(name);
  until("it is there", [&] { return there.get(sets(), key("db")).is_object(); });
  make_pod(there);
  until_pods(there, "db-0 open");
  ASSERT_TRUE(there.patch(pods(), key("db-0"), R"({"status": {"phase": "Running", "conditions": [
      {"type": "Ready", "status": "True"}]}})",
                          "status"));
  settle(20min);
  EXPECT_EQ(pods_of(there), "db-0 Running") << "the hub, which hears nothing of it, lets it run";
  EXPECT_EQ(pods_of(cluster_), "db-0 gated");
  EXPECT_EQ(there.list<api::Workload>().size(), 1U) << "it makes no Workload of its own there";
  for (const char* other : {"east", "west"}) {
    if (other != name) EXPECT_TRUE(worker(other).get(sets(), key("db")).is_null());
  }

  ASSERT_TRUE(cluster_.patch(sets(), key("db"), R"({"spec": {"replicas": 0}})"));
  ASSERT_TRUE(cluster_.patch(pods(), key("db-0"), R"({"metadata": {"finalizers": null}})"));
  ASSERT_TRUE(cluster_.remove(pods(), key("db-0")));
  until("it is gone there", [&] { return there.get(sets(), key("db")).is_null(); });
  EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
  EXPECT_EQ(host(only_workload()), "");

  ASSERT_TRUE(cluster_.patch(sets(), key("db"), R"({"spec": {"replicas": 1}})"));
  until("a worker has won again", [&] { return !host(only_workload()).empty(); });
  TestCluster& next = worker(host(only_workload()));
  until("it is there", [&] { return next.get(sets(), key("db")).is_object(); });
  for (const std::string& one : events("Workload")) {
    EXPECT_EQ(one.find("Evicted"), std::string::npos) << one;
  }
}

/// Nothing makes the Pods of a StatefulSet on this hub.
TEST_F(GroupsInFleet, AStatefulSetWithoutPodsOnTheHubIsNotLate) {
  manager::CoreConfig config;
  wait_for_pods(&config, 5min);
  start({"east"}, {"pod", "statefulset"}, config);
  apply(stateful_set_yaml(1));
  until("a worker has won", [&] { return !host(only_workload()).empty(); });
  workers_.at("east").manager.reset();
  settle(20min);
  EXPECT_EQ(host(only_workload()), "east");
  const auto workload = cluster_.get<api::Workload>(key(only_workload()));
  EXPECT_THAT(condition(workload->status.conditions, "PodsReady"),
              testing::StartsWith("True Started"));
}

}  // namespace
}  // namespace regatta::test_support
