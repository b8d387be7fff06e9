// Kinds that only the configuration knows: one that it describes goes the whole way, on one cluster
// and across the fleet; one that another controller manages is known as an owner.
#include "lib/api/yaml.h"
#include "manager/core_config.h"
#include "manager/webhooks/job_reviews.h"
#include "tests/component/federation.h"
#include "tests/support/manifests.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class DescribedKinds : public Federation {
 protected:
  static constexpr const char* description = R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations:
  frameworks: [batch/job, flows.example.com/pipeline]
  externalFrameworks: [Mission.v1.flows.example.com]
  describedKinds:
  - apiVersion: flows.example.com/v1
    kind: Pipeline
    resource: pipelines
    podSets:
    - name: driver
      template: /spec/driver/template
    - name: workers
      template: /spec/workers/template
      count: /spec/workers/replicas
    managedBy: /spec/managedBy
    status:
      active: "has(object.status.active) && object.status.active > 0"
      finished: "has(object.status.phase) && object.status.phase in ['Succeeded', 'Failed']"
      success: "object.status.phase == 'Succeeded'"
      message: "object.status.phase"
      podsReady: "has(object.status.ready) && object.status.ready == object.status.active"
)";
  static manager::CoreConfig described() {
    manager::CoreConfig config;
    const auto read = manager::load_configuration(description, "");
    EXPECT_TRUE(read) << read.error().what();
    config.kinds = manager::core_config(*read, "test")->kinds;
    config.jobs.policy.wait_for_pods_ready = true;
    return config;
  }
  static constexpr api::ResourceInfo pipelines{"flows.example.com", "v1", "Pipeline", "pipelines"};
  static constexpr api::ResourceInfo missions{"flows.example.com", "v1", "Mission", "missions"};

  /// A driver and so many workers, one CPU each.
  static std::string pipeline_yaml(const std::string& name, const std::string& workers,
                                   const std::string& more = "") {
    const std::string pod =
        "template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}";
    return "apiVersion: flows.example.com/v1\nkind: Pipeline\nmetadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}\nspec: {suspend: "
           "true" +
           more + ", driver: {" + pod + "}, workers: {replicas: " + workers + ", " + pod + "}}\n";
  }
  static std::string of_fleet(const std::string& name) {
    return pipeline_yaml(name, "2", ", managedBy: kueue.x-k8s.io/multikueue");
  }
  void write_status(TestCluster& cluster, const std::string& name, const std::string& json) {
    const Status done = cluster.patch(pipelines, key(name), "{\"status\":" + json + "}", "status");
    ASSERT_TRUE(done) << done.error().what();
  }
  void deactivate(const std::string& name) {
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of(name)->metadata.key(),
                               R"({"spec": {"active": false}})"));
  }
  void start_described() {
    apply(crd_yaml(pipelines));
    apply(crd_yaml(missions));
    apply(flavor_yaml);
    std::string queue = cluster_queue_yaml;
    apply(queue.replace(queue.find("  resourceGroups"), 0,
                        "  preemption: {withinClusterQueue: LowerPriority}\n"));
    apply(local_queue_yaml);
    start_manager(described());
    settle();
  }
  /// Returns the worker that runs the Pipeline `c`.
  std::string start_race() {
    worker_config_ = described();
    for (const char* name : {"east", "west"}) {
      add_worker(name);
      EXPECT_TRUE(workers_.at(name).cluster->apply(crd_yaml(pipelines)));
    }
    apply(crd_yaml(pipelines));
    configure_hub();
    start_manager(described());
    for (const char* name : {"east", "west"}) start_worker(name);
    settle(10s);
    apply(of_fleet("c"));
    until("won", [&] {
      const auto workload = workload_of("c");
      return workload && workload->status.cluster_name;
    });
    settle();
    return *workload_of("c")->status.cluster_name;
  }
};

TEST_F(DescribedKinds, AJobIsQueuedStartedPreemptedAndFinishedLikeAnyOther) {
  start_described();
  apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\n"
      "value: 100");
  apply(pipeline_yaml("c", "2"));
  settle();

  const auto workload = workload_of("c");
  ASSERT_TRUE(workload);
  EXPECT_THAT(workload->metadata.name, StartsWith("pipeline-c-"));
  ASSERT_EQ(workload->spec.pod_sets.size(), 2U);
  EXPECT_EQ(workload->spec.pod_sets[0].name, "driver");
  EXPECT_EQ(workload->spec.pod_sets[1].count, 2);
  Json pipeline = cluster_.get(pipelines, key("c"));
  EXPECT_FALSE(pipeline["spec"]["suspend"].get<bool>());
  for (const char* role : {"driver", "workers"}) {
    EXPECT_EQ(pipeline["spec"][role]["template"]["spec"]["nodeSelector"]["pool"], "cpu") << role;
  }
  EXPECT_THAT(events("Pipeline"), Contains(HasSubstr("Started: Admitted by clusterQueue cq")));

  write_status(cluster_, "c", R"({"active": 3, "ready": 1})");
  settle();
  EXPECT_THAT(condition_of("c", "PodsReady"), Not(StartsWith("True")));
  write_status(cluster_, "c", R"({"active": 3, "ready": 3})");
  settle();
  EXPECT_THAT(condition_of("c", "PodsReady"), StartsWith("True"));
  apply(job_yaml("urgent", 2, "main", "{}", ", kueue.x-k8s.io/priority-class: high"));
  settle();
  EXPECT_THAT(condition_of("c", "Preempted"), StartsWith("True InClusterQueue"));
  pipeline = cluster_.get(pipelines, key("c"));
  EXPECT_TRUE(pipeline["spec"]["suspend"].get<bool>());
  EXPECT_FALSE(pipeline["spec"]["workers"]["template"]["spec"].contains("nodeSelector"));
  EXPECT_TRUE(job("urgent").spec.suspend.value_or(false)) << "before the pods of the victim ended";
  write_status(cluster_, "c", R"({"active": 0, "ready": 0})");
  settle();
  EXPECT_FALSE(job("urgent").spec.suspend.value_or(true));

  complete_job("urgent", 2);
  settle(5s);
  write_status(cluster_, "c", R"({"active": 0, "phase": "Succeeded"})");
  settle();
  EXPECT_EQ(condition_of("c", "Finished"), "True Succeeded: Succeeded");
  EXPECT_TRUE(workload_of("c")->metadata.finalizers.empty());
  EXPECT_THAT(events("Pipeline"), Not(Contains(HasSubstr("UnreadableJob"))));
}

TEST_F(DescribedKinds, WhatCannotBeReadIsToldOnceAndHasNotHappened) {
  start_described();
  apply(pipeline_yaml("c", "two"));
  settle();
  EXPECT_FALSE(workload_of("c"));
  EXPECT_THAT(events("Pipeline"),
              Contains(HasSubstr("the number of pods of \"workers\" cannot be read: "
                                 "spec.workers.replicas is no whole number")));

  apply(pipeline_yaml("d", "1"));
  settle();
  for (const char* ready : {"1", "2", "3"}) {
    write_status(cluster_, "d", R"({"active": "yes", "ready": )" + std::string(ready) + "}");
    settle();
  }
  EXPECT_TRUE(condition_of("d", "Finished").empty());
  std::int64_t told = 0;
  const auto count = [&](const Json& event, std::size_t) {
    if (event["reason"] != "UnreadableJob") return;
    EXPECT_THAT(event["message"].get<std::string>(), StartsWith("status.active of the described"));
    told += event["count"].get<std::int64_t>();
  };
  const api::ResourceInfo of_events{"", "v1", "Event", "events"};
  ASSERT_TRUE(run(world_, cluster_.admin().list_raw(of_events, "", {}, count)));
  EXPECT_EQ(told, 1);
}

TEST_F(DescribedKinds, AJobRacesOverTheFleetAndItsStatusComesHome) {
  const std::string winner = start_race();
  TestCluster& host = *workers_.at(winner).cluster;
  const Json remote = host.get(pipelines, key("c"));
  ASSERT_TRUE(remote.is_object());
  EXPECT_FALSE(remote["spec"]["suspend"].get<bool>());
  EXPECT_FALSE(remote["spec"].contains("managedBy"));
  EXPECT_EQ(remote["spec"]["driver"]["template"]["spec"]["nodeSelector"]["pool"], "cpu");
  for (const auto& [name, worker] : workers_) {
    if (name == winner) continue;
    EXPECT_TRUE(worker.cluster->get(pipelines, key("c")).is_null());
    EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
  }

  write_status(host, "c", R"({"active": 3, "ready": 3})");
  settle();
  EXPECT_EQ(cluster_.get(pipelines, key("c"))["status"]["active"], 3);
  write_status(host, "c", R"({"active": 0, "ready": 0, "phase": "Succeeded"})");
  until("finished", [&] { return condition_of("c", "Finished") != ""; });
  settle();
  EXPECT_EQ(condition_of("c", "Finished"), "True Succeeded: Succeeded");
  EXPECT_EQ(cluster_.get(pipelines, key("c"))["status"]["phase"], "Succeeded");
  for (const auto& [name, worker] : workers_) {
    EXPECT_TRUE(worker.cluster->get(pipelines, key("c")).is_null()) << name;
    EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
  }
}

TEST_F(DescribedKinds, AnEvictedJobIsStoppedOnItsWorkerFirst) {
  TestCluster& host = *workers_.at(start_race()).cluster;
  write_status(host, "c", R"({"active": 3, "ready": 3})");
  settle();
  deactivate("c");
  settle(10s);
  EXPECT_EQ(host.get(pipelines, key("c"))["spec"]["suspend"], true);
  EXPECT_THAT(condition_of("c", "QuotaReserved"), StartsWith("True")) << "its pods run";
  write_status(host, "c", R"({"active": 0, "ready": 0})");
  settle(10s);
  EXPECT_TRUE(host.get(pipelines, key("c")).is_null());
  EXPECT_THAT(condition_of("c", "QuotaReserved"), StartsWith("False")) << "its quota is free";
  EXPECT_EQ(cluster_.get(pipelines, key("c"))["spec"]["suspend"], true);
}

TEST_F(DescribedKinds, WhatCameHomeOfAJobThatIsGoneThereGoesToo) {
  TestCluster& host = *workers_.at(start_race()).cluster;
  write_status(host, "c", R"({"active": 3, "ready": 3})");
  settle();
  EXPECT_EQ(cluster_.get(pipelines, key("c"))["status"]["active"], 3);
  ASSERT_TRUE(host.remove(pipelines, key("c")));
  deactivate("c");
  settle(30s);
  const Json home = cluster_.get(pipelines, key("c"));
  EXPECT_EQ(home["spec"]["suspend"], true);
  EXPECT_EQ(home.value("status", Json::object()), Json::object());
  settle(20min);  // the copy that followed may have started, for all that is known
  EXPECT_THAT(condition_of("c", "QuotaReserved"), StartsWith("False")) << "its quota is free";
}

TEST_F(DescribedKinds, AJobWhoseWorkerIsLostForGoodIsNotActiveAnyMore) {
  const std::string winner = start_race();
  write_status(*workers_.at(winner).cluster, "c", R"({"active": 3, "ready": 3})");
  settle();
  network_.faults(winner).drop_before = network_.faults(winner).cut_watch = 1;
  deactivate("c");
  settle(1min);
  EXPECT_THAT(condition_of("c", "QuotaReserved"), StartsWith("True")) << "its pods may run";
  settle(30min);
  const Json home = cluster_.get(pipelines, key("c"));
  EXPECT_EQ(home.value("status", Json::object()), Json::object());
  EXPECT_THAT(condition_of("c", "QuotaReserved"), StartsWith("False"));
}

TEST_F(DescribedKinds, WebhooksSuspendNewJobsAndCheckTheirQueue) {
  start_described();
  webhooks::WebhookHandler handler{webhooks::Gates()};
  manager::add_job_webhooks(
      &handler, {manager_->core().local(), jobs::JobWebhookConfig(), true, [] { return true; }});
  const auto review = [&](const std::string& path, const Json& object, const Json& before) {
    const Json body{{"request",
                     {{"uid", "u"},
                      {"operation", before.is_null() ? "CREATE" : "UPDATE"},
                      {"object", object},
                      {"oldObject", before}}}};
    net::HttpRequest request("POST", path);
    request.headers.set("Content-Type", "application/json");
    request.body = body.dump();
    return Json::parse(run(world_, handler.handle(std::move(request))).body).at("response");
  };
  Json pipeline = api::parse_yaml(pipeline_yaml("c", "2")).value();
  pipeline["spec"]["suspend"] = false;
  const Json defaulted = review("/mutate-flows-example-com-v1-pipeline", pipeline, nullptr);
  EXPECT_TRUE(defaulted.contains("patch")) << defaulted;
  const std::string validate = "/validate-flows-example-com-v1-pipeline";
  EXPECT_EQ(review(validate, pipeline, nullptr).at("allowed"), true);
  Json moved = pipeline;
  moved["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "other";
  const Json refused = review(validate, moved, pipeline);
  EXPECT_EQ(refused.at("allowed"), false);
  EXPECT_THAT(refused.dump(), HasSubstr("field is immutable"));
  Json unreadable = pipeline;
  unreadable["spec"].erase("driver");
  EXPECT_THAT(review(validate, unreadable, nullptr).dump(),
              HasSubstr("there is no pod template at spec.driver.template"));
}

/// A Mission is managed by a controller of its own, which this test plays.
TEST_F(DescribedKinds, WhatAJobOfAnotherControllerMadeFollowsThatJob) {
  start_described();
  const auto mission_yaml = [](const std::string& name, const std::string& labels) {
    return "apiVersion: flows.example.com/v1\nkind: Mission\nmetadata: {name: " + name +
           ", namespace: default, labels: {" + labels + "}}\nspec: {}\n";
  };
  apply(mission_yaml("m", "kueue.x-k8s.io/queue-name: main"));
  apply(mission_yaml("free", ""));
  const auto made_by = [&](const std::string& owner, const std::string& name) {
    const Json mission = cluster_.get(missions, key(owner));
    std::string yaml = job_yaml(name);
    yaml.replace(yaml.find("suspend: true"), 13, "suspend: false");
    yaml.replace(
        yaml.find("annotations: {}"), 15,
        "ownerReferences: [{apiVersion: flows.example.com/v1, kind: Mission, name: " + owner +
            ", controller: true, uid: " + mission["metadata"]["uid"].get<std::string>() + "}]");
    apply(yaml);
  };
  made_by("m", "step");
  made_by("free", "single");
  settle();
  EXPECT_FALSE(workload_of("m")) << "its own controller makes its Workload";
  EXPECT_FALSE(workload_of("step")) << "the job is part of the Mission";
  EXPECT_TRUE(job("step").spec.suspend.value_or(false)) << "the Mission is not admitted";
  EXPECT_TRUE(workload_of("single")) << "that Mission is not managed";

  // The controller makes the Workload, which is admitted, and starts its job.
  const Json mission = cluster_.get(missions, key("m"));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: of-mission
  namespace: default
  labels: {kueue.x-k8s.io/job-uid: )" +
        mission["metadata"]["uid"].get<std::string>() + R"(}
  ownerReferences: [{apiVersion: flows.example.com/v1, kind: Mission, name: m, controller: true,
    uid: )" +
        mission["metadata"]["uid"].get<std::string>() + R"(}]
spec:
  queueName: main
  podSets:
  - name: main
    count: 1
    template: {spec: {restartPolicy: Never, containers: [
      {name: c, image: i, resources: {requests: {cpu: 1}}}]}}
)");
  settle();
  EXPECT_THAT(condition_of("m", "Admitted"), StartsWith("True"));
  EXPECT_THAT(condition_of("m", "Finished"), IsEmpty()) << "it is not an orphan";
  ASSERT_TRUE(cluster_.patch(api::Job::resource, key("step"), R"({"spec": {"suspend": false}})"));
  settle();
  EXPECT_FALSE(job("step").spec.suspend.value_or(true)) << "the Mission is admitted";
  EXPECT_FALSE(workload_of("step"));
}

}  // namespace
}  // namespace regatta::test_support
