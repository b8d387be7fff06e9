#include "jobs/pod/pod_group.h"

#include "jobs/job_notes.h"
#include "jobs/plan.h"
#include "jobs/pod/kind.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

using namespace api::conditions;

/// "name cpu" of a pod that waits, with what else it has.
Json member(const std::string& name, const char* more = "{}", const char* cpu = "1") {
  Json json = Json::parse(R"({"metadata": {"namespace": "team",
      "creationTimestamp": "2026-01-01T00:00:00Z",
      "annotations": {"kueue.x-k8s.io/pod-group-total-count": "2"},
      "labels": {"kueue.x-k8s.io/managed": "true", "kueue.x-k8s.io/queue-name": "q",
                 "kueue.x-k8s.io/pod-group-name": "g"},
      "finalizers": ["kueue.x-k8s.io/managed"]},
    "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}],
             "containers": [{"name": "c", "image": "i", "resources": {"requests": {}}}]}})");
  json["metadata"]["name"] = name;
  json["metadata"]["uid"] = "uid-" + name;
  json["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu;
  json.merge_patch(Json::parse(more));
  return json;
}

constexpr const char* runs = R"({"spec": {"schedulingGates": null, "nodeName": "n"},
                                 "status": {"phase": "Running"}})";
constexpr const char* starts = R"({"spec": {"schedulingGates": null}})";
constexpr const char* succeeded = R"({"spec": {"schedulingGates": null, "nodeName": "n"},
                                      "status": {"phase": "Succeeded"}})";
constexpr const char* failed = R"({"spec": {"schedulingGates": null, "nodeName": "n"},
                                   "status": {"phase": "Failed"}})";
constexpr const char* failed_later = R"({"spec": {"schedulingGates": null},
    "status": {"phase": "Failed", "conditions": [{"type": "ContainersReady", "status": "False",
      "reason": "PodFailed", "lastTransitionTime": "2026-01-01T09:00:00Z"}]}})";
constexpr const char* failed_first = R"({"spec": {"schedulingGates": null},
    "status": {"phase": "Failed", "conditions": [{"type": "ContainersReady", "status": "False",
      "reason": "PodFailed", "lastTransitionTime": "2026-01-01T08:00:00Z"}]}})";
constexpr const char* going = R"({"metadata": {"deletionTimestamp": "2026-01-01T10:00:00Z"}})";
constexpr const char* younger = R"({"metadata": {"creationTimestamp": "2026-01-01T00:10:00Z"}})";

JobPtr group_of(const std::vector<Json>& pods) {
  std::vector<JobPtr> members;
  for (const Json& one : pods) members.push_back(pod_kind()->decode(one, nullptr).value());
  return pod_group_kind()->compose(api::ObjectKey("team", "g"), members);
}

/// Conditions of the Workload, or null for none.
using States = std::vector<std::string_view>;

WorkloadPtr workload_of(const std::vector<Json>& pods, const States& states) {
  JobView view;
  view.job = group_of(pods);
  view.queue_name = "q";
  api::Workload made = build_workload(view).value();
  for (const std::string_view one : states) {
    made.status.conditions.push_back(
        {std::string(one), api::ConditionStatus::True, 0, {}, "Preempted", "for a higher one"});
  }
  if (!states.empty()) made.status.admission.emplace().cluster_queue = "cq";
  return std::make_shared<const api::Workload>(std::move(made));
}

JobView view_of(const std::vector<Json>& pods, const WorkloadPtr& workload) {
  JobView view;
  view.job = group_of(pods);
  view.managed = true;
  view.queue_name = "q";
  if (workload) view.owned = {workload};
  if (workload) {
    for (const api::PodSet& set : workload->spec.pod_sets) {
      PodSetInfo info;
      info.name = set.name;
      info.node_selector["pool"] = "spot";
      view.infos.push_back(std::move(info));
    }
  }
  return view;
}

std::string plan_of(const std::vector<Json>& pods, const WorkloadPtr& workload) {
  return describe(plan_job(view_of(pods, workload)));
}

const std::vector<Json> two = {member("a"), member("b")};
const States admission = {quota_reserved, admitted};
const States eviction = {quota_reserved, admitted, evicted};

TEST(PodGroup, its_workload_has_its_name_and_a_pod_set_for_each_role) {
  const WorkloadPtr made =
      workload_of({member("a"), member("b", R"({"spec": {"containers": [{"image": "j",
          "resources": {"requests": {"cpu": "1"}}}]}})")},
                  {});
  EXPECT_EQ(made->metadata.name, "g");
  EXPECT_EQ(made->metadata.annotation("kueue.x-k8s.io/is-group-workload"), "true");
  EXPECT_EQ(made->metadata.controller(), nullptr);
  EXPECT_EQ(made->metadata.owner_references.size(), 2U);
  ASSERT_EQ(made->spec.pod_sets.size(), 1U) << "images make no role";
  EXPECT_EQ(made->spec.pod_sets[0].count, 2);
  const WorkloadPtr other = workload_of({member("a", "{}", "2"), member("b")}, {});
  EXPECT_EQ(other->spec.pod_sets.size(), 2U);
}

TEST(PodGroup, it_waits_for_all_of_its_pods) {
  EXPECT_EQ(plan_of({member("a")}, nullptr),
            "complain ErrWorkloadCompose ('g' group has fewer runnable pods than expected)");
  EXPECT_EQ(plan_of(two, nullptr), "create workload g");
  const char* fast = R"({"metadata": {"annotations":
      {"kueue.x-k8s.io/pod-group-fast-admission": "true"}}})";
  EXPECT_EQ(plan_of({member("a", fast)}, nullptr), "create workload g");
  const WorkloadPtr early = workload_of({member("a", fast)}, {});
  EXPECT_EQ(early->spec.pod_sets[0].count, 2) << "for those to come";
  EXPECT_EQ(plan_of({member("a", fast)}, early), "") << "none needs to be replaced";
}

TEST(PodGroup, pods_that_disagree_are_told_so) {
  const auto told = [](const std::vector<Json>& pods) { return plan_of(pods, nullptr); };
  const char* three = R"({"metadata": {"annotations":
      {"kueue.x-k8s.io/pod-group-total-count": "3"}}})";
  EXPECT_EQ(told({member("a"), member("b", three)}),
            "complain ErrWorkloadCompose (pods 'a' and 'b' differ in their total count: '2' and "
            "'3')");
  const char* other_queue = R"({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "r"}}})";
  EXPECT_EQ(told({member("a"), member("b", other_queue)}),
            "complain ErrWorkloadCompose (pods 'a' and 'b' differ in their queue name: 'q' and "
            "'r')");
  const char* none = R"({"metadata": {"annotations":
      {"kueue.x-k8s.io/pod-group-total-count": null}}})";
  EXPECT_EQ(told({member("a", none)}),
            "complain ErrWorkloadCompose (failed to extract 'kueue.x-k8s.io/pod-group-total-count' "
            "annotation)");
  const char* index = R"({"metadata": {"labels": {"kueue.x-k8s.io/pod-group-pod-index": "2"}}})";
  EXPECT_EQ(told({member("a", index), member("b")}).substr(0, 30),
            "complain ErrWorkloadCompose (l");
  JobView silent = view_of({member("a"), member("b", three)}, nullptr);
  silent.policy.tell_obstacles = false;
  EXPECT_EQ(describe(plan_job(silent)), "");
}

TEST(PodGroup, a_name_that_is_taken_is_told) {
  JobView view = view_of({member("a", going), member("b")}, nullptr);
  view.name_taken = true;
  EXPECT_EQ(describe(plan_job(view)).substr(0, 40), "complain WorkloadNameConflict (A Workloa");
  EXPECT_TRUE(describe(plan_job(view)).ends_with(", let job go a"));
}

TEST(PodGroup, it_has_room_for_its_count) {
  const std::vector<Json> three = {member("a", younger), member("b"), member("c")};
  EXPECT_EQ(plan_of(three, nullptr), "drop excess a") << "the youngest";
  EXPECT_EQ(plan_of(three, workload_of(two, {})), "share workload with c, drop excess a");
  EXPECT_EQ(plan_of({member("a", younger), member("b", runs), member("c")},
                    workload_of({member("b"), member("c")}, admission)),
            "drop excess a");
  EXPECT_EQ(plan_of({member("a", runs), member("b", younger), member("c", runs)},
                    workload_of({member("a"), member("c")}, admission)),
            "drop excess b")
      << "one that waits";
  EXPECT_EQ(plan_of({member("a"), member("b"), member("c", "{}", "2")}, workload_of(two, {})), "")
      << "a pod of another role has no place";
}

TEST(PodGroup, each_pod_is_started_once) {
  const WorkloadPtr workload = workload_of(two, admission);
  EXPECT_EQ(plan_of(two, workload), "start job a b (Admitted by clusterQueue cq)");
  EXPECT_EQ(plan_of({member("a", starts), member("b")}, workload),
            "start job b (Admitted by clusterQueue cq)");
  EXPECT_EQ(plan_of({member("a", starts), member("b", runs)}, workload), "");
  JobView dispatched = view_of(two, workload);
  dispatched.dispatched = true;
  EXPECT_EQ(describe(plan_job(dispatched)), "") << "workers run them";
  JobView view = view_of(two, workload);
  const std::vector<JobAction> plan = plan_job(view);
  ASSERT_EQ(plan.size(), 1U);
  const auto& writes = std::get<StartJob>(plan[0]).writes;
  EXPECT_EQ(writes[1].patch["metadata"]["uid"], "uid-b");
  EXPECT_EQ(writes[1].patch["spec"]["nodeSelector"]["pool"], "spot");
  Json opened = member("b");
  opened.merge_patch(writes[1].patch);
  EXPECT_EQ(plan_of({member("a", starts), opened}, workload), "") << "its role has not changed";
  EXPECT_EQ(notes_of(*view.job, plan[0]).size(), 2U) << "an event for each";
}

TEST(PodGroup, a_conflict_of_one_role_finishes_the_workload) {
  const std::vector<Json> pods = {member("a"),
                                  member("b", R"({"spec": {"nodeSelector": {"pool": "other"}}})")};
  const std::string plan = plan_of(pods, workload_of(pods, admission));
  EXPECT_TRUE(plan.starts_with("start job a (")) << plan;
  EXPECT_NE(plan.find("finish workload FailedToStart"), std::string::npos) << plan;
}

TEST(PodGroup, failed_pods_wait_for_their_replacement) {
  const WorkloadPtr workload = workload_of(two, admission);
  EXPECT_EQ(plan_of({member("a", failed), member("b", runs)}, workload),
            "await replacement (Some Failed pods need replacement)");
  const States waiting = {quota_reserved, admitted, waiting_for_replacement_pods};
  EXPECT_EQ(plan_of({member("a", failed), member("b", runs)}, workload_of(two, waiting)), "");
  EXPECT_EQ(
      plan_of({member("a", failed), member("b", runs), member("c")}, workload_of(two, waiting)),
      "share workload with c, let job go a, no longer await replacement (No pods need "
      "replacement)")
      << "a Workload whose last owner is gone goes, too";
  const char* three = R"({"metadata": {"annotations":
      {"kueue.x-k8s.io/pod-group-total-count": "3"}}})";
  std::vector<Json> pods = {member("a", failed_first), member("b", failed_later), member("c", runs),
                            member("d", starts)};
  for (Json& one : pods) one.merge_patch(Json::parse(three));
  const std::vector<Json> three_of = {pods[0], pods[1], pods[2]};
  api::Workload places = *workload_of(two, waiting);
  places.spec.pod_sets[0].count = 3;
  places.metadata = shared_metadata(places, group_of(pods)->composed()->members());
  EXPECT_EQ(plan_of(pods, std::make_shared<const api::Workload>(places)), "let job go b")
      << "the one that failed last";
}

TEST(PodGroup, pods_of_a_serving_job_come_when_they_come) {
  const WorkloadPtr workload = workload_of(two, admission);
  const char* serving = R"({"metadata": {"annotations": {
      "kueue.x-k8s.io/pod-group-serving": "true"}}})";
  EXPECT_EQ(plan_of({member("a", serving)}, workload), "start job a (Admitted by clusterQueue cq)");
  EXPECT_EQ(plan_of({member("a")}, workload).find("await replacement"), 0U);
}

TEST(PodGroup, what_has_another_owner_needs_no_new_reference_to_a_namesake) {
  const std::vector<Json> again = {member("a", R"({"metadata": {"uid": "again"}})"), member("b")};
  api::Workload workload = *workload_of(two, admission);
  const auto plan = [&] { return plan_of(again, std::make_shared<const api::Workload>(workload)); };
  EXPECT_NE(plan().find("share workload with a"), std::string::npos) << "it would go with the old";
  workload.metadata.owner_references.push_back({"apps/v1", "StatefulSet", "db", "u", {}, {}});
  EXPECT_EQ(plan().find("share workload"), std::string::npos);
}

TEST(PodGroup, deleted_pods_that_never_ran_wait_for_their_replacement) {
  EXPECT_EQ(plan_of({member("a", going), member("b")}, workload_of(two, {})),
            "await replacement (Some Failed pods need replacement)");
  Json ends = member("a", runs);
  ends.merge_patch(Json::parse(going));
  EXPECT_EQ(plan_of({ends, member("b", runs)}, workload_of(two, admission)), "")
      << "it may still succeed";
}

TEST(PodGroup, an_eviction_ends_what_runs_and_waits_for_new_pods) {
  const WorkloadPtr workload = workload_of(two, eviction);
  EXPECT_EQ(plan_of({member("a", runs), member("b", runs)}, workload),
            "terminate job a b (for a higher one)");
  Json ends = member("a", runs), ended = member("b", failed);
  ends.merge_patch(Json::parse(going));
  ended.merge_patch(Json::parse(going));
  EXPECT_EQ(plan_of({ends, ended}, workload), "await replacement (for a higher one)");
  api::Workload waits = *workload;
  waits.status.conditions.push_back({std::string(waiting_for_replacement_pods),
                                     api::ConditionStatus::True,
                                     0,
                                     {},
                                     "Preempted",
                                     "for a higher one"});
  const auto evicted_one = std::make_shared<const api::Workload>(waits);
  EXPECT_EQ(plan_of({ends, ended}, evicted_one), "") << "it keeps its quota until all have ended";
  Json never_ran = member("b", starts);
  never_ran.merge_patch(Json::parse(going));
  EXPECT_EQ(plan_of({never_ran}, evicted_one), "drop reservation") << "no node has it";
  ends["status"]["phase"] = "Failed";
  EXPECT_EQ(plan_of({ends, ended}, evicted_one), "drop reservation");
}

TEST(PodGroup, nothing_runs_without_the_workload_that_it_names) {
  const char* named = R"({"metadata": {"annotations":
      {"kueue.x-k8s.io/prebuilt-workload-name": "g"}}})";
  Json running = member("a", runs), waiting = member("b");
  for (Json* one : {&running, &waiting}) one->merge_patch(Json::parse(named));
  JobView view = view_of({running, waiting}, nullptr);
  view.prebuilt = true;
  EXPECT_EQ(describe(plan_job(view)), "terminate job a (missing workload)");
  view.job = group_of({waiting});
  EXPECT_EQ(describe(plan_job(view)), "");
}

TEST(PodGroup, it_ends_with_its_pods) {
  const WorkloadPtr workload = workload_of(two, admission);
  EXPECT_EQ(plan_of({member("a", succeeded), member("b", runs)}, workload), "reclaimable 1");
  EXPECT_EQ(plan_of({member("a", succeeded), member("b", succeeded)}, workload),
            "finish workload Succeeded (Pods succeeded: 2/2.), let job go a b");
  const char* last_try = R"({"metadata": {"annotations":
      {"kueue.x-k8s.io/retriable-in-group": "false"}}})";
  Json hopeless = member("a", failed);
  hopeless.merge_patch(Json::parse(last_try));
  EXPECT_FALSE(group_of({hopeless, member("b", runs)})->finished());
  EXPECT_EQ(group_of({hopeless, member("b", succeeded)})->finished()->message,
            "Pods succeeded: 1/2.");
  EXPECT_FALSE(group_of({member("a", failed), member("b", succeeded)})->finished());
  const char* serves = R"({"metadata": {"annotations":
      {"kueue.x-k8s.io/pod-group-serving": "true"}}})";
  Json served = member("a", succeeded);
  served.merge_patch(Json::parse(serves));
  EXPECT_FALSE(group_of({served, member("b", succeeded)})->finished());
  EXPECT_TRUE(group_of({served, member("b", succeeded)})->reclaimable_pods().empty());
}

/// What a hub has sent and the manager of the worker has ended.
constexpr const char* killed = R"({"metadata": {"deletionTimestamp": "2026-01-01T10:00:00Z",
      "annotations": {"kueue.x-k8s.io/retriable-in-group": "false"},
      "labels": {"kueue.x-k8s.io/multikueue-origin": "hub"}},
    "spec": {"schedulingGates": null, "nodeName": "n"},
    "status": {"phase": "Failed", "conditions": [{"type": "TerminationTarget", "status": "True",
      "reason": "WorkloadEvictedDueToPreempted"}]}})";

TEST(PodGroup, a_group_of_a_hub_has_not_ended_when_its_manager_takes_its_place_back) {
  std::vector<Json> pods = {member("a", killed), member("b", killed)};
  EXPECT_FALSE(group_of(pods)->finished()) << "the hub runs it again";
  States told = eviction;
  told.push_back(waiting_for_replacement_pods);
  EXPECT_EQ(plan_of(pods, workload_of(two, told)), "drop reservation");
  for (Json& one : pods) one["metadata"]["labels"].erase("kueue.x-k8s.io/multikueue-origin");
  ASSERT_TRUE(group_of(pods)->finished()) << "on one cluster that was its last try";
  EXPECT_EQ(group_of(pods)->finished()->message, "Pods succeeded: 0/2.");
}

TEST(PodGroup, a_group_of_a_hub_has_not_ended_when_the_pod_that_lost_its_place_is_gone) {
  Json ended = member("a", succeeded);
  ended.merge_patch(Json::parse(R"({"metadata": {
      "annotations": {"kueue.x-k8s.io/retriable-in-group": "false"},
      "labels": {"kueue.x-k8s.io/multikueue-origin": "hub"}}})"));
  EXPECT_FALSE(group_of({ended})->finished()) << "the hub has another one";
  ended["metadata"]["labels"].erase("kueue.x-k8s.io/multikueue-origin");
  ASSERT_TRUE(group_of({ended})->finished());
  EXPECT_EQ(group_of({ended})->finished()->message, "Pods succeeded: 1/2.");
}

TEST(PodGroup, a_pod_of_a_hub_that_goes_in_vain_is_let_go_so_that_the_hub_makes_it_anew) {
  const char* of_hub = R"({"metadata": {"labels": {"kueue.x-k8s.io/multikueue-origin": "hub"}}})";
  Json idle = member("a", starts), other = member("b", runs);
  for (const char* more : {going, of_hub}) idle.merge_patch(Json::parse(more));
  other.merge_patch(Json::parse(of_hub));
  const WorkloadPtr waiting =
      workload_of(two, {quota_reserved, admitted, waiting_for_replacement_pods});
  EXPECT_EQ(plan_of({idle, other}, waiting), "let job go a");
  EXPECT_EQ(plan_of({member("a", going), member("b", runs)}, waiting), "")
      << "its user replaces it";
  idle["spec"]["nodeName"] = "n";
  EXPECT_EQ(plan_of({idle, other}, workload_of(two, admission)), "") << "it may still succeed";
  const std::vector<Json> lost = {member("a", killed), member("b", killed)};
  EXPECT_EQ(plan_of(lost, workload_of(two, {evicted, waiting_for_replacement_pods})),
            "let job go a b")
      << "the quota was given back";
  EXPECT_EQ(plan_of(lost, waiting), "let job go a b") << "there is quota again";
  Json kept = member("a", killed);
  kept["metadata"].erase("deletionTimestamp");
  EXPECT_EQ(plan_of({kept, member("b", killed)}, waiting), "drop excess a, let job go b")
      << "its deletion did not arrive";
}

TEST(PodGroup, what_finished_keeps_nothing) {
  const WorkloadPtr done = workload_of(two, {quota_reserved, admitted, finished});
  EXPECT_EQ(plan_of({member("a", succeeded), member("b", failed), member("c")}, done),
            "let job go a b c, release workload g");
}

TEST(PodGroup, it_goes_with_its_workload) {
  api::Workload goes = *workload_of(two, admission);
  goes.metadata.deletion_timestamp = TimePoint();
  const auto workload = std::make_shared<const api::Workload>(goes);
  EXPECT_EQ(plan_of({member("a", starts), member("b")}, workload),
            "terminate job a b (Workload is deleted), let job go a b, release workload g");
  EXPECT_EQ(plan_of({member("a", runs), member("b")}, workload),
            "terminate job a b (Workload is deleted), let job go b")
      << "its quota is taken until the pod on the node has ended";
}

TEST(PodGroup, a_group_of_other_shapes_gets_its_workload_anew) {
  const WorkloadPtr older = workload_of({member("a", "{}", "2"), member("b", "{}", "2")}, {});
  EXPECT_EQ(plan_of(two, older), "update workload g");
}

TEST(PodGroup, it_is_found_by_its_name) {
  const JobPtr pod = pod_kind()->decode(member("a"), nullptr).value();
  EXPECT_EQ(planned_as(*pod).str(), "PodGroup team/g");
  const char* alone = R"({"metadata": {"labels": {"kueue.x-k8s.io/pod-group-name": null}}})";
  EXPECT_EQ(planned_as(*pod_kind()->decode(member("a", alone), nullptr).value()).str(),
            "Pod team/a");
  EXPECT_NE(planned_as(*pod), (JobId{pod_kind().get(), api::ObjectKey("team", "g")}));
}

}  // namespace
}  // namespace regatta::jobs
