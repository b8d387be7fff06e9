#include "tests/component/federation.h"

#include <algorithm>

namespace regatta::test_support {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The lines of a log about one cluster: "info message".
struct Lines final : LogSink {
  bool enabled(LogLevel level) const override { return level >= LogLevel::info; }
  void write(LogLevel level, std::string_view logger, std::string_view message,
             std::initializer_list<KV> values) override {
    const bool about = logger.find("w1") != std::string_view::npos;
    (void)values;
    if (about) lines.push_back((level == LogLevel::info ? "info " : "! ") + std::string(message));
  }
  std::vector<std::string> lines;
};

/// A hub whose dispatcher compares workers, and three workers with queues of different sizes: `w1`
/// has 1 CPU, `w2` 3 and `w3` 8.
class Capacity : public Federation {
 protected:
  static manager::CoreConfig by(placement::Dispatcher dispatcher) {
    manager::CoreConfig config;
    config.dispatch.plan.nomination.dispatcher = dispatcher;
    config.dispatch.plan.head_start = 100ms;
    return config;
  }
  void start_uneven(manager::CoreConfig config = by(placement::Dispatcher::capacity)) {
    start_all({"w1", "w2", "w3"}, std::move(config));
    give("w1", "1");
    give("w2", "3");
    give("w3", "8");
    settle();
    clear_requests();
  }
  void clear_requests() {
    manager_->requests.clear();
    manager_->remote_requests.clear();
    for (auto& [name, worker] : workers_) {
      worker.manager->requests.clear();
      worker.nodes->requests.clear();
    }
  }
  /// Writes to the workers, by whatever sends them.
  int worker_writes() {
    int sum = 0;
    for (auto& [name, worker] : workers_) {
      sum += manager_->remote_requests[name].writes() + worker.manager->requests.writes();
    }
    return sum;
  }
  void submit(const std::string& name, int pods, const std::string& annotations = "{}") {
    std::string yaml = remote_job_yaml(name, pods);
    apply(yaml.replace(yaml.find("annotations: {}"), 15, "annotations: " + annotations));
  }
  std::string winner_of(const std::string& job) {
    const auto workload = workload_of(job);
    return workload ? workload->status.cluster_name.value_or("") : "no workload";
  }
  std::vector<std::string> nominated(const std::string& job) {
    const auto workload = workload_of(job);
    return workload ? workload->status.nominated_cluster_names : std::vector<std::string>();
  }
  int watches_of_queues(const std::string& worker) {
    const RequestCounts& seen = manager_->remote_requests[worker];
    return seen.count("watch", "clusterqueues") + seen.count("watch", "localqueues") +
           seen.count("watch", "cohorts") + seen.count("list", "clusterqueues") +
           seen.count("list", "localqueues") + seen.count("list", "cohorts");
  }
  /// Of the AdmissionCheck, in our domain; null takes one away.
  void annotate(const std::string& name, const Json& value) {
    const Json patch = {
        {"metadata", {{"annotations", {{"multikueue.regatta.dev/" + name, value}}}}}};
    ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("mk"), patch.dump()));
    settle();
  }
  void name_dispatcher(const std::string& name) { annotate("dispatcher", name); }
  std::string active_check() {
    const auto check = cluster_.get<api::AdmissionCheck>(api::ObjectKey("mk"));
    return condition(check->status.conditions, "Active");
  }
};

TEST_F(Capacity, JobsGoWhereRoomIsAndNoOtherWorkerIsAsked) {
  start_uneven();
  submit("big", 6);
  submit("middle", 3);
  submit("small", 1);
  settle();
  EXPECT_EQ(winner_of("big"), "w3");
  EXPECT_EQ(winner_of("middle"), "w2");
  EXPECT_EQ(winner_of("small"), "w1");
  for (auto& [name, worker] : workers_) {
    EXPECT_EQ(manager_->remote_requests[name].count("create", "workloads"), 1) << name;
    EXPECT_EQ(manager_->remote_requests[name].count("delete"), 0) << name;
  }
}

/// They get quota before the first of these writes is answered.
TEST_F(Capacity, JobsOfOneMomentDoNotAllGoToTheSameWorker) {
  start_uneven();
  give("w1", "3");
  give("w3", "3");
  cluster_.set_stop_policy("Hold");
  for (const char* name : {"a", "b", "c"}) submit(name, 3);
  settle();
  manager_->faults().delay_min = manager_->faults().delay_max = 200ms;
  cluster_.set_stop_policy("None");
  settle(10s);
  std::vector<std::string> winners;
  for (const char* name : {"a", "b", "c"}) winners.push_back(winner_of(name));
  std::sort(winners.begin(), winners.end());
  EXPECT_THAT(winners, ElementsAre("w1", "w2", "w3"));
  int copies = 0;
  for (auto& [name, worker] : workers_) {
    copies += manager_->remote_requests[name].count("create", "workloads");
  }
  EXPECT_EQ(copies, 3) << "no worker was asked in vain";
}

TEST_F(Capacity, NeedsNoMoreWritesOnTheHubThanAllAtOnceAndFewerOnWorkers) {
  std::map<bool, int> hub, theirs;
  start_uneven();
  // One after the other. Only w3 has room for them, and in the race any worker may be asked first.
  const auto run_three = [&](bool by_room) {
    clear_requests();
    for (int i = 0; i < 3; ++i) {
      const std::string name = (by_room ? "by-room-" : "by-race-") + std::to_string(i);
      submit(name, 6);
      settle(40s);
      EXPECT_EQ(job(name).status.succeeded, 6);
    }
    hub[by_room] = manager_->requests.writes();
    theirs[by_room] = worker_writes();
  };
  run_three(true);
  name_dispatcher("kueue.x-k8s.io/multikueue-dispatcher-all-at-once");
  run_three(false);
  EXPECT_LE(hub[true], hub[false]);
  EXPECT_LT(theirs[true], theirs[false]);
}

TEST_F(Capacity, AWorkerThatGetsRoomIsAskedAtOnce) {
  start_uneven();
  submit("first", 8);
  settle();
  ASSERT_EQ(winner_of("first"), "w3");
  submit("waits", 5);
  settle();
  EXPECT_EQ(winner_of("waits"), "");
  give("w2", "6");
  settle();
  EXPECT_EQ(winner_of("waits"), "w2");
}

/// The hub may read and write on w1 what every hub needs, and nothing of its queues.
TEST_F(Capacity, AWorkerThatHidesItsQueuesIsAskedAsWithout) {
  for (const char* name : {"w1", "w2"}) add_worker(name);
  ASSERT_TRUE(workers_.at("w1").cluster->let_limited("hub", R"(
- {apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, create, delete]}
- {apiGroups: [kueue.x-k8s.io], resources: [workloads],
   verbs: [get, list, watch, create, delete, patch]}
- {apiGroups: [kueue.x-k8s.io], resources: [workloads/status], verbs: [patch]}
)"));
  configure_hub();
  apply(TestConnector::member_yaml("w1", TestCluster::limited_token));
  const auto log = std::make_shared<Lines>();
  manager_.emplace(cluster_, network_, by(placement::Dispatcher::capacity), Log(log, "hub"));
  for (const char* name : {"w1", "w2"}) start_worker(name);
  settle(60s);
  EXPECT_EQ(member_condition("w1"), "True Active: Connected");
  const char* blind =
      "info workers are compared without the queues of this one, which may not be "
      "read";
  EXPECT_EQ(std::count(log->lines.begin(), log->lines.end(), blind), 1);
  EXPECT_THAT(log->lines, Not(Contains(testing::StartsWith("!"))));
  give("w2", "1");
  settle();
  // What is not known goes before what is full.
  submit("a", 3);
  settle();
  EXPECT_EQ(winner_of("a"), "w1");
  // And what has room before what is not known.
  submit("b", 1);
  settle();
  EXPECT_EQ(winner_of("b"), "w2");
}

TEST_F(Capacity, NothingIsWatchedBeforeADispatcherComparesWorkers) {
  start_all({"w1", "w2"});
  submit("before", 1);
  settle();
  EXPECT_EQ(watches_of_queues("w1"), 0);
  name_dispatcher("multikueue.regatta.dev/capacity");
  EXPECT_EQ(watches_of_queues("w1"), 6);
  give("w1", "1");
  settle();
  submit("after", 3);
  settle();
  EXPECT_EQ(winner_of("after"), "w2");
}

TEST_F(Capacity, AnAnnotationThatNamesNoDispatcherIsTold) {
  start_all({"w1"});
  name_dispatcher("multikueue.regatta.dev/capcity");
  EXPECT_EQ(active_check(),
            "False BadConfig: Cannot load the AdmissionChecks parameters: annotation "
            "multikueue.regatta.dev/dispatcher \"multikueue.regatta.dev/capcity\" is no dispatcher "
            "that a check can name");
}

TEST_F(Capacity, ExpressionsOfTheCheckChooseWorkers) {
  start_uneven();
  annotate("worker-score", "worker.flavors['cpu-only'].cpu.nominal - worker.workloads");
  submit("small", 1);
  settle();
  EXPECT_EQ(winner_of("small"), "w3") << "the largest";
  annotate("worker-filter", "worker.name != 'w3' || workload.requests.cpu > 2.0");
  submit("other", 1);
  submit("large", 3);
  settle();
  EXPECT_EQ(winner_of("other"), "w2");
  EXPECT_EQ(winner_of("large"), "w3");
  EXPECT_EQ(active_check().substr(0, 4), "True");
}

TEST_F(Capacity, AnExpressionThatFailsIsToldAndMendedWhileTheHubRuns) {
  start_uneven();
  annotate("worker-filter", "worker.labels.gpu == 'a100'");
  submit("a", 1);
  settle(70s);
  EXPECT_EQ(winner_of("a"), "");
  EXPECT_THAT(condition_of("a", "Dispatched"),
              testing::StartsWith("False NoWorkerFits: No worker cluster is nominated: not w1, "
                                  "which cannot be judged by the worker-filter: no such key: "
                                  "gpu; not w2"));
  annotate("worker-filter", "worker.?labels.gpu.orValue('') == ''");
  settle();
  EXPECT_NE(winner_of("a"), "");
}

TEST_F(Capacity, AnExpressionThatCannotBeUsedIsToldByTheCheck) {
  start_uneven();
  annotate("worker-filter", "false");
  submit("waits", 1);
  settle();
  annotate("worker-filter", "tru");
  settle(70s);
  EXPECT_EQ(winner_of("waits"), "") << "it is asked for something";
  annotate("worker-filter", nullptr);
  settle();
  EXPECT_NE(winner_of("waits"), "");
  annotate("worker-score", "worker.");
  EXPECT_THAT(active_check(),
              testing::StartsWith("False BadConfig: Cannot load the AdmissionChecks parameters: "
                                  "annotation multikueue.regatta.dev/worker-score: "));
  annotate("worker-score", nullptr);
  EXPECT_EQ(active_check().substr(0, 4), "True");
  annotate("worker-filter", "true");
  name_dispatcher("kueue.x-k8s.io/multikueue-dispatcher-all-at-once");
  EXPECT_EQ(active_check(),
            "False BadConfig: Cannot load the AdmissionChecks parameters: annotation "
            "multikueue.regatta.dev/worker-filter needs a dispatcher that compares workers, such "
            "as multikueue.regatta.dev/capacity");
}

TEST_F(Capacity, AJobSaysWhichWorkersMayRunIt) {
  start_uneven();
  submit("named", 1, "{kueue.x-k8s.io/multikueue-cluster-names: w3}");
  submit("labelled", 1, "{multikueue.regatta.dev/cluster-selector: zone=near}");
  submit("preferred", 1, "{multikueue.regatta.dev/preferred-cluster-names: w2}");
  settle();
  EXPECT_EQ(winner_of("named"), "w3");
  EXPECT_THAT(nominated("labelled"), IsEmpty());
  EXPECT_EQ(winner_of("preferred"), "w2");
  settle(70s);
  EXPECT_THAT(condition_of("labelled", "Dispatched"),
              testing::StartsWith("False NoWorkerFits: No worker cluster is nominated: not w1, "
                                  "which is not among the clusters that the workload asks for; "));
  ASSERT_TRUE(cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey("w2"),
                             R"({"metadata":{"labels":{"zone":"near"}}})"));
  settle();
  EXPECT_EQ(winner_of("labelled"), "w2");
}

TEST_F(Capacity, AnUnreadableAnnotationNominatesNothing) {
  start_uneven();
  submit("j", 1, "{multikueue.regatta.dev/must-not-borrow: maybe}");
  settle(70s);
  EXPECT_EQ(winner_of("j"), "");
  EXPECT_THAT(condition_of("j", "Dispatched"),
              HasSubstr("annotation multikueue.regatta.dev/must-not-borrow \"maybe\": write true "
                        "or false"));
}

TEST_F(Capacity, ACopyThatMustNotPreemptHasAClosedGate) {
  start_uneven();
  submit("polite", 1, "{multikueue.regatta.dev/must-not-preempt: \"true\"}");
  submit("plain", 2);
  settle();
  const auto gates = [&](const std::string& job) {
    const auto workload = workload_of(job);
    const std::string& host = *workload->status.cluster_name;
    return workers_.at(host)
        .cluster->get<api::Workload>(workload->metadata.key())
        ->spec.preemption_gates;
  };
  ASSERT_EQ(winner_of("polite"), "w1");
  EXPECT_THAT(gates("polite"), ElementsAre("kueue.x-k8s.io/multikueue"));
  EXPECT_THAT(gates("plain"), IsEmpty());
}

/// Its copy has quota there and waits for a check of the worker. It is not in its own way.
TEST_F(Capacity, AWorkloadIsLeftOutOfWhatIsCountedAgainstIt) {
  start_all({"w1"}, by(placement::Dispatcher::capacity));
  TestCluster& w1 = *workers_.at("w1").cluster;
  ASSERT_TRUE(w1.apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: slow}
spec: {controllerName: example.com/slow}
)"));
  ASSERT_TRUE(
      w1.patch(api::AdmissionCheck::resource, api::ObjectKey("slow"),
               R"({"status":{"conditions":[{"type":"Active","status":"True","reason":"Active",
        "message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
               "status"));
  ASSERT_TRUE(w1.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                       R"({"spec":{"cohortName":"team",
                       "admissionChecksStrategy":{"admissionChecks":[{"name":"slow"}]}}})"));
  ASSERT_TRUE(w1.apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: lender}
spec:
  cohortName: team
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: cpu-only, resources: [{name: cpu, nominalQuota: "9"}]}]
)"));
  settle();
  submit("j", 3, "{multikueue.regatta.dev/must-not-borrow: \"true\"}");
  settle(10s);
  const auto copy = w1.get<api::Workload>(workload_of("j")->metadata.key());
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->status.admission);
  EXPECT_THAT(nominated("j"), ElementsAre("w1"));
  submit("other", 3, "{multikueue.regatta.dev/must-not-borrow: \"true\"}");
  settle(70s);
  EXPECT_THAT(nominated("other"), IsEmpty());
  EXPECT_THAT(nominated("j"), ElementsAre("w1"));
  EXPECT_EQ(manager_->remote_requests["w1"].count("delete"), 0);
}

TEST_F(Capacity, TheWorkloadSaysWhyNotElsewhere) {
  start_uneven();
  submit("j", 6);
  settle();
  EXPECT_EQ(condition_of("j", "Dispatched"),
            "True Dispatched: Dispatched to worker cluster \"w3\"; not w1, which can never have so "
            "much quota; not w2, which can never have so much quota");
}

TEST_F(Capacity, AWorkerWithoutTheQueueIsNotAsked) {
  start_uneven();
  ASSERT_TRUE(workers_.at("w1").cluster->remove(api::LocalQueue::resource, key("main")));
  settle();
  submit("j", 1);
  settle();
  EXPECT_EQ(winner_of("j"), "w2");
  EXPECT_THAT(condition_of("j", "Dispatched"), HasSubstr("not w1, which has no LocalQueue "
                                                         "default/main"));
}

TEST_F(Capacity, AQueueThatAWorkerStopsLosesOrGetsBackCountsForTheNextJob) {
  start_uneven();
  give("w1", "4");
  settle();
  TestCluster& w1 = *workers_.at("w1").cluster;
  const auto next = [&](const char* job) {
    settle();
    submit(job, 1);
    settle();
    return winner_of(job);
  };
  EXPECT_EQ(next("before"), "w1");
  w1.set_local_stop_policy("Hold");
  EXPECT_EQ(next("stopped"), "w2");
  w1.set_local_stop_policy("None");
  EXPECT_EQ(next("resumed"), "w1");
  ASSERT_TRUE(w1.remove(api::LocalQueue::resource, key("main")));
  EXPECT_EQ(next("removed"), "w2");
  ASSERT_TRUE(w1.apply(local_queue_yaml));
  EXPECT_EQ(next("back"), "w1");
}

/// The hub may not create jobs on w1. The second reservation nominates w2 in its own write.
TEST_F(Capacity, AWorkerThatRefusedTheJobIsNotNominatedWithTheNextReservation) {
  for (const char* name : {"w1", "w2"}) add_worker(name);
  ASSERT_TRUE(workers_.at("w1").cluster->let_limited("hub", R"(
- {apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, delete]}
- {apiGroups: [kueue.x-k8s.io], resources: ["*"], verbs: ["*"]}
)"));
  configure_hub();
  apply(TestConnector::member_yaml("w1", TestCluster::limited_token));
  start_manager(by(placement::Dispatcher::capacity));
  for (const char* name : {"w1", "w2"}) start_worker(name);
  settle(10s);
  clear_requests();
  submit("j", 1);
  settle(20s);
  EXPECT_EQ(winner_of("j"), "w2");
  EXPECT_THAT(condition_of("j", "Dispatched"),
              HasSubstr("not w1, which refused it 0s ago: it does not take the job"));
  // A nomination of its own would be one more.
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), 8) << manager_->requests.str();
}

TEST_F(Capacity, TheCheapestWithRoomIsAsked) {
  start_all({"w1", "w2", "w3"}, by(placement::Dispatcher::cost));
  const auto set_price = [&](const std::string& name, const std::string& price) {
    ASSERT_TRUE(cluster_.patch(
        api::MultiKueueCluster::resource, api::ObjectKey(name),
        R"({"metadata":{"annotations":{"multikueue.regatta.dev/price":")" + price + R"("}}})"));
  };
  set_price("w1", "3");
  set_price("w2", "1500m");
  set_price("w3", "1");
  settle();
  for (const char* name : {"a", "b", "c"}) {
    submit(name, 3);
    settle(1s);
  }
  settle();
  EXPECT_EQ(winner_of("a"), "w3");
  EXPECT_EQ(winner_of("b"), "w2");
  EXPECT_EQ(winner_of("c"), "w1");
  settle(30s);
  set_price("w1", "500m");
  settle();
  submit("d", 3);
  settle();
  EXPECT_EQ(winner_of("d"), "w1") << "its price has fallen";
}

TEST_F(Capacity, TheRegionOfTheDataIsAskedFirst) {
  start_all({"w1", "w2"}, by(placement::Dispatcher::locality));
  ASSERT_TRUE(cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey("w2"),
                             R"({"metadata":{"labels":{"topology.kubernetes.io/region":"eu"}}})"));
  settle();
  submit("here", 1, "{multikueue.regatta.dev/region: eu}");
  submit("anywhere", 1);
  settle();
  EXPECT_EQ(winner_of("here"), "w2");
  EXPECT_EQ(winner_of("anywhere"), "w1");
}

TEST_F(Capacity, TheWorkerThatAnswersSoonestIsAskedBeforeOthers) {
  network_.faults("w1").delay_min = network_.faults("w1").delay_max = 100ms;
  start_all({"w1", "w2"}, by(placement::Dispatcher::locality));
  submit("j", 1);
  settle();
  EXPECT_EQ(winner_of("j"), "w2");
}

TEST_F(Capacity, HowLongCopiesWaitIsLearnedFromThem) {
  start_all({"w1", "w2"}, by(placement::Dispatcher::capacity));
  submit("a", 1);
  settle();
  ASSERT_EQ(winner_of("a"), "w1");
  annotate("worker-filter", "has(worker.admitsAfterSeconds) && worker.admitsAfterSeconds < 5.0");
  settle();
  submit("b", 1);
  settle();
  EXPECT_EQ(winner_of("b"), "w1");
  annotate("worker-filter", "!has(worker.admitsAfterSeconds)");
  settle();
  submit("c", 1);
  settle();
  EXPECT_EQ(winner_of("c"), "w2");
}

TEST_F(Capacity, AManagerThatStartsLaterKnowsWhatIsOnItsWay) {
  start_uneven();
  submit("runs", 7);
  settle();
  ASSERT_EQ(winner_of("runs"), "w3");
  manager_.reset();
  start_manager(by(placement::Dispatcher::capacity));
  settle();
  submit("next", 2);
  settle();
  EXPECT_EQ(winner_of("next"), "w2");
}

}  // namespace
}  // namespace regatta::test_support
