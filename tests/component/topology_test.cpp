#include "admission/topology/assignment.h"
#include "lab/cluster/fleet.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* topology_yaml = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec:
  levels:
  - nodeLabel: cloud.provider.com/topology-block
  - nodeLabel: cloud.provider.com/topology-rack
  - nodeLabel: kubernetes.io/hostname
)";
constexpr const char* placed_flavor_yaml = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: placed}
spec: {nodeLabels: {kubernetes.io/os: linux}, topologyName: racks}
)";

/// `yaml` with every `from` replaced.
std::string with(std::string yaml, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = yaml.find(from, at)) != std::string::npos; at += to.size()) {
    yaml.replace(at, from.size(), to);
  }
  return yaml;
}

/// A Job with numbered pods of 10 CPUs each; a simulated node has 16.
std::string placed_job(const std::string& name, int pods, const std::string& annotations,
                       int seconds = 600) {
  const std::string count = std::to_string(pods);
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: main}, annotations: "
         "{sandbox.regatta.dev/run-seconds: \"" +
         std::to_string(seconds) + "\"}}\nspec: {suspend: true, completionMode: Indexed, " +
         "parallelism: " + count + ", completions: " + count +
         ", template: {metadata: {annotations: {" + annotations + R"(}}, spec: {
  restartPolicy: Never, containers: [{name: main, image: img,
  resources: {requests: {cpu: "10"}}}]}}}
)";
}

constexpr const char* one_rack =
    "kueue.x-k8s.io/podset-required-topology: cloud.provider.com/topology-rack";
constexpr const char* anywhere = "kueue.x-k8s.io/podset-unconstrained-topology: \"true\"";

/// Changes a queue of `cpu-only` to the flavor that places pods, with more quota than nodes.
std::string placed_queue(const std::string& yaml) {
  return with(with(yaml, "cpu-only", "placed"), "nominalQuota: \"4\"", "nominalQuota: \"1000\"");
}

/// A Workload without a job, for one pod of 10 CPUs.
constexpr const char* bare_workload = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: bare, namespace: default}
spec:
  queueName: main
  podSets:
  - name: main
    count: 1
    topologyRequest: {required: kubernetes.io/hostname}
    template: {spec: {restartPolicy: Never, containers: [
      {name: c, image: i, resources: {requests: {cpu: "10"}}}]}}
)";

/// One cluster with simulated nodes in racks of four and a queue that places pods.
class PlacedPods : public OneCluster {
 protected:
  void start(const char* fleet, manager::CoreConfig config = {},
             const std::string& topology = topology_yaml) {
    const Status made =
        run(world_, lab::create_nodes(cluster_.admin(), *lab::parse_fleet(fleet), world_.now()));
    ASSERT_TRUE(made) << made.error().what();
    for (const std::string& yaml :
         {topology, std::string(placed_flavor_yaml), placed_queue(cluster_queue_yaml),
          std::string(local_queue_yaml)}) {
      apply(yaml);
    }
    nodes_.emplace(cluster_, lab::JobControllerOptions());
    start_manager(std::move(config));
    settle();
  }
  ~PlacedPods() override {
    manager_.reset();
    nodes_.reset();
  }

  void place_bare_workload() {
    apply(bare_workload);
    until("placed", [&] {
      const auto workload = cluster_.get<api::Workload>(key("bare"));
      return workload && workload->status.admission;
    });
  }

  /// The node of each live pod of a Job, by its index; empty without one.
  std::vector<std::string> nodes_of(const std::string& job) {
    std::map<std::string, std::string> found;
    for (const api::Pod& pod : cluster_.list<api::Pod>("default")) {
      const api::OwnerReference* owner = pod.metadata.controller();
      if (!owner || owner->name != job || pod.status.phase == "Failed") continue;
      found[pod.metadata.label("batch.kubernetes.io/job-completion-index")] = pod.spec.node_name;
    }
    std::vector<std::string> nodes;
    for (auto& [index, node] : found) nodes.push_back(node);
    return nodes;
  }
  std::size_t placed(const std::string& job) {
    const auto nodes = nodes_of(job);
    return nodes.size() - std::size_t(std::count(nodes.begin(), nodes.end(), ""));
  }
  /// The places of the pods in the admission: "host:count".
  std::vector<std::string> places_of(const std::string& job) {
    std::vector<std::string> places;
    const auto workload = workload_of(job);
    if (!workload || !workload->status.admission) return places;
    for (const auto& set : workload->status.admission->pod_set_assignments) {
      if (!set.topology_assignment) continue;
      const auto expanded = admission::expand(*set.topology_assignment);
      for (const auto& domain : expanded->domains) {
        places.push_back(domain.values.back() + ":" + std::to_string(domain.count));
      }
    }
    return places;
  }
  void end_pods_on(const std::string& node) {
    for (const api::Pod& pod : cluster_.list<api::Pod>("default")) {
      if (pod.spec.node_name != node) continue;
      ASSERT_TRUE(cluster_.patch(api::Pod::resource, pod.metadata.key(),
                                 R"({"status":{"phase":"Succeeded"}})", "status"));
    }
  }
  void set_ready(const std::string& node, bool ready) {
    const std::string status = ready ? "True" : "False";
    const Status done = cluster_.patch(
        api::Node::resource, api::ObjectKey(node),
        R"({"status":{"conditions":[{"type":"Ready","status":")" + status + R"("}]}})", "status");
    ASSERT_TRUE(done) << done.error().what();
  }

  std::optional<TestNodes> nodes_;
};

TEST_F(PlacedPods, ARequiredRackIsOneRackAndNumbersAreInOrder) {
  start("8xCPU");
  apply(placed_job("j", 4, one_rack));
  until("all run", [&] { return placed("j") == 4; });
  EXPECT_THAT(places_of("j"), ElementsAre("cpu-0:1", "cpu-1:1", "cpu-2:1", "cpu-3:1"));
  EXPECT_THAT(nodes_of("j"), ElementsAre("cpu-0", "cpu-1", "cpu-2", "cpu-3"));
  EXPECT_EQ(condition_of("j", "Admitted"), "True Admitted: The workload is admitted");
  EXPECT_EQ(manager_->requests.conflicts(), 0);
  EXPECT_EQ(manager_->requests.count("patch", "pods"), 4);

  // No rack has room left for five.
  apply(placed_job("k", 5, one_rack));
  settle();
  EXPECT_THAT(condition_of("k", "QuotaReserved"), HasSubstr("False "));
  EXPECT_THAT(condition_of("k", "QuotaReserved"), HasSubstr("topology \"racks\""));
  apply(placed_job("l", 3, anywhere));
  until("those run", [&] { return placed("l") == 3; });
  for (const std::string& node : nodes_of("l")) {
    EXPECT_THAT(node, AnyOf(Eq("cpu-4"), Eq("cpu-5"), Eq("cpu-6"), Eq("cpu-7")));
  }
}

TEST_F(PlacedPods, AJobThatAsksForNothingIsPlacedToo) {
  start("2xCPU");
  apply(placed_job("j", 2, ""));
  until("all run", [&] { return placed("j") == 2; });
  const api::Pod pod = cluster_.list<api::Pod>("default").front();
  EXPECT_EQ(pod.metadata.annotation("kueue.x-k8s.io/podset-unconstrained-topology"), "true");
  EXPECT_THAT(pod.spec.scheduling_gates, IsEmpty());
}

TEST_F(PlacedPods, RoomThatOthersTakeIsNotGivenAway) {
  start("2xCPU");
  const Status other = cluster_.apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: default}
spec: {nodeName: cpu-0, containers: [{name: c, image: i, resources: {requests: {cpu: "10"}}}]}
)");
  ASSERT_TRUE(other) << other.error().what();
  settle();
  apply(placed_job("j", 2, anywhere));
  settle(5s);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False "));
  kube::DeleteOptions now;
  now.grace_period_seconds = 0;
  ASSERT_TRUE(cluster_.remove(api::Pod::resource, key("other"), now));
  until("there is room", [&] { return placed("j") == 2; });
}

/// A pod of 10 CPUs on a node that says of itself that it was placed with the Workload.
std::string claiming_pod(const std::string& name, const std::string& node,
                         const std::string& workload) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", namespace: default, annotations: {kueue.x-k8s.io/workload: " + workload + ", " +
         anywhere + "}}\nspec: {nodeName: " + node + R"(, containers: [
  {name: c, image: i, resources: {requests: {cpu: "10"}}}]}
)";
}

TEST_F(PlacedPods, APodThatClaimsToBePlacedCountsUnlessItsWorkloadHasThatPlace) {
  start("2xCPU");
  apply(claiming_pod("alone", "cpu-0", "none"));
  settle(5s);
  apply(placed_job("j", 2, anywhere));
  settle(5s);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False "));
  manager_.reset();
  start_manager();
  settle(5s);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False ")) << "the next manager";
  kube::DeleteOptions now;
  now.grace_period_seconds = 0;
  ASSERT_TRUE(cluster_.remove(api::Pod::resource, key("alone"), now));
  until("there is room", [&] { return placed("j") == 2; });
}

TEST_F(PlacedPods, MorePodsThanTheWorkloadHasPlacesForCountByThemselves) {
  start("3xCPU");
  apply(placed_job("j", 1, anywhere));
  until("it runs", [&] { return placed("j") == 1; });
  const std::string workload = workload_of("j")->metadata.name;
  const std::string host = nodes_of("j")[0];
  for (const std::string& node : {std::string("cpu-0"), std::string("cpu-1")}) {
    if (node != host) apply(claiming_pod("on-" + node, node, workload));
  }
  if (host == "cpu-2") ASSERT_TRUE(cluster_.remove(api::Pod::resource, key("on-cpu-1")));
  settle(30s);
  // One node is left for two pods.
  apply(placed_job("k", 2, anywhere));
  settle(5s);
  EXPECT_THAT(condition_of("k", "QuotaReserved"), HasSubstr("False "));
  apply(placed_job("l", 1, anywhere));
  until("that has room", [&] { return placed("l") == 1; });
}

TEST_F(PlacedPods, WhatAPodRequestsMoreThanItsWorkloadCounts) {
  start("1xCPU");
  place_bare_workload();
  // It takes 12 CPUs instead of 10: 4 are left.
  apply(with(claiming_pod("grown", "cpu-0", "bare"), "cpu: \"10\"", "cpu: \"12\""));
  settle(30s);
  apply(with(placed_job("j", 1, anywhere), "cpu: \"10\"", "cpu: \"5\""));
  settle(5s);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False "));
  apply(with(placed_job("k", 1, anywhere), "cpu: \"10\"", "cpu: \"4\""));
  until("what is left is given", [&] { return placed("k") == 1; });
  const Status shrunk = cluster_.patch(
      api::Pod::resource, key("grown"),
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"7"}}}]}})", "resize");
  ASSERT_TRUE(shrunk) << shrunk.error().what();
  settle(30s);
  apply(with(placed_job("l", 1, anywhere), "cpu: \"10\"", "cpu: \"3\""));
  settle(5s);
  EXPECT_THAT(condition_of("l", "QuotaReserved"), HasSubstr("False "));
  apply(with(placed_job("m", 1, anywhere), "cpu: \"10\"", "cpu: \"2\""));
  until("the whole place is taken, and no more", [&] { return placed("m") == 1; });
}

TEST_F(PlacedPods, PodsInTheirPlacesCountOnce) {
  start("1xCPU");
  for (const std::string name : {"a", "b", "c", "d"}) {
    apply(with(placed_job(name, 1, anywhere), "cpu: \"10\"", "cpu: \"4\""));
    until("it runs", [&] { return placed(name) == 1; });
    settle(30s);
  }
}

TEST_F(PlacedPods, PodsCountByThemselvesSomeTimeAfterTheirWorkloadHasLostItsPlaces) {
  start("1xCPU");
  place_bare_workload();
  apply(claiming_pod("stays", "cpu-0", "bare"));
  settle(30s);
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("bare")));
  apply(claiming_pod("comes", "cpu-0", "bare"));
  settle(3s);
  // The watch of the pods may be late: what ends takes no room from others.
  apply(placed_job("k", 1, anywhere));
  settle(5s);
  EXPECT_EQ(placed("k"), 1u);
  // But the pods do not end.
  settle(30s);
  apply(with(placed_job("l", 1, anywhere), "cpu: \"10\"", "cpu: \"5\""));
  settle(5s);
  EXPECT_EQ(placed("l"), 0u);
}

TEST_F(PlacedPods, PodsThatWaitAreSentByTheNextManager) {
  start("8xCPU");
  apply(placed_job("j", 4, one_rack));
  until("the pods are there", [&] { return nodes_of("j").size() == 4; });
  ASSERT_EQ(placed("j"), 0u) << "pods of a job are looked at together, a moment later";
  manager_.reset();
  settle(5s);
  EXPECT_EQ(placed("j"), 0u);
  start_manager();
  until("all run", [&] { return placed("j") == 4; });
  EXPECT_THAT(nodes_of("j"), ElementsAre("cpu-0", "cpu-1", "cpu-2", "cpu-3"));
  EXPECT_EQ(manager_->requests.count("patch", "pods"), 4);
}

TEST_F(PlacedPods, ALostNodeIsReplacedInTheSameRack) {
  start("8xCPU");
  apply(placed_job("j", 3, one_rack));
  until("all run", [&] { return placed("j") == 3; });
  const auto before = nodes_of("j");
  set_ready(before[1], false);
  until("all run again", [&] { return placed("j") == 3 && nodes_of("j") != before; });
  const auto after = nodes_of("j");
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[2], before[2]);
  EXPECT_EQ(after[1], "cpu-3");
  const auto workload = workload_of("j");
  EXPECT_THAT(workload->status.unhealthy_nodes, IsEmpty());
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(PlacedPods, ANodeThatIsNotReadyIsLostWhenTheLastPodOfTheWorkloadThereEnds) {
  start("8xCPU");
  apply(bare_workload);
  const auto place = [&] {
    const auto workload = cluster_.get<api::Workload>(key("bare"));
    if (!workload || !workload->status.admission) return std::string();
    const auto& places = workload->status.admission->pod_set_assignments[0].topology_assignment;
    return places ? admission::expand(*places)->domains.at(0).values.back() : std::string();
  };
  until("placed", [&] { return !place().empty(); });
  const std::string host = place();
  // Nothing in the pod says that it was placed by topology, nor where.
  apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default, annotations: {kueue.x-k8s.io/workload: bare}}
spec: {nodeName: )" +
        host + ", containers: [{name: c, image: i}]}");
  settle();
  set_ready(host, false);
  settle();
  EXPECT_EQ(place(), host) << "its pod may still end well";
  kube::DeleteOptions now;
  now.grace_period_seconds = 0;
  ASSERT_TRUE(cluster_.remove(api::Pod::resource, key("p"), now));
  until("moved", [&] { return place() != host; });
}

TEST_F(PlacedPods, AfterPodsWereReclaimedALostNodeChangesNothingOfWhatIsCharged) {
  start("8xCPU");
  apply(with(with(bare_workload, "count: 1", "count: 2"), "cpu: \"10\"", "cpu: \"5\""));
  const auto main_set = [&]() -> api::PodSetAssignment {
    const auto workload = cluster_.get<api::Workload>(key("bare"));
    if (!workload || !workload->status.admission) return {};
    return workload->status.admission->pod_set_assignments.at(0);
  };
  const auto place = [&] {
    const auto places = main_set().topology_assignment;
    return places ? admission::expand(*places)->domains.at(0).values.back() : std::string();
  };
  const auto reserved = [&] {
    const auto cq = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return cq->status.flavors_reservation.at(0).resources.at(0).total.str();
  };
  until("placed", [&] { return !place().empty(); });
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, key("bare"),
                             R"({"status":{"reclaimablePods":[{"name":"main","count":1}]}})",
                             "status"));
  settle();
  EXPECT_EQ(reserved(), "5");
  for (int lost = 1; lost <= 2; ++lost) {
    const api::PodSetAssignment before = main_set();
    const std::string host = place();
    set_ready(host, false);
    until("moved", [&] { return place() != host; });
    settle();
    EXPECT_EQ(main_set().resource_usage, before.resource_usage);
    EXPECT_EQ(main_set().count, 2);
    EXPECT_EQ(reserved(), "5");
  }
}

// A pod that was sent to a node and can never run there fails, and no other one of its name.
TEST_F(PlacedPods, APodThatIsMadeAgainDoesNotFailForTheOneBefore) {
  start("8xCPU");
  place_bare_workload();
  const auto pod = [&](const std::string& annotations) {
    apply("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, annotations: {" +
          annotations +
          "}}\nspec: {containers: [{name: c, image: i}], "
          "nodeSelector: {kubernetes.io/hostname: cpu-0}}");
  };
  const std::string sent =
      "kueue.x-k8s.io/workload: bare, kueue.x-k8s.io/podset-required-topology: "
      "kubernetes.io/hostname";
  pod(sent);
  settle();
  const auto phase = [&] { return cluster_.get<api::Pod>(key("p"))->status.phase; };
  EXPECT_EQ(phase(), "Pending");
  manager_->faults().delay_min = manager_->faults().delay_max = 2s;
  ASSERT_TRUE(cluster_.patch(api::Node::resource, api::ObjectKey("cpu-0"),
                             R"({"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}})"));
  settle(2500ms);  // it is known, and the write is on its way
  kube::DeleteOptions now;
  now.grace_period_seconds = 0;
  ASSERT_TRUE(cluster_.remove(api::Pod::resource, key("p"), now));
  pod("other: pod");
  settle(20s);
  EXPECT_EQ(phase(), "Pending");
  ASSERT_TRUE(cluster_.remove(api::Pod::resource, key("p"), now));
  pod(sent);
  until("failed", [&] { return phase() == "Failed"; });
}

TEST_F(PlacedPods, AWorkloadThatCannotBeReadKeepsNoOtherOneOnALostNode) {
  start("2xCPU");
  for (const std::string name : {"a", "b"}) {
    apply(with(placed_job(name, 1, anywhere), "cpu: \"10\"", "cpu: \"4\""));
    until("it runs", [&] { return placed(name) == 1; });
  }
  const std::string host = nodes_of("a")[0];
  ASSERT_EQ(nodes_of("b")[0], host);
  const api::ObjectKey workload = workload_of("a")->metadata.key();
  ASSERT_LT(workload, workload_of("b")->metadata.key());
  manager_.reset();
  accept_newer(cluster_, api::Workload::resource);
  make_unreadable(cluster_, workload);
  start_manager();
  set_ready(host, false);
  until("the other one has a place elsewhere",
        [&] { return placed("b") == 1 && nodes_of("b")[0] != host; });
}

TEST_F(PlacedPods, WithoutAnotherNodeTheWorkloadIsEvicted) {
  start("4xCPU");
  apply(placed_job("j", 4, one_rack));
  until("all run", [&] { return placed("j") == 4; });
  set_ready("cpu-2", false);
  until("evicted",
        [&] { return condition_of("j", "Requeued") != "" && !workload_of("j")->status.admission; });
  EXPECT_THAT(events("Workload"),
              Contains("EvictedDueToNodeFailures: Workload was evicted as there was no "
                       "replacement for unhealthy node(s): cpu-2"));
  EXPECT_THAT(condition_of("j", "Requeued"), HasSubstr("True NodeFailures"));
  set_ready("cpu-2", true);
  until("all run again", [&] { return placed("j") == 4; });
}

TEST_F(PlacedPods, AWorkloadWhoseNodeIsBackBeforeItsEvictionIsWrittenIsNotEvicted) {
  start("1xCPU");
  const auto bare = [&] { return cluster_.get<api::Workload>(key("bare")); };
  for (Duration away = 900ms; away <= 1400ms; away += 20ms) {
    SCOPED_TRACE("it is away for " + std::to_string(away.count()) + " ms");
    apply(bare_workload);
    until("placed", [&] { return bare()->status.admission.has_value(); });
    manager_->faults().delay_min = manager_->faults().delay_max = 200ms;
    set_ready("cpu-0", false);
    bool lost = false, late = false;
    for (Duration time = 0ms; time < 5s; time += 10ms) {
      if (time == away) set_ready("cpu-0", true);
      world_.run_for(10ms);
      const api::WorkloadStatus now = bare()->status;
      const bool evicted = api::is_true(now.conditions, "Evicted");
      late = late || (evicted && !lost);
      lost = evicted || !now.unhealthy_nodes.empty();
    }
    EXPECT_FALSE(late) << "evicted for a node that was there";
    manager_->faults().delay_min = manager_->faults().delay_max = 0ms;
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("bare")));
    settle();
  }
}

TEST_F(PlacedPods, APodMayEndAsItsNodeGoes) {
  start("2xCPU");
  apply(placed_job("j", 2, anywhere));
  until("all run", [&] { return placed("j") == 2; });
  const auto places = places_of("j");
  kube::NetworkFaults& faults = manager_->faults();
  faults.concerns = [](const net::HttpRequest& request) {
    return request.body.find("reclaimablePods") != std::string::npos;
  };
  faults.delay_min = faults.delay_max = 300ms;
  end_pods_on("cpu-1");
  ASSERT_TRUE(cluster_.remove(api::Node::resource, api::ObjectKey("cpu-1")));
  settle(20s);
  EXPECT_THAT(workload_of("j")->status.unhealthy_nodes, IsEmpty());
  EXPECT_EQ(places_of("j"), places) << "nothing is lost, so nothing is decided on";
}

TEST_F(PlacedPods, NodesWhosePodsHaveAllEndedMayGo) {
  start("5xCPU");
  apply(placed_job("j", 4, anywhere));
  until("all run", [&] { return placed("j") == 4; });
  const std::vector<std::string> hosts = nodes_of("j");
  end_pods_on(hosts[1]);
  end_pods_on(hosts[2]);
  until("they are given back", [&] {
    const auto given = workload_of("j")->status.reclaimable_pods;
    return !given.empty() && given[0].count == 2;
  });
  // Both at once: were they lost, the workload would be evicted.
  ASSERT_TRUE(cluster_.remove(api::Node::resource, api::ObjectKey(hosts[1])));
  ASSERT_TRUE(cluster_.remove(api::Node::resource, api::ObjectKey(hosts[2])));
  settle(20s);
  EXPECT_EQ(condition_of("j", "Evicted"), "");
  EXPECT_THAT(workload_of("j")->status.unhealthy_nodes, IsEmpty());
  // Of what remains one is lost: there is another node for that one.
  set_ready(hosts[3], false);
  until("it runs elsewhere", [&] {
    const auto now = nodes_of("j");
    return now[0] == hosts[0] && !now[3].empty() && now[3] != hosts[3];
  });
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(PlacedPods, APodThatSelectsAHostByItselfWaitsForItWherePlacesAreRacks) {
  start("8xCPU", {}, with(topology_yaml, "  - nodeLabel: kubernetes.io/hostname\n", ""));
  const auto on_one_host = [&](const std::string& name) {
    return with(placed_job(name, 1, one_rack), "restartPolicy: Never,",
                "restartPolicy: Never, nodeSelector: {kubernetes.io/hostname: cpu-1},");
  };
  apply(on_one_host("a"));
  until("it runs", [&] { return placed("a") == 1; });
  apply(on_one_host("b"));
  until("it is sent to its rack", [&] { return condition_of("b", "Admitted") != ""; });
  settle(20s);
  int failed = 0;
  for (const api::Pod& pod : cluster_.list<api::Pod>("default")) {
    failed += pod.status.phase == "Failed" ? 1 : 0;
  }
  EXPECT_EQ(failed, 0);
}

/// A manager whose writes of places for a Job "j" go astray.
class PlacesNotWritten : public PlacedPods {
 protected:
  void begin() {
    start("8xCPU");
    apply(placed_job("j", 3, one_rack));
    until("all run", [&] { return placed("j") == 3; });
    kube::NetworkFaults& faults = manager_->faults();
    faults.concerns = [this](const net::HttpRequest& request) {
      const bool places = request.method == "PATCH" &&
                          request.target.find("/workloads/job-j") != std::string::npos &&
                          request.body.find("podSetAssignments") != std::string::npos;
      if (places && !first_) first_ = request;
      writes_ += places ? 1 : 0;
      return places;
    };
  }
  std::optional<net::HttpRequest> first_;
  int writes_ = 0;
};

TEST_F(PlacesNotWritten, ARefusalIsToldAndIsNotRepeatedAtOnce) {
  begin();
  manager_->faults().refused = 1;
  manager_->faults().refused_with = 422;
  set_ready("cpu-1", false);
  settle(120s);
  EXPECT_GE(writes_, 4);
  EXPECT_LE(writes_, 16);
  EXPECT_THAT(events("Workload"), Contains(HasSubstr("PlacesNotWritten")));
  manager_->faults().refused = 0;
  until("all run again", [&] { return placed("j") == 3 && nodes_of("j")[1] == "cpu-3"; });
}

TEST_F(PlacesNotWritten, PlacesGoToOneWorkloadWhileTheirWriteIsUnanswered) {
  begin();
  manager_->faults().hang_before = 1;
  set_ready("cpu-1", false);
  until("the places are on their way", [&] { return first_.has_value(); });
  // Another one of the rack asks for the only host that is left there, and the first changes.
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"metadata":{"labels":{"some":"label"}}})"));
  apply(placed_job("k", 5, anywhere));
  settle(60s);
  const bool both = condition_of("k", "QuotaReserved").starts_with("True");
  EXPECT_FALSE(both) << "four hosts are left for five pods";
  const auto sent = run(world_, cluster_.sender().send(*first_, {}));
  ASSERT_TRUE(sent) << sent.error().what();
  manager_->faults().hang_before = 0;
  until("all run again", [&] { return placed("j") == 3 && nodes_of("j")[1] == "cpu-3"; });
}

TEST_F(PlacedPods, AReplacementDoesNotWaitForPodsToBeReady) {
  manager::CoreConfig config;
  config.scheduler.wait_for_pods_ready = true;
  config.scheduler.admission.block_admission = true;
  start("8xCPU", config);
  apply(placed_job("j", 3, one_rack));
  until("all run", [&] { return placed("j") == 3; });
  set_ready("cpu-1", false);
  apply(placed_job("k", 1, anywhere));  // waits as long as a pod of the first job is missing
  until("all run again", [&] { return placed("j") == 3 && nodes_of("j")[1] == "cpu-3"; });
}

TEST_F(PlacedPods, TwoLostNodesEvictAtOnce) {
  start("8xCPU");
  apply(placed_job("j", 4, one_rack));
  until("all run", [&] { return placed("j") == 4; });
  set_ready("cpu-1", false);
  set_ready("cpu-2", false);
  until("evicted", [&] { return workload_of("j")->status.evictions.size() == 1; });
  EXPECT_EQ(workload_of("j")->status.evictions[0].reason, "NodeFailures");
  until("all run elsewhere", [&] { return placed("j") == 4; });
  EXPECT_THAT(nodes_of("j"), ElementsAre("cpu-4", "cpu-5", "cpu-6", "cpu-7"));
}

TEST_F(PlacedPods, ANodeLostWhileNoManagerRunsIsNoticed) {
  start("8xCPU");
  apply(placed_job("j", 3, one_rack));
  until("all run", [&] { return placed("j") == 3; });
  manager_.reset();
  ASSERT_TRUE(cluster_.remove(api::Node::resource, api::ObjectKey("cpu-1")));
  settle(5s);
  start_manager();
  until("all run again", [&] { return placed("j") == 3; });
  EXPECT_EQ(nodes_of("j")[1], "cpu-3");
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(PlacedPods, NodesThatAStandbySawGoAreReplacedWhenItLeads) {
  start("8xCPU");
  apply(placed_job("j", 2, one_rack));
  until("all run", [&] { return placed("j") == 2; });
  TestManager standby(cluster_, network_, {}, Log(), Role::standby);
  until("the standby has synced", [&] { return standby.synced(); });
  manager_.reset();
  ASSERT_TRUE(cluster_.remove(api::Node::resource, api::ObjectKey("cpu-1")));
  settle(5s);
  standby.take_over();
  until("all run again", [&] { return placed("j") == 2 && nodes_of("j")[1] == "cpu-2"; });
  set_ready("cpu-0", false);
  until("the other one, too", [&] { return placed("j") == 2 && nodes_of("j")[0] == "cpu-3"; });
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(PlacedPods, ANodeThatANewManagerCannotReadIsNotLost) {
  start("8xCPU");
  apply(placed_job("j", 3, one_rack));
  until("all run", [&] { return placed("j") == 3; });
  const auto before = nodes_of("j");
  ASSERT_EQ(before[1], "cpu-1");
  manager_.reset();
  const api::ObjectKey name("cpu-1");
  const Json conditions = cluster_.get(api::Node::resource, name)["status"]["conditions"];
  const auto set_conditions = [&](const Json& wanted) {
    const Json patch = {{"status", {{"conditions", wanted}}}};
    ASSERT_TRUE(cluster_.patch(api::Node::resource, name, dump_json(patch), "status"));
  };
  Json newer = conditions;
  newer.front()["status"] = "Perhaps";
  set_conditions(newer);
  start_manager();
  settle(30s);
  EXPECT_THAT(workload_of("j")->status.unhealthy_nodes, IsEmpty());
  EXPECT_THAT(places_of("j"), ElementsAre("cpu-0:1", "cpu-1:1", "cpu-2:1"));
  EXPECT_EQ(nodes_of("j"), before);
  // Another one that went meanwhile may be the one that cannot be read, under another name.
  manager_.reset();
  ASSERT_TRUE(cluster_.remove(api::Node::resource, api::ObjectKey("cpu-2")));
  start_manager();
  settle(30s);
  EXPECT_THAT(workload_of("j")->status.unhealthy_nodes, IsEmpty());
  EXPECT_THAT(places_of("j"), ElementsAre("cpu-0:1", "cpu-1:1", "cpu-2:1"));
  // Each is known again once all can be read.
  set_conditions(conditions);
  until("the one that went is replaced",
        [&] { return placed("j") == 3 && nodes_of("j")[2] == "cpu-3"; });
  EXPECT_EQ(nodes_of("j")[1], "cpu-1");
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(PlacedPods, ANodeThatIsSeenToGoIsLostAlthoughAnotherOneCannotBeRead) {
  start("8xCPU");
  apply(placed_job("j", 3, one_rack));
  until("all run", [&] { return placed("j") == 3; });
  manager_.reset();
  const api::ObjectKey name("cpu-7");
  Json conditions = cluster_.get(api::Node::resource, name)["status"]["conditions"];
  conditions.front()["status"] = "Perhaps";
  const Json patch = {{"status", {{"conditions", conditions}}}};
  ASSERT_TRUE(cluster_.patch(api::Node::resource, name, dump_json(patch), "status"));
  start_manager();
  settle();
  ASSERT_TRUE(cluster_.remove(api::Node::resource, api::ObjectKey("cpu-1")));
  until("all run again", [&] { return placed("j") == 3 && nodes_of("j")[1] == "cpu-3"; });
}

TEST_F(PlacedPods, ADeletedTopologyStaysWhileAFlavorNamesIt) {
  start("1xCPU");
  const api::ObjectKey name("racks");
  EXPECT_TRUE(
      cluster_.get<api::Topology>(name)->metadata.has_finalizer(api::finalizers::resource_in_use));
  ASSERT_TRUE(cluster_.remove(api::Topology::resource, name));
  settle();
  EXPECT_TRUE(cluster_.get<api::Topology>(name));
  ASSERT_TRUE(cluster_.remove(api::ClusterQueue::resource, api::ObjectKey("cq")));
  ASSERT_TRUE(cluster_.remove(api::ResourceFlavor::resource, api::ObjectKey("placed")));
  settle();
  EXPECT_FALSE(cluster_.get<api::Topology>(name));
}

TEST_F(OneCluster, SwitchedOffAFlavorWithATopologyIsLikeAnyOther) {
  apply(placed_flavor_yaml);
  apply(placed_queue(cluster_queue_yaml));
  apply(local_queue_yaml);
  manager::CoreConfig config;
  config.topology = false;
  config.jobs.topology.enabled = false;
  start_manager(config);
  apply(placed_job("j", 2, one_rack));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  EXPECT_FALSE(workload_of("j")->spec.pod_sets[0].topology_request);
  EXPECT_THAT(job("j").spec.pod_template.spec().scheduling_gates, IsEmpty());
  EXPECT_EQ(manager_->requests.count("list", "pods"), 0);
  settle();
  EXPECT_EQ(cluster_.get<api::ResourceFlavor>(api::ObjectKey("placed"))->spec.topology_name,
            "racks");
}

TEST_F(OneCluster, WithoutTopologyNodesAndPodsAreNotRead) {
  start_with_queues();
  apply(job_yaml("j"));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  for (const char* resource : {"pods", "nodes"}) {
    EXPECT_EQ(manager_->requests.count("list", resource), 0) << resource;
    EXPECT_EQ(manager_->requests.count("watch", resource), 0) << resource;
  }
  // From the first flavor on that names a topology.
  apply(topology_yaml);
  apply(placed_flavor_yaml);
  settle();
  EXPECT_EQ(manager_->requests.count("list", "pods"), 1);
  EXPECT_EQ(manager_->requests.count("list", "nodes"), 1);
}

TEST_F(Federation, AHubLeavesPlacesToItsWorkers) {
  add_worker("east");
  Worker& east = workers_.at("east");
  const Status made = run(
      world_, lab::create_nodes(east.cluster->admin(), *lab::parse_fleet("4xCPU"), world_.now()));
  ASSERT_TRUE(made);
  for (const std::string& yaml : {std::string(topology_yaml), std::string(placed_flavor_yaml),
                                  placed_queue(cluster_queue_yaml)}) {
    ASSERT_TRUE(east.cluster->apply(yaml));
  }
  configure_hub();
  // The hub has neither the topology nor any node.
  apply(with(placed_flavor_yaml, "racks", "elsewhere"));
  apply(placed_queue(hub_queue_yaml));
  start_manager();
  start_worker("east");
  until("the queue is active", [&] {
    const auto cq = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return cq && api::is_true(cq->status.conditions, "Active");
  });
  apply(with(placed_job("j", 4, one_rack, 5), "completionMode",
             "managedBy: kueue.x-k8s.io/multikueue, completionMode"));
  until("it is admitted",
        [&] { return condition_of("j", "Admitted") == "True Admitted: The workload is admitted"; });
  const auto workload = workload_of("j");
  const auto& set = workload->status.admission->pod_set_assignments[0];
  EXPECT_EQ(workload->status.cluster_name, "east");
  EXPECT_EQ(set.delayed_topology_request, "Ready");
  EXPECT_FALSE(set.topology_assignment);
  until("it completes", [&] { return api::is_true(job("j").status.conditions, "Complete"); });
}

}  // namespace
}  // namespace regatta::test_support
