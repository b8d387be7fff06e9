#include "jobs/plan.h"
#include "jobs/pod/kind.h"
#include "jobs/role_hash.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

Json pod_json(const char* more = "{}") {
  Json json = Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "p", "namespace": "team", "uid": "u",
                 "finalizers": ["kueue.x-k8s.io/managed"]},
    "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"},
                                 {"name": "kueue.x-k8s.io/topology"}],
             "containers": [{"name": "c", "image": "i",
                             "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}})");
  json.merge_patch(Json::parse(more));
  return json;
}
JobPtr pod(const Json& json) {
  return pod_kind()->decode(json, nullptr).value();
}

constexpr const char* runs = R"({"spec": {"schedulingGates": null, "nodeName": "n"},
                                 "status": {"phase": "Running"}})";
constexpr const char* ended = R"({"spec": {"schedulingGates": null, "nodeName": "n"},
    "status": {"phase": "Failed", "message": "OOM"}})";

WorkloadPtr workload_with(std::initializer_list<std::string_view> conditions) {
  JobView view;
  view.job = pod(pod_json());
  api::Workload made = build_workload(view).value();
  for (const std::string_view one : conditions) {
    made.status.conditions.push_back(
        {std::string(one), api::ConditionStatus::True, 0, {}, "Preempted", "for a higher one"});
  }
  if (conditions.size() > 0) made.status.admission.emplace().cluster_queue = "cq";
  return std::make_shared<const api::Workload>(std::move(made));
}

std::string plan_of(const Json& json, const WorkloadPtr& workload, bool dispatched = false) {
  JobView view;
  view.job = pod(json);
  view.managed = true;
  view.dispatched = dispatched;
  view.infos.resize(1);
  view.policy.wait_for_pods_ready = false;
  if (workload) view.owned = {workload};
  std::vector<JobAction> actions = plan_job(view);
  std::erase_if(actions, [](const JobAction& one) {
    return std::holds_alternative<SetPodsReady>(one) || std::holds_alternative<LookAgain>(one);
  });
  return describe(actions);
}

/// Of a Pod that a hub has sent.
std::string plan_on_worker(const Json& json, const WorkloadPtr& workload) {
  JobView view;
  view.job = pod(json);
  view.managed = view.prebuilt = true;
  view.prebuilt_workload = workload;
  view.owned = {workload};
  view.infos.resize(1);
  view.policy.wait_for_pods_ready = false;
  return describe(plan_job(view));
}

TEST(Pod, one_of_a_hub_that_lost_its_place_has_not_failed_when_there_is_quota_again) {
  Json json = pod_json(R"({"metadata": {"deletionTimestamp": "2026-01-01T10:00:00Z",
      "labels": {"kueue.x-k8s.io/prebuilt-workload-name": "pod-p",
                 "kueue.x-k8s.io/multikueue-origin": "hub"}},
    "spec": {"schedulingGates": null, "nodeName": "n"},
    "status": {"phase": "Failed", "conditions": [{"type": "TerminationTarget", "status": "True",
      "reason": "WorkloadEvictedDueToPreempted"}]}})");
  const WorkloadPtr evicted = workload_with({"QuotaReserved", "Admitted", "Evicted"});
  const WorkloadPtr again = workload_with({"QuotaReserved", "Admitted"});
  EXPECT_EQ(plan_on_worker(json, evicted), "drop reservation, let job go");
  EXPECT_EQ(plan_on_worker(json, again), "let job go");
  json["metadata"].erase("finalizers");
  EXPECT_EQ(plan_on_worker(json, again), "release workload " + again->metadata.name);
  json["metadata"].erase("deletionTimestamp");
  EXPECT_EQ(plan_on_worker(json, again), "delete job") << "the request did not arrive";
  Json of_user = json;
  of_user["metadata"]["labels"].erase("kueue.x-k8s.io/multikueue-origin");
  EXPECT_EQ(plan_on_worker(of_user, again).substr(0, 6), "finish") << "no hub runs it again";
  json["status"].erase("conditions");
  EXPECT_EQ(plan_on_worker(json, again).substr(0, 6), "finish") << "it failed by itself";
}

TEST(Pod, a_role_is_what_quota_and_the_scheduler_see) {
  const auto hash = [](const char* spec) { return role_hash(Json::parse(spec)); };
  const std::string plain = hash(R"({"containers": [{"name": "a", "image": "i",
      "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]})");
  EXPECT_EQ(plain, "4ebdd4a6") << "as Kueue writes it";
  EXPECT_EQ(plain, hash(R"({"restartPolicy": "Never", "nodeSelector": {}, "containers": [
      {"name": "b", "resources": {"requests": {"memory": "1024Mi", "cpu": "1000m"}}}]})"));
  const char* others[] = {
      R"({"containers": [{"resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}]})",
      R"({"nodeSelector": {"a": "b"}, "containers": [
          {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]})",
      R"({"resources": {"requests": {"cpu": "3"}}, "containers": [
          {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]})"};
  for (const char* other : others) EXPECT_NE(hash(other), plain) << other;
}

TEST(Pod, fields_of_types_stand_in_their_order) {
  EXPECT_EQ(role_hash(Json::parse(R"({"containers": [{"name": "main",
      "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
      "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]})")),
            "a4b1e01f");
  EXPECT_EQ(role_hash(Json::parse(R"({"affinity": {"podAntiAffinity": {
      "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": {
        "labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "h"}}]}},
      "containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]})")),
            "fb0fdecf");
}

TEST(Pod, a_new_pod_is_gated_and_kept) {
  Json json = pod_json(R"({"metadata": {"finalizers": null},
                           "spec": {"schedulingGates": [{"name": "mine"}]}})");
  TopologyOptions topology;
  json.merge_patch(pod(json)->gated_patch(topology));
  EXPECT_EQ(json["spec"]["schedulingGates"].size(), 3U);
  EXPECT_EQ(json["metadata"]["finalizers"], Json::array({"kueue.x-k8s.io/managed"}));
  EXPECT_EQ(json["metadata"]["labels"]["kueue.x-k8s.io/managed"], "true");
  EXPECT_TRUE(pod(json)->suspended());
  EXPECT_EQ(pod(json)->gated_patch(topology)["spec"],
            Json({{"schedulingGates", json["spec"]["schedulingGates"]}}));
  topology.enabled = false;
  Json other = pod_json(R"({"spec": {"schedulingGates": null}})");
  other.merge_patch(pod(other)->gated_patch(topology));
  EXPECT_EQ(other["spec"]["schedulingGates"].size(), 1U);
}

TEST(Pod, only_those_that_the_webhook_marked_are_touched) {
  EXPECT_TRUE(pod(pod_json())->passed_over());
  const char* marked = R"({"metadata": {"labels": {"kueue.x-k8s.io/managed": "true"}}})";
  EXPECT_FALSE(pod(pod_json(marked))->passed_over());
}

TEST(Pod, a_start_opens_its_gates_and_keeps_those_of_others) {
  Json json = pod_json(R"({"spec": {"schedulingGates": [{"name": "mine"},
      {"name": "kueue.x-k8s.io/admission"}, {"name": "kueue.x-k8s.io/topology"}]}})");
  PodSetInfo info;
  info.node_selector["pool"] = "spot";
  info.labels["podset"] = "main";
  Json started = json;
  started.merge_patch(pod(json)->start_patch({info}).value());
  EXPECT_EQ(started["spec"]["schedulingGates"], Json::parse(R"([{"name": "mine"}])"));
  EXPECT_EQ(started["spec"]["nodeSelector"]["pool"], "spot");
  EXPECT_EQ(started["metadata"]["labels"]["podset"], "main");
  EXPECT_FALSE(pod(started)->suspended());
  info.scheduling_gates = {"kueue.x-k8s.io/topology"};
  started = pod_json();
  started.merge_patch(pod(pod_json())->start_patch({info}).value());
  EXPECT_EQ(started["spec"]["schedulingGates"],
            Json::parse(R"([{"name": "kueue.x-k8s.io/topology"}])"));
}

TEST(Pod, it_is_started_once_and_ended_by_deletion) {
  using namespace api::conditions;
  EXPECT_EQ(plan_of(pod_json(), nullptr).substr(0, 20), "create workload pod-");
  const WorkloadPtr admitted_one = workload_with({quota_reserved, admitted});
  EXPECT_EQ(plan_of(pod_json(), admitted_one), "start job (Admitted by clusterQueue cq)");
  EXPECT_EQ(plan_of(pod_json(), admitted_one, true), "") << "a worker runs it";
  EXPECT_EQ(plan_of(pod_json(runs), admitted_one), "");

  const WorkloadPtr evicted_one = workload_with({quota_reserved, admitted, evicted});
  EXPECT_EQ(plan_of(pod_json(runs), evicted_one), "terminate job (for a higher one)");
  Json going = pod_json(runs);
  going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(plan_of(going, evicted_one), "") << "it keeps its quota until it has ended";
  going["status"]["phase"] = "Failed";
  EXPECT_EQ(plan_of(going, evicted_one), "finish workload Failed (), let job go");
}

TEST(Pod, it_is_kept_until_its_workload_knows_how_it_ended) {
  using namespace api::conditions;
  const WorkloadPtr running = workload_with({quota_reserved, admitted});
  EXPECT_EQ(plan_of(pod_json(ended), running), "finish workload Failed (OOM), let job go");
  const WorkloadPtr done = workload_with({quota_reserved, admitted, finished});
  EXPECT_EQ(plan_of(pod_json(ended), done),
            "release workload " + done->metadata.name + ", let job go");
  Json json = pod_json(ended);
  json.merge_patch(pod(json)->let_go_patch());
  EXPECT_TRUE(pod(json)->let_go_patch().empty());
}

TEST(Pod, one_that_never_ran_goes_at_once) {
  Json json = pod_json();
  json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(plan_of(json, nullptr), "let job go");
}

TEST(Pod, its_status_says_why_it_is_deleted) {
  const auto patch = pod(pod_json(runs))->termination_patch("WorkloadDeleted", "m", TimePoint());
  ASSERT_TRUE(patch);
  const Json& condition = (*patch)["status"]["conditions"][0];
  EXPECT_EQ(condition["type"], "TerminationTarget");
  EXPECT_EQ(condition["reason"], "WorkloadDeleted");
  EXPECT_FALSE(pod(pod_json())->termination_patch("r", "m", TimePoint())) << "it is gated";
  EXPECT_FALSE(pod(pod_json(ended))->termination_patch("r", "m", TimePoint()));
}

TEST(Pod, a_group_has_a_name_and_a_size) {
  struct Case {
    const char* metadata;
    const char* wanted;
  };
  const Case cases[] = {
      {R"({})", ""},
      {R"({"labels": {"kueue.x-k8s.io/pod-group-name": "g"},
           "annotations": {"kueue.x-k8s.io/pod-group-total-count": "2"}})",
       ""},
      {R"({"labels": {"kueue.x-k8s.io/pod-group-name": "g"}})",
       "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Required value"},
      {R"({"annotations": {"kueue.x-k8s.io/pod-group-total-count": "2"}})",
       "metadata.labels[kueue.x-k8s.io/pod-group-name]: Required value"},
      {R"({"annotations": {"kueue.x-k8s.io/pod-group-name": "g",
                           "kueue.x-k8s.io/pod-group-total-count": "0"}})",
       "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Invalid value: \"0\""},
      {R"({"labels": {"kueue.x-k8s.io/pod-group-name": "g",
                      "kueue.x-k8s.io/prebuilt-workload-name": "h"},
           "annotations": {"kueue.x-k8s.io/pod-group-total-count": "2"}})",
       "metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"h\""},
  };
  for (const Case& one : cases) {
    Json json = pod_json();
    json["metadata"].merge_patch(Json::parse(one.metadata));
    api::ErrorList errors;
    pod(json)->check({}, &errors);
    EXPECT_EQ(api::to_text(errors.take()).substr(0, std::string(one.wanted).size()), one.wanted)
        << one.metadata;
  }
}

TEST(Pod, the_hubs_pod_looks_gated_until_the_workers_has_a_node) {
  Json local = pod_json(R"({"status": {"phase": "Pending", "conditions": [
      {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}})");
  Json remote = pod_json(R"({"status": {"phase": "Pending", "conditions": [
      {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}})");
  EXPECT_TRUE(pod(local)->status_patch(*pod(remote)).empty());
  remote["status"] = Json::parse(R"({"phase": "Running", "conditions": [
      {"type": "PodScheduled", "status": "True"}]})");
  local.merge_patch(pod(local)->status_patch(*pod(remote)));
  EXPECT_EQ(local["status"], remote["status"]);
}

TEST(Pod, the_hubs_pod_has_not_failed_when_the_workers_lost_its_place) {
  const Json local = pod_json(R"({"status": {"phase": "Running"}})");
  Json remote = pod_json(R"({"status": {"phase": "Failed", "conditions": [
      {"type": "TerminationTarget", "status": "True",
       "reason": "WorkloadEvictedDueToPreempted"}]}})");
  EXPECT_TRUE(pod(local)->status_patch(*pod(remote)).empty());
  remote["status"]["conditions"][0]["status"] = "False";
  EXPECT_EQ(pod(local)->status_patch(*pod(remote))["status"]["phase"], "Failed");
}

TEST(Pod, a_group_may_be_named_in_labels_alone) {
  const auto complaint = [](const char* metadata) {
    Json json{{"metadata", Json::parse(metadata)}, {"spec", Json::object()}};
    api::ErrorList errors;
    pod_kind(true)->decode(json, nullptr).value()->check({}, &errors);
    return api::to_text(errors.take());
  };
  const std::string both =
      "Required value: both the 'kueue.x-k8s.io/pod-group-total-count' annotation and the "
      "'kueue.x-k8s.io/pod-group-name' label should be set";
  EXPECT_EQ(complaint(R"({"annotations": {"kueue.x-k8s.io/pod-group-name": "g",
                                          "kueue.x-k8s.io/pod-group-total-count": "2"}})"),
            "metadata.labels[kueue.x-k8s.io/pod-group-name]: " + both);
  EXPECT_EQ(complaint(R"({"annotations": {"kueue.x-k8s.io/pod-group-name": "g"}})"), "");
  const char* named = R"({"annotations": {"kueue.x-k8s.io/pod-group-name": "Bad_Group",
                                          "kueue.x-k8s.io/pod-group-total-count": "2"},
                          "labels": {"kueue.x-k8s.io/pod-group-name": "a"}})";
  EXPECT_EQ(complaint(named), "");
  const Json json{{"metadata", Json::parse(named)}, {"spec", Json::object()}};
  const JobPtr pod = pod_kind(true)->decode(json, nullptr).value();
  EXPECT_EQ(planned_as(*pod).key.name, "a");
  EXPECT_EQ(planned_as(*pod_kind()->decode(json, nullptr).value()).key.name, "Bad_Group");
}

}  // namespace
}  // namespace regatta::jobs
