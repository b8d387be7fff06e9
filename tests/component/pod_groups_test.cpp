// Pods and groups of Pods, from their gates to their end.
#include "jobs/integrations/integrations.h"
#include "lib/api/yaml.h"
#include "lib/base/base64.h"
#include "manager/webhooks/job_reviews.h"
#include "tests/component/one_cluster.h"

#include <algorithm>

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PodGroups : public OneCluster {
 protected:
  static manager::CoreConfig with_pods() {
    manager::CoreConfig config;
    config.kinds = jobs::enabled_kinds({"pod"});
    return config;
  }
  void start() {
    apply(flavor_yaml);
    apply(cluster_queue_yaml);
    apply(local_queue_yaml);
    start_manager(with_pods());
    settle();
  }
  static const api::ResourceInfo& pods() {
    static const api::ResourceInfo resource{"", "v1", "Pod", "pods", true};
    return resource;
  }
  /// A Pod of one CPU as the webhook lets it in; of group `g` of so many, or of none.
  static std::string pod_yaml(const std::string& name, int total) {
    const std::string group = total ? ", kueue.x-k8s.io/pod-group-name: g" : "";
    const std::string count =
        total ? "kueue.x-k8s.io/pod-group-total-count: \"" + std::to_string(total) + "\"" : "";
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", namespace: default, finalizers: [kueue.x-k8s.io/managed], labels: "
           "{kueue.x-k8s.io/managed: \"true\", kueue.x-k8s.io/queue-name: main" +
           group + "}, annotations: {" + count + R"(}}
spec:
  restartPolicy: Never
  schedulingGates: [{name: kueue.x-k8s.io/admission}]
  containers: [{name: main, image: img, resources: {requests: {cpu: "1"}}}]
)";
  }
  void apply_group(const std::vector<std::string>& names, int total) {
    for (const std::string& name : names) apply(pod_yaml(name, total));
  }
  Json pod(const std::string& name) { return cluster_.get(pods(), key(name)); }
  /// "gated", "open", "Running" and so on; "going" besides when it is being deleted, and "kept"
  /// when it has the finalizer.
  std::string state(const std::string& name) {
    const Json found = pod(name);
    if (found.is_null()) return "gone";
    std::string phase = found["status"].value("phase", "");
    if (phase.empty() || phase == "Pending") {
      phase = found["spec"].contains("schedulingGates") ? "gated" : "open";
    }
    if (found["metadata"].contains("deletionTimestamp")) phase += " going";
    if (found["metadata"].contains("finalizers")) phase += " kept";
    return phase;
  }
  std::vector<std::string> states(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const std::string& name : names) out.push_back(state(name));
    return out;
  }

  // As scheduler and kubelet.
  void run_pod(const std::string& name) {
    const std::string& path = *bindings_.insert("pods/" + name + "/binding").first;
    const api::ResourceInfo binding{"", "v1", "Binding", path, true};
    const Json target{{"apiVersion", "v1"},
                      {"kind", "Binding"},
                      {"metadata", {{"name", name}, {"namespace", "default"}}},
                      {"target", {{"kind", "Node"}, {"name", "n"}}}};
    const auto bound = run(world_, cluster_.admin().create_raw(binding, "default", target.dump()));
    ASSERT_TRUE(bound) << bound.error().what();
    set_phase(name, "Running");
  }
  void set_phase(const std::string& name, const std::string& phase) {
    const Status done =
        cluster_.patch(pods(), key(name), R"({"status": {"phase": ")" + phase + R"("}})", "status");
    ASSERT_TRUE(done) << done.error().what();
  }
  /// The kubelet has ended a pod that is being deleted.
  void end_pod(const std::string& name) {
    set_phase(name, "Failed");
    kube::DeleteOptions now;
    now.grace_period_seconds = 0;
    (void)cluster_.remove(pods(), key(name), now);
  }
  std::optional<api::Workload> group_workload() { return cluster_.get<api::Workload>(key("g")); }
  std::string group_condition(std::string_view type) {
    const auto workload = group_workload();
    return workload ? condition(workload->status.conditions, type) : "no workload";
  }
  int pod_patches() const { return manager_->requests.count("patch", "pods"); }

  std::set<std::string> bindings_;
};

const std::vector<std::string> three = {"a", "b", "c"};

TEST_F(PodGroups, AGroupIsAdmittedAsOneRunsAndEnds) {
  start();
  apply_group({"a", "b"}, 3);
  settle();
  EXPECT_FALSE(group_workload()) << "one is missing";
  EXPECT_THAT(events("Pod"), Contains("ErrWorkloadCompose: 'g' group has fewer runnable pods than "
                                      "expected"));
  EXPECT_EQ(pod_patches(), 0);
  EXPECT_EQ(manager_->requests.count("patch", "events"), 0) << "it is told once";

  apply_group({"c"}, 3);
  settle();
  const auto workload = group_workload();
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->metadata.owner_references.size(), 3U);
  EXPECT_EQ(workload->metadata.controller(), nullptr);
  ASSERT_EQ(workload->spec.pod_sets.size(), 1U);
  EXPECT_EQ(workload->spec.pod_sets[0].count, 3);
  EXPECT_THAT(states(three), ElementsAre("open kept", "open kept", "open kept"));
  EXPECT_EQ(pod("b")["spec"]["nodeSelector"]["pool"], "cpu");
  EXPECT_EQ(pod_patches(), 3) << "each is opened once";

  for (const std::string& name : three) run_pod(name);
  settle();
  set_phase("a", "Succeeded");
  settle();
  ASSERT_EQ(group_workload()->status.reclaimable_pods.size(), 1U);
  EXPECT_EQ(group_workload()->status.reclaimable_pods[0].count, 1);
  EXPECT_EQ(pod_patches(), 3);
  for (const char* name : {"b", "c"}) set_phase(name, "Succeeded");
  settle();
  EXPECT_EQ(group_condition("Finished"), "True Succeeded: Pods succeeded: 3/3.");
  EXPECT_THAT(states(three), ElementsAre("Succeeded", "Succeeded", "Succeeded"));
  EXPECT_TRUE(group_workload()->metadata.finalizers.empty());
  EXPECT_EQ(pod_patches(), 6) << "opened once, let go once";
}

/// The watch of Pods is silent, the answers to their start are lost, and they cannot be read then.
TEST_F(PodGroups, AGroupOfWhichAPodMayHaveBeenStartedKeepsItsQuotaUntilItEnded) {
  start();
  single_out("/pods");
  apply_group(three, 3);
  settle();
  lose_writes_and_reads();
  open_queue();
  until("a Pod has started", [&] {
    return std::ranges::any_of(three, [&](const auto& name) { return state(name) == "open kept"; });
  });
  hear_answers();
  for (const std::string& name : three) {
    if (state(name) == "open kept") run_pod(name);
  }
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, key("g"), R"({"spec":{"active":false}})"));
  settle(20s);
  ASSERT_THAT(states(three), Contains("Running going kept"));
  EXPECT_THAT(group_condition("QuotaReserved"), testing::StartsWith("True"));
}

/// The watch of Jobs is silent.
TEST_F(PodGroups, APodIsNotTakenForAJobOfItsOwnWhileTheCacheLacksItsMaker) {
  manager::CoreConfig config;
  config.kinds = jobs::enabled_kinds({"batch/job", "pod"});
  start_with_queues(std::move(config));
  single_out("/jobs");
  manager_->faults().half_open_watch = 1;
  settle(20min);
  apply(job_yaml("maker"));
  ASSERT_TRUE(manager_->core().local().jobs.list().empty());
  Json made = api::parse_yaml(pod_yaml("p", 0)).value();
  made["metadata"]["ownerReferences"] = {{{"apiVersion", "batch/v1"},
                                          {"kind", "Job"},
                                          {"name", "maker"},
                                          {"uid", job("maker").metadata.uid},
                                          {"controller", true}}};
  apply(dump_json(made));
  settle();
  EXPECT_TRUE(workload_of("maker"));
  for (const api::Workload& workload : cluster_.list<api::Workload>("default")) {
    EXPECT_NE(workload.metadata.owner_references.at(0).kind, "Pod") << workload.metadata.name;
  }
}

TEST_F(PodGroups, APreemptedGroupHoldsItsQuotaUntilItsPodsHaveEnded) {
  start();
  ASSERT_TRUE(
      cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                     R"({"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}})"));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
)");
  apply_group(three, 3);
  settle();
  for (const std::string& name : three) run_pod(name);
  apply(job_yaml("j", 2, "main", "{}", ", kueue.x-k8s.io/priority-class: high"));
  settle();
  EXPECT_THAT(states(three),
              ElementsAre("Running going kept", "Running going kept", "Running going kept"));
  EXPECT_THAT(pod("a").dump(), HasSubstr("WorkloadEvictedDueToPreempted"));
  EXPECT_EQ(job("j").spec.suspend, true) << "there is no room yet";
  for (const char* name : {"a", "b"}) end_pod(name);
  settle();
  EXPECT_EQ(job("j").spec.suspend, true);
  end_pod("c");
  settle();
  EXPECT_EQ(job("j").spec.suspend, false);
  EXPECT_THAT(group_condition("WaitingForReplacementPods"), HasSubstr("True Preempted"));
  EXPECT_THAT(states(three),
              ElementsAre("Failed going kept", "Failed going kept", "Failed going kept"));

  apply_group({"d", "e", "f"}, 3);
  settle();
  EXPECT_THAT(states(three), ElementsAre("gone", "gone", "gone"));
  EXPECT_EQ(group_condition("WaitingForReplacementPods"),
            "False PodsReady: No pods need replacement");
  EXPECT_THAT(states({"d", "e", "f"}), ElementsAre("gated kept", "gated kept", "gated kept"));
  run_job("j", 2);
  complete_job("j", 2);
  settle();
  EXPECT_THAT(states({"d", "e", "f"}), ElementsAre("open kept", "open kept", "open kept"));
}

TEST_F(PodGroups, AFailedPodIsReplacedAndWhatIsTooMuchIsDeleted) {
  start();
  apply_group(three, 3);
  settle();
  for (const std::string& name : three) run_pod(name);
  set_phase("b", "Failed");
  settle();
  EXPECT_EQ(group_condition("WaitingForReplacementPods"),
            "True PodsFailed: Some Failed pods need replacement");
  EXPECT_EQ(state("b"), "Failed kept");
  apply_group({"d"}, 3);
  settle();
  EXPECT_EQ(state("b"), "Failed");
  EXPECT_EQ(state("d"), "open kept");
  EXPECT_EQ(group_workload()->metadata.owner_references.size(), 4U);
  EXPECT_THAT(events("Workload"), Contains("OwnerReferencesAdded: Added 1 owner reference(s)"));
  apply_group({"e"}, 3);
  settle();
  EXPECT_EQ(state("e"), "gone");
  EXPECT_THAT(events("Pod"), Contains("ExcessPodDeleted: Excess pod deleted"));
}

/// The Workload of a group whose last owner has gone is deleted as garbage, and what it lets run
/// ends.
TEST_F(PodGroups, APodThatIsReplacedGoesOnceTheWorkloadBelongsToTheOneThatReplacesIt) {
  start();
  apply_group({"a", "b"}, 2);
  settle();
  for (const char* name : {"a", "b"}) {
    run_pod(name);
    end_pod(name);
  }
  settle();
  EXPECT_THAT(states({"a", "b"}), ElementsAre("Failed going kept", "Failed going kept"));
  const auto before = group_workload();
  ASSERT_TRUE(before);

  kube::NetworkFaults& faults = manager_->faults();
  faults.concerns = [](const net::HttpRequest& request) {
    const auto has = [&](const char* part) {
      return request.target.find(part) != std::string::npos;
    };
    return request.method != "GET" && has("/workloads/g") && !has("/status");
  };
  faults.server_error = 1;
  apply_group({"c", "d"}, 2);
  settle();
  EXPECT_THAT(states({"a", "b"}), ElementsAre("Failed going kept", "Failed going kept"));
  faults.server_error = 0;
  until("replaced", [&] { return state("a") == "gone" && state("b") == "gone"; });
  settle();
  EXPECT_THAT(states({"c", "d"}), ElementsAre("open kept", "open kept"));
  ASSERT_TRUE(group_workload());
  EXPECT_EQ(group_workload()->metadata.uid, before->metadata.uid);
}

TEST_F(PodGroups, ARestartOpensNoPodTwice) {
  start();
  apply_group(three, 3);
  // Some answers are lost: what was done is not known.
  manager_->faults().lose_reply = 0.5;
  settle(2s);
  manager_.reset();
  start_manager(with_pods());
  settle(1min);
  EXPECT_THAT(states(three), ElementsAre("open kept", "open kept", "open kept"));
  for (const std::string& name : three) {
    EXPECT_EQ(pod(name)["metadata"]["labels"]["kueue.x-k8s.io/podset"],
              group_workload()->spec.pod_sets[0].name);
  }
  manager_->requests.clear();
  settle(1min);
  EXPECT_EQ(pod_patches(), 0);
}

TEST_F(PodGroups, WithItsWorkloadAGroupGoes) {
  start();
  apply_group(three, 3);
  settle();
  run_pod("a");
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("g")));
  settle();
  EXPECT_THAT(states(three), ElementsAre("Running going kept", "gone", "gone"));
  EXPECT_TRUE(group_workload()) << "it has its quota until the last pod has ended";
  EXPECT_EQ(manager_->requests.conflicts(), 0);
  end_pod("a");
  settle();
  EXPECT_EQ(state("a"), "gone");
  EXPECT_FALSE(group_workload());
}

TEST_F(PodGroups, AWorkloadWhosePodsAreGoneIsLetGo) {
  start();
  apply_group(three, 3);
  settle();
  for (const std::string& name : three) {
    ASSERT_TRUE(cluster_.patch(pods(), key(name), R"({"metadata": {"finalizers": null}})"));
  }
  settle();
  EXPECT_FALSE(group_workload()->metadata.finalizers.empty());
  for (const std::string& name : three) {
    ASSERT_TRUE(cluster_.remove(pods(), key(name)));
    settle();
  }
  ASSERT_TRUE(group_workload());
  EXPECT_TRUE(group_workload()->metadata.finalizers.empty());
}

TEST_F(PodGroups, AGroupThatWentInSilenceGetsNoOtherWorkload) {
  apply(flavor_yaml);
  apply(cluster_queue_yaml);
  apply(local_queue_yaml);
  manager_.emplace(cluster_, network_, with_pods());
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.method == "GET" && request.target.find("/pods?") != std::string::npos;
  };
  until("the manager has synced", [&] { return manager_->started(); });
  const std::vector<std::string> many{"a", "b", "c", "d", "e", "f", "g", "h"};
  apply_group(many, 8);
  settle();
  ASSERT_EQ(states(many), std::vector<std::string>(8, "gated kept")) << "there is no room";
  manager_->requests.clear();
  manager_->faults().half_open_watch = 1;  // no event of a Pod comes any more
  for (const std::string& name : many) {
    ASSERT_TRUE(cluster_.patch(pods(), key(name), R"({"metadata": {"finalizers": null}})"));
    ASSERT_TRUE(cluster_.remove(pods(), key(name)));
  }
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("g")));
  settle();
  EXPECT_FALSE(group_workload()) << manager_->requests.str();
  EXPECT_EQ(manager_->requests.count("create", "workloads"), 0) << manager_->requests.str();
  EXPECT_EQ(manager_->requests.count("get"), 8) << manager_->requests.str();
}

TEST_F(PodGroups, OnAWorkerAGroupTakesTheWorkloadThatTheHubMade) {
  start();
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: g, namespace: default, labels: {kueue.x-k8s.io/multikueue-origin: hub},
  annotations: {kueue.x-k8s.io/is-group-workload: "true"}}
spec:
  queueName: main
  podSets:
  - name: role
    count: 2
    template: {spec: {restartPolicy: Never, containers: [
      {name: main, image: img, resources: {requests: {cpu: "1"}}}]}}
)");
  settle();
  EXPECT_EQ(group_condition("Admitted").substr(0, 4), "True") << "before its pods come";
  for (const char* name : {"a", "b"}) {
    std::string yaml = pod_yaml(name, 2);
    const std::string count = "kueue.x-k8s.io/pod-group-total-count";
    yaml.replace(
        yaml.find(count), count.size(),
        "kueue.x-k8s.io/prebuilt-workload-name: g, kueue.x-k8s.io/role-hash: role, " + count);
    apply(yaml);
    settle();
    EXPECT_EQ(state(name), "open kept");
  }
  EXPECT_EQ(group_workload()->metadata.owner_references.size(), 2U);
  EXPECT_EQ(group_workload()->metadata.label("kueue.x-k8s.io/multikueue-origin"), "hub");
}

TEST_F(PodGroups, ASinglePodIsAJobByItself) {
  start();
  apply(pod_yaml("p", 0));
  settle();
  ASSERT_TRUE(workload_of("p"));
  EXPECT_EQ(state("p"), "open kept");
  EXPECT_EQ(pod_patches(), 1);
  run_pod("p");
  set_phase("p", "Succeeded");
  settle();
  EXPECT_THAT(condition_of("p", "Finished"), HasSubstr("True Succeeded"));
  EXPECT_EQ(state("p"), "Succeeded");
  EXPECT_EQ(pod_patches(), 2);
}

TEST_F(PodGroups, ASinglePodThatIsEvictedEnds) {
  start();
  apply(pod_yaml("p", 0));
  settle();
  run_pod("p");
  const auto workload = workload_of("p");
  ASSERT_TRUE(workload);
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload->metadata.key(),
                             R"({"spec": {"active": false}})"));
  settle();
  EXPECT_EQ(state("p"), "Running going kept");
  end_pod("p");
  settle();
  EXPECT_EQ(state("p"), "gone");
}

TEST_F(PodGroups, TheWebhookGatesPodsThatHaveAQueue) {
  start();
  webhooks::WebhookHandler handler{webhooks::Gates()};
  manager::add_job_webhooks(&handler, {manager_->core().local(), {}, true, [] { return true; }});
  const auto patch_of = [&](const char* labels) {
    const Json object = api::parse_yaml(
                            "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: "
                            "default, labels: " +
                            std::string(labels) + "}\nspec: {containers: [{name: c, image: i}]}")
                            .value();
    const Json body{{"request", {{"uid", "u"}, {"operation", "CREATE"}, {"object", object}}}};
    net::HttpRequest request("POST", "/mutate--v1-pod");
    request.headers.set("Content-Type", "application/json");
    request.body = body.dump();
    const net::HttpResponse answer = run(world_, handler.handle(std::move(request)));
    EXPECT_EQ(answer.status, 200u) << answer.body;
    const Json response = Json::parse(answer.body).at("response");
    EXPECT_TRUE(response.at("allowed")) << answer.body;
    return response.contains("patch") ? base64_decode(response["patch"].get<std::string>()).value()
                                      : std::string();
  };
  const std::string gated = patch_of("{kueue.x-k8s.io/queue-name: main}");
  for (const char* part : {"kueue.x-k8s.io/admission", "finalizers", "role-hash", "managed"}) {
    EXPECT_THAT(gated, HasSubstr(part));
  }
  EXPECT_EQ(patch_of("{app: web}"), "") << "other Pods of the namespace stay as they are";
}

TEST_F(PodGroups, PodsOfOthersAreLeftAlone) {
  start();
  std::string yaml = pod_yaml("p", 0);
  yaml.replace(yaml.find("kueue.x-k8s.io/managed: \"true\", "), 32, "");
  apply(yaml);
  settle();
  EXPECT_EQ(state("p"), "gated kept");
  EXPECT_THAT(cluster_.list<api::Workload>("default"), IsEmpty());
  EXPECT_THAT(manager_->core().local().jobs.list(), IsEmpty()) << "they are not even read";
}

}  // namespace
}  // namespace regatta::test_support
