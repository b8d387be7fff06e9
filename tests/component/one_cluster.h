#pragma once

#include "lib/api/batch.h"
#include "lib/api/kueue.h"
#include "lib/api/names.h"
#include "tests/support/test_cluster.h"
#include "tests/support/test_connector.h"
#include "tests/support/test_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace regatta::test_support {

using namespace std::chrono_literals;

/// One cluster with its manager. Queues: LocalQueue `main` in namespace `default` leads to
/// ClusterQueue `cq`, which has 4 CPUs of flavor `cpu-only`.
class OneCluster : public testing::Test {
 protected:
  OneCluster() { cluster_.install_crds(); }

  static constexpr const char* flavor_yaml = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: cpu-only}
spec: {nodeLabels: {pool: cpu}, tolerations: [{key: pool, operator: Exists}]}
)";
  static constexpr const char* cluster_queue_yaml = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: cpu-only, resources: [{name: cpu, nominalQuota: "4"}]}]
)";
  static constexpr const char* local_queue_yaml = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: cq}
)";

  /// waitForPodsReady, with so long to start and to recover.
  static void wait_for_pods(manager::CoreConfig* config, Duration timeout) {
    lifecycle::PodsReadyPolicy& policy = config->workloads.lifecycle.wait_for_pods_ready.emplace();
    policy.timeout = timeout;
    policy.recovery_timeout = timeout;
    config->scheduler.wait_for_pods_ready = true;
    config->jobs.policy.wait_for_pods_ready = true;
  }
  void start_manager(manager::CoreConfig config = {}) {
    manager_.emplace(cluster_, network_, std::move(config));
    until("the manager has synced", [&] { return manager_->started(); });
  }
  void apply(std::string_view yaml) {
    const Status done = cluster_.apply(yaml);
    ASSERT_TRUE(done) << done.error().what() << "\n" << yaml;
  }
  void start_with_queues(manager::CoreConfig config = {}) {
    apply(flavor_yaml);
    apply(cluster_queue_yaml);
    apply(local_queue_yaml);
    start_manager(std::move(config));
    settle();
  }
  /// From now on the cluster has objects of a newer version of Kueue: conditions may have another
  /// status than this version knows.
  void accept_newer(TestCluster& cluster, const api::ResourceInfo& resource) {
    static const api::ResourceInfo crds{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                        "customresourcedefinitions", false};
    const api::ObjectKey name(resource.group_resource());
    Json crd = cluster.get(crds, name);
    for (Json& version : crd["spec"]["versions"]) {
      version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"]
             ["items"]["properties"]["status"]
                 .erase("enum");
    }
    const Json patch = {{"spec", {{"versions", crd["spec"]["versions"]}}}};
    ASSERT_TRUE(cluster.patch(crds, name, dump_json(patch)));
    settle();
  }
  /// Of a cluster that has newer objects of that resource.
  void make_unreadable(TestCluster& cluster, const api::ObjectKey& name,
                       const api::ResourceInfo& resource = api::Workload::resource) {
    const Json object = cluster.get(resource, name);
    Json conditions = object.value("/status/conditions"_json_pointer, Json::array());
    conditions.push_back({{"type", "FromTheFuture"},
                          {"status", "Perhaps"},
                          {"reason", "New"},
                          {"message", ""},
                          {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
    const Json patch = {{"status", {{"conditions", conditions}}}};
    ASSERT_TRUE(cluster.patch(resource, name, dump_json(patch), "status"));
  }
  /// The AdmissionCheck `checked`, whose controller is the test.
  void apply_check() {
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: checked}
spec: {controllerName: example.dev/check}
)");
  }
  void set_check_active(bool active) {
    const std::string status = active ? "True" : "False";
    ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("checked"),
                               R"({"status":{"conditions":[{"type":"Active","status":")" + status +
                                   R"(","reason":"Active","message":"ok",
                               "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                               "status"));
  }
  /// From now on the ClusterQueue needs the check.
  void require_check() {
    ASSERT_TRUE(cluster_.patch(
        api::ClusterQueue::resource, api::ObjectKey("cq"),
        R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"checked"}]}}})"));
  }
  /// From now on faults concern the objects below `path` alone; with `write` what is written below
  /// that path, instead of what is written below `path`. Every watch is opened anew for that.
  void let_faults_concern(const std::string& path, const std::string& write = "") {
    manager_->faults().concerns = [path, write](const net::HttpRequest& request) {
      const bool other = !write.empty() && request.method == "PATCH";
      return request.target.find(other ? write : path) != std::string::npos;
    };
    settle(20min);
  }
  /// The queue is held, and from now on faults concern the objects below `path` alone.
  void single_out(const std::string& path) {
    let_faults_concern(path);
    cluster_.set_stop_policy("Hold");
  }
  void open_queue() { cluster_.set_stop_policy("None"); }
  /// As when an API server restarts: answers to writes are cut off, then it does not know the user,
  /// and watches are silent.
  void lose_writes_and_reads() {
    kube::NetworkFaults& faults = manager_->faults();
    faults.half_open_watch = faults.lose_reply = faults.withheld = 1;
    faults.withheld_with = 401;
  }
  /// The job `j` is started, and the manager does not hear of it below `path`.
  void start_job_unheard(const std::string& path) {
    start_with_queues();
    single_out(path);
    apply(job_yaml("j"));
    settle();
    lose_writes_and_reads();
    open_queue();
    until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  }
  void hear_answers() { manager_->faults().lose_reply = manager_->faults().withheld = 0; }
  /// Runs for a while, long enough for every write that follows from another one.
  void settle(Duration time = 3s) { world_.run_for(time); }
  template <class Predicate>
  void until(const char* what, Predicate predicate, Duration limit = 60s) {
    EXPECT_TRUE(predicate() || world_.run_for(limit, predicate)) << "never: " << what;
  }

  /// A suspended Job of `pods` pods with one CPU each.
  static std::string job_yaml(const std::string& name, int pods = 1,
                              const std::string& queue = "main",
                              const std::string& annotations = "{}",
                              const std::string& labels = "") {
    const std::string count = std::to_string(pods);
    return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + queue + labels +
           "}, annotations: " + annotations + "}\nspec: {suspend: true, parallelism: " + count +
           ", completions: " + count + R"(, template: {metadata: {labels: {mine: "yes"}}, spec: {
  restartPolicy: Never, nodeSelector: {disk: ssd},
  containers: [{name: main, image: img, resources: {requests: {cpu: "1"}}}]}}}
)";
  }
  static api::ObjectKey key(const std::string& name) { return {"default", name}; }
  /// It lists or watches Jobs.
  static bool follows_jobs(const net::HttpRequest& request) {
    return request.method == "GET" && request.target.find("/jobs?") != std::string::npos;
  }
  api::Job job(const std::string& name) {
    auto found = cluster_.get<api::Job>(key(name));
    if (!found) ADD_FAILURE() << "no job " << name;
    return found.value_or(api::Job());
  }
  /// The Workload that the Job owns.
  std::optional<api::Workload> workload_of(const std::string& name) {
    for (api::Workload& workload : cluster_.list<api::Workload>("default")) {
      const api::OwnerReference* owner = workload.metadata.controller();
      if (owner && owner->name == name) return std::move(workload);
    }
    return std::nullopt;
  }
  /// "True Reason: message", or empty.
  static std::string condition(const api::Conditions& conditions, std::string_view type) {
    const api::Condition* found = api::find_condition(conditions, type);
    if (!found) return "";
    const char* status = found->status == api::ConditionStatus::True    ? "True"
                         : found->status == api::ConditionStatus::False ? "False"
                                                                        : "Unknown";
    return std::string(status) + " " + found->reason + ": " + found->message;
  }
  std::string condition_of(const std::string& job, std::string_view type) {
    const auto workload = workload_of(job);
    return workload ? condition(workload->status.conditions, type) : "no workload";
  }
  void patch_job_status(const std::string& name, std::string_view json) {
    patch_job_status(cluster_, name, json);
  }
  static void patch_job_status(TestCluster& there, const std::string& name, std::string_view json) {
    const Status done = there.patch(api::Job::resource, key(name), json, "status");
    ASSERT_TRUE(done) << done.error().what();
  }
  /// Writes what the Job controller writes when a Job starts, and when it has completed.
  void run_job(const std::string& name, int pods) {
    const std::string n = std::to_string(pods);
    patch_job_status(name, R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":)" + n +
                               R"(,"ready":)" + n + R"(,"terminating":0,
      "uncountedTerminatedPods":{}}})");
  }
  void complete_job(const std::string& name, int pods) { complete_job(cluster_, name, pods); }
  static void complete_job(TestCluster& there, const std::string& name, int pods) {
    patch_job_status(
        there, name,
        R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":null,"ready":0,"terminating":0,
      "succeeded":)" +
            std::to_string(pods) +
            R"(,"completionTime":"2026-01-01T00:01:00Z","conditions":[
      {"type":"SuccessCriteriaMet","status":"True","reason":"CompletionsReached",
       "message":"Reached expected number of succeeded pods",
       "lastProbeTime":"2026-01-01T00:01:00Z","lastTransitionTime":"2026-01-01T00:01:00Z"},
      {"type":"Complete","status":"True","reason":"CompletionsReached",
       "message":"Reached expected number of succeeded pods",
       "lastProbeTime":"2026-01-01T00:01:00Z","lastTransitionTime":"2026-01-01T00:01:00Z"}]}})");
  }
  /// "Reason: note" of each Event about objects of that kind, in order of name.
  std::vector<std::string> events(const std::string& kind) {
    std::vector<std::string> found;
    const auto visit = [&](const Json& event, std::size_t) {
      if (event["involvedObject"]["kind"] != kind) return;
      found.push_back(event["reason"].get<std::string>() + ": " +
                      event["message"].get<std::string>());
    };
    const api::ResourceInfo resource{"", "v1", "Event", "events", true};
    (void)run(world_, cluster_.admin().list_raw(resource, "", {}, visit));
    return found;
  }

  sim::World world_{1};
  TestConnector network_{world_};
  TestCluster cluster_{world_, "solo"};
  std::optional<TestManager> manager_;
};

}  // namespace regatta::test_support
