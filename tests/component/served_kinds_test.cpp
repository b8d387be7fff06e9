// Kinds of jobs whose API some clusters serve and others do not.
#include "jobs/integrations/external.h"
#include "jobs/integrations/integrations.h"
#include "tests/component/federation.h"
#include "tests/support/manifests.h"

namespace regatta::test_support {
namespace {

class ServedKinds : public Federation {
 protected:
  static manager::CoreConfig with_jobsets() {
    manager::CoreConfig config;
    config.kinds = jobs::enabled_kinds({"jobset.x-k8s.io/jobset"});
    return config;
  }
  static const api::ResourceInfo& jobsets() {
    return jobs::all_kinds().find("jobset.x-k8s.io", "JobSet")->resource();
  }
  static std::string jobset_yaml(const std::string& name, const std::string& more = "") {
    return R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: )" +
           name + R"(, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  suspend: true)" +
           more + R"(
  replicatedJobs:
  - name: lead
    template: {spec: {template: {spec: {containers: [
      {name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}
  - name: crew
    replicas: 2
    template: {spec: {parallelism: 1, completions: 1, template: {spec: {containers: [
      {name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}
)";
  }
  static std::string of_fleet(const std::string& name) {
    return jobset_yaml(name, "\n  managedBy: kueue.x-k8s.io/multikueue");
  }
  std::string winner_of(const std::string& name) {
    const auto workload = workload_of(name);
    return workload ? workload->status.cluster_name.value_or("") : "";
  }
};

TEST_F(ServedKinds, AKindWhoseDefinitionComesLaterIsNoticed) {
  apply(flavor_yaml);
  apply(cluster_queue_yaml);
  apply(local_queue_yaml);
  start_manager(with_jobsets());
  apply(job_yaml("j", 1));
  settle();
  EXPECT_FALSE(job("j").spec.suspend.value_or(true)) << "Jobs do not wait for it";
  settle(10min);
  apply(crd_yaml(jobsets()));
  apply(jobset_yaml("s"));
  settle(150s);
  const auto workload = workload_of("s");
  ASSERT_TRUE(workload);
  ASSERT_EQ(workload->spec.pod_sets.size(), 2U);
  EXPECT_EQ(workload->spec.pod_sets[1].count, 2);
  const Json started = cluster_.get(jobsets(), key("s"));
  EXPECT_EQ(started["spec"]["suspend"], false);
  const Json& pods = started["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"];
  EXPECT_EQ(pods["nodeSelector"]["pool"], "cpu");
}

TEST_F(ServedKinds, AKindThatIsNotServedWhenAManagerBeginsToLeadKeepsItsWorkloads) {
  apply(crd_yaml(jobsets()));
  start_with_queues(with_jobsets());
  apply(jobset_yaml("s"));
  settle();
  const auto is_held = [&] {
    const auto workload = workload_of("s");
    return workload && workload->metadata.has_finalizer("kueue.x-k8s.io/resource-in-use");
  };
  ASSERT_TRUE(is_held());
  manager_.emplace(cluster_, network_, with_jobsets());
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.target.find("/jobsets") != std::string::npos;
  };
  manager_->faults().withheld = 1;
  until("the manager has synced", [&] { return manager_->started(); });
  settle(1min);
  EXPECT_TRUE(is_held());
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, workload_of("s")->metadata.key()));
  settle();
  EXPECT_FALSE(workload_of("s")) << "a definition that is gone for good keeps no Workload";
  manager_->faults().withheld = 0;
  until("it has one again", is_held, 3min);
}

TEST_F(ServedKinds, AWorkerWithoutAKindIsActiveAndGetsNoJobsOfIt) {
  worker_config_ = with_jobsets();
  for (const char* name : {"east", "west"}) add_worker(name);
  apply(crd_yaml(jobsets()));
  ASSERT_TRUE(workers_.at("east").cluster->apply(crd_yaml(jobsets())));
  configure_hub();
  start_manager(with_jobsets());
  for (const char* name : {"east", "west"}) start_worker(name);
  settle(10s);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
  EXPECT_EQ(member_condition("west"),
            "True Active: Connected; no use for: jobsets.jobset.x-k8s.io");

  apply(of_fleet("s"));
  until("won", [&] { return winner_of("s") == "east"; });
  EXPECT_EQ(held_by("west"), "workloads 0, jobs 0");
  apply(remote_job_yaml("j"));
  until("a Job has won", [&] { return !winner_of("j").empty(); });

  ASSERT_TRUE(workers_.at("west").cluster->apply(crd_yaml(jobsets())));
  until("west is of use", [&] { return member_condition("west") == "True Active: Connected"; });
}

TEST_F(ServedKinds, AWorkerSaysThatItLacksAKindOnceTheHubServesIt) {
  worker_config_ = with_jobsets();
  for (const char* name : {"east", "west"}) add_worker(name);
  ASSERT_TRUE(workers_.at("east").cluster->apply(crd_yaml(jobsets())));
  configure_hub();
  start_manager(with_jobsets());
  for (const char* name : {"east", "west"}) start_worker(name);
  settle(10min);
  for (const char* name : {"east", "west"}) {
    EXPECT_EQ(member_condition(name), "True Active: Connected") << "the hub has no use for it";
  }
  apply(crd_yaml(jobsets()));
  until("west says so", [&] {
    return member_condition("west") ==
           "True Active: Connected; no use for: jobsets.jobset.x-k8s.io";
  });
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
}

TEST_F(ServedKinds, AJobSetThatNoWorkerServesSaysSoAndRunsOnceOneDoes) {
  worker_config_ = with_jobsets();
  add_worker("east");
  apply(crd_yaml(jobsets()));
  configure_hub();
  start_manager(with_jobsets());
  start_worker("east");
  settle(10s);
  apply(of_fleet("s"));
  settle(3min);
  const auto waiting = workload_of("s");
  ASSERT_TRUE(waiting);
  EXPECT_EQ(condition_of("s", "Dispatched"),
            "False NoWorkerAccepts: The API serves no jobs of this kind on worker clusters: east");
  ASSERT_TRUE(workers_.at("east").cluster->apply(crd_yaml(jobsets())));
  until("won", [&] { return winner_of("s") == "east"; });

  TestCluster& east = *workers_.at("east").cluster;
  until("it runs there", [&] {
    const Json copy = east.get(jobsets(), key("s"));
    return copy.is_object() && copy["spec"]["suspend"] == false;
  });
  const Status ended = east.patch(jobsets(), key("s"),
                                  R"({"status": {"conditions": [{"type": "Completed",
       "status": "True", "reason": "AllJobsCompleted", "message": "jobset completed",
       "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})",
                                  "status");
  ASSERT_TRUE(ended) << ended.error().what();
  until("finished", [&] { return condition_of("s", "Finished") != ""; });
  EXPECT_EQ(condition_of("s", "Finished"), "True Succeeded: jobset completed");
  settle();
  EXPECT_EQ(cluster_.get(jobsets(), key("s"))["status"]["conditions"][0]["type"], "Completed");
  EXPECT_TRUE(east.get(jobsets(), key("s")).is_null());
}

// A worker is asked for a kind of which it has no jobs now and then only.
TEST_F(ServedKinds, AWorkerIsWatchedForTheKindsThatItHas) {
  worker_config_ = with_jobsets();
  add_worker("east");
  ASSERT_TRUE(worker("east").apply(crd_yaml(jobsets())));
  apply(crd_yaml(jobsets()));
  configure_hub();
  start_manager(with_jobsets());
  settle(10s);
  const auto rests = [&](std::string_view plural) {
    bool resting = false;
    const auto* member = manager_->core().fleet().find("east");
    member->remote->jobs.for_each_informer([&](const jobs::JobKind& kind, const auto& informer) {
      if (kind.resource().plural == plural) resting = informer.health().resting;
    });
    return resting;
  };
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
  EXPECT_TRUE(rests("jobs"));
  EXPECT_TRUE(rests("jobsets"));
  settle(30min);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");

  apply(of_fleet("s"));
  settle(10s);
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 0");
  EXPECT_FALSE(rests("jobsets")) << "it may soon be there";
  start_worker("east");
  until("it runs there", [&] {
    const Json copy = worker("east").get(jobsets(), key("s"));
    return copy.is_object() && copy["spec"]["suspend"] == false;
  });
  EXPECT_TRUE(rests("jobs"));
  EXPECT_FALSE(rests("jobsets"));
}

/// The API of a worker that has a JobSet answers with this status to what is asked of JobSets.
class WithdrawnKind : public ServedKinds, public testing::WithParamInterface<unsigned> {
 protected:
  void start() {
    worker_config_ = with_jobsets();
    for (const char* name : {"east", "west"}) {
      add_worker(name);
      ASSERT_TRUE(worker(name).apply(crd_yaml(jobsets())));
    }
    apply(crd_yaml(jobsets()));
    configure_hub();
    manager::CoreConfig hub = with_jobsets();
    hub.dispatch.plan.worker_lost_timeout = 2min;
    start_manager(std::move(hub));
    let_admit("west", "Hold");
    for (const char* name : {"east", "west"}) start_worker(name);
    apply(of_fleet("s"));
    apply(lasting_job_yaml("j", 600));
    until("both run", [&] {
      const Json copy = worker("east").get(jobsets(), key("s"));
      return copy.is_object() && copy["spec"]["suspend"] == false && winner_of("j") == "east";
    });
    settle();
    let_admit("west", "None");
  }
  void let_admit(const std::string& name, const std::string& stop_policy) {
    worker(name).set_stop_policy(stop_policy);
  }
  void withdraw() {
    kube::NetworkFaults& faults = network_.faults("east");
    faults.concerns = [](const net::HttpRequest& request) {
      return request.target.find("/jobsets") != std::string::npos;
    };
    faults.withheld = faults.cut_watch = 1;
    faults.withheld_with = GetParam();
    ASSERT_TRUE(worker("east").patch(jobsets(), key("s"), R"({"metadata":{"labels":{"a":"b"}}})"));
  }
  void give_back() { network_.faults("east").withheld = network_.faults("east").cut_watch = 0; }

  static constexpr const char* told =
      "True Active: Connected; jobsets.jobset.x-k8s.io can no longer be followed: withheld (fault)";
};

TEST_P(WithdrawnKind, ConcernsTheJobsOfThatKindAlone) {
  start();
  withdraw();
  settle(100s);
  EXPECT_EQ(member_condition("east"), told);
  EXPECT_EQ(winner_of("s"), "east") << "it has its grace";
  until("it runs elsewhere", [&] { return winner_of("s") == "west"; }, 2min);
  until("its job, too", [&] { return worker("west").get(jobsets(), key("s")).is_object(); });
  apply(of_fleet("t"));
  settle(2min);
  EXPECT_EQ(member_condition("east"), told);
  EXPECT_EQ(winner_of("j"), "east");
  EXPECT_EQ(held_by("east"), "workloads 2, jobs 1");
  EXPECT_TRUE(worker("east").get(jobsets(), key("t")).is_null());
  until("it is followed to its end", [&] { return condition_of("j", "Finished") != ""; }, 6min);
  EXPECT_THAT(condition_of("j", "Finished"), testing::StartsWith("True Succeeded"));

  give_back();
  until("as before", [&] { return member_condition("east") == "True Active: Connected"; });
  until("what is left is gone", [&] { return worker("east").get(jobsets(), key("s")).is_null(); });
  EXPECT_EQ(winner_of("s"), "west");
}

TEST_P(WithdrawnKind, DoesNotKeepItsWorkerFromComingBack) {
  start();
  withdraw();
  settle(10s);
  const auto* member = manager_->core().fleet().find("east");
  network_.faults("east").partitioned = true;
  member->remote->suspect();
  until("lost", [&] { return !member->ready(); });
  network_.faults("east").partitioned = false;
  until("back", [&] { return member->ready(); }, 1min);
  until("told", [&] { return member_condition("east") == told; });
  EXPECT_EQ(winner_of("s"), "east");
}

INSTANTIATE_TEST_SUITE_P(Answers, WithdrawnKind, testing::Values(404U, 403U));

/// Created by a request of a manager that is gone, which was long under way.
class LateJobs : public Federation {
 protected:
  static constexpr const char* late_job_yaml = R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: late
  namespace: default
  labels: {kueue.x-k8s.io/multikueue-origin: multikueue, kueue.x-k8s.io/prebuilt-workload-name: w}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
)";
  void start() {
    start_all({"east"});
    settle(32min);  // the next look at kinds without jobs is some minutes away
  }
};

TEST_F(LateJobs, AreCollectedOnAWorkerWithoutJobs) {
  start();
  ASSERT_TRUE(worker("east").apply(late_job_yaml));
  settle(13min);
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

TEST_F(LateJobs, AreFoundAsSoonAsTheWorkerComesBack) {
  start();
  network_.faults("east").partitioned = true;
  ASSERT_TRUE(worker("east").apply(late_job_yaml));
  until("lost", [&] { return member_condition("east").starts_with("False"); }, 10min);
  network_.faults("east").partitioned = false;
  network_.faults("east").concerns = follows_jobs;
  network_.faults("east").delay_min = network_.faults("east").delay_max = 500ms;
  const auto* member = manager_->core().fleet().find("east");
  until("back", [&] { return member->ready(); }, 2min);
  EXPECT_EQ(member->remote->jobs.list().size(), 1U);
  settle(70s);
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

// The API server does not know that a JobSet that ended stays so.
TEST_F(ServedKinds, AStatusThatArrivesLateDoesNotUndoTheEnd) {
  worker_config_ = with_jobsets();
  add_worker("east");
  TestCluster& east = *workers_.at("east").cluster;
  apply(crd_yaml(jobsets()));
  ASSERT_TRUE(east.apply(crd_yaml(jobsets())));
  configure_hub();
  start_manager(with_jobsets());
  start_worker("east");
  apply(of_fleet("s"));
  until("it runs there", [&] {
    const Json copy = east.get(jobsets(), key("s"));
    return copy.is_object() && copy["spec"]["suspend"] == false;
  });
  settle();
  const auto says = [](const char* type) {
    return R"({"status": {"conditions": [{"type": ")" + std::string(type) +
           R"(", "status": "True", "reason": "R", "message": "m",
              "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})";
  };
  kube::NetworkFaults& slow = manager_->faults();
  slow.delay_min = slow.delay_max = 20s;
  ASSERT_TRUE(east.patch(jobsets(), key("s"), says("StartupPolicyInProgress"), "status"));
  settle(2s);
  // As a manager that led meanwhile has seen it.
  ASSERT_TRUE(cluster_.patch(jobsets(), key("s"), says("Completed"), "status"));
  settle(9s);
  EXPECT_EQ(cluster_.get(jobsets(), key("s"))["status"]["conditions"][0]["type"], "Completed");
}

TEST_F(ServedKinds, AKindThatRunsOnNoWorkerIsRejectedThereAndWorkersDoNotLackIt) {
  manager::CoreConfig with_spark;
  with_spark.kinds = jobs::enabled_kinds({"sparkoperator.k8s.io/sparkapplication"});
  worker_config_ = with_spark;
  add_worker("east");
  apply(crd_yaml(jobs::all_kinds().find("sparkoperator.k8s.io", "SparkApplication")->resource()));
  configure_hub();
  start_manager(with_spark);
  start_worker("east");
  settle(10s);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");

  apply(R"(
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: s, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  suspend: true
  mode: cluster
  driver: {coreRequest: "1"}
  executor: {coreRequest: "1", instances: 1}
)");
  settle();
  const auto workload = workload_of("s");
  ASSERT_TRUE(workload);
  EXPECT_FALSE(workload->spec.active);
  EXPECT_THAT(events("Workload"),
              testing::Contains(testing::HasSubstr("No multikueue adapter found for owner kind")));
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

TEST_F(ServedKinds, AnExternalKindIsSentToAWorkerAndItsStatusComesHome) {
  const auto pipelines = jobs::external_kind("Pipeline.v1alpha2.flows.example.com", true).value();
  manager::CoreConfig with_pipelines;
  auto kinds = jobs::enabled_kinds({}).all();
  kinds.push_back(pipelines);
  with_pipelines.kinds = jobs::JobKinds(kinds);
  const std::string definition = crd_yaml(pipelines->resource());
  worker_config_ = with_pipelines;
  add_worker("east");
  TestCluster& east = *workers_.at("east").cluster;
  apply(definition);
  ASSERT_TRUE(east.apply(definition));
  configure_hub();
  start_manager(with_pipelines);
  start_worker("east");
  settle(10s);
  apply(R"(
apiVersion: flows.example.com/v1alpha2
kind: Pipeline
metadata: {name: p, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}
spec: {managedBy: kueue.x-k8s.io/multikueue, steps: 3}
)");
  settle();
  EXPECT_FALSE(workload_of("p")) << "its own controller makes it";
  const Json mine = cluster_.get(pipelines->resource(), key("p"));
  EXPECT_FALSE(mine["spec"].contains("suspend"));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: made
  namespace: default
  ownerReferences: [{apiVersion: flows.example.com/v1alpha2, kind: Pipeline, name: p, uid: )" +
        mine["metadata"]["uid"].get<std::string>() + R"(, controller: true}]
spec:
  queueName: main
  podSets: [{name: main, count: 1, template: {spec: {containers: [
    {name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]
)");
  until("it is there", [&] { return east.get(pipelines->resource(), key("p")).is_object(); });
  EXPECT_EQ(east.get(pipelines->resource(), key("p"))["spec"], Json({{"steps", 3}}));
  const Status runs =
      east.patch(pipelines->resource(), key("p"), R"({"status": {"phase": "Running"}})", "status");
  ASSERT_TRUE(runs) << runs.error().what();
  until("its status is home", [&] {
    const Json job = cluster_.get(pipelines->resource(), key("p"));
    return job.contains("status") && job["status"]["phase"] == "Running";
  });

  // The watch of the pipelines falls silent before its controller there ends it.
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.target.find("/pipelines?") != std::string::npos;
  };
  network_.faults("east").half_open_watch = 1;
  ASSERT_TRUE(
      east.patch(pipelines->resource(), key("p"), R"({"status": {"phase": "Done"}})", "status"));
  ASSERT_TRUE(east.patch(api::Workload::resource, key("made"), R"({"status": {"conditions": [
      {"type": "Finished", "status": "True", "reason": "Succeeded", "message": "all steps done",
       "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})",
                         "status"));
  until("it is over", [&] {
    const auto made = cluster_.get<api::Workload>(key("made"));
    return made &&
           condition(made->status.conditions, "Finished") == "True Succeeded: all steps done";
  });
  until("all is gone there", [&] {
    return east.get(pipelines->resource(), key("p")).is_null() &&
           east.list<api::Workload>("default").empty();
  });
  EXPECT_EQ(cluster_.get(pipelines->resource(), key("p"))["status"]["phase"], "Done");
}

}  // namespace
}  // namespace regatta::test_support
