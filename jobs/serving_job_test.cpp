#include "jobs/serving_job.h"

#include "jobs/integrations/integrations.h"
#include "jobs/plan.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* lws = "leaderworkerset.x-k8s.io/leaderworkerset";

JobPtr job_from(const char* group, const char* kind, const char* text, const char* more = "{}") {
  Json json = Json::parse(text);
  json.merge_patch(Json::parse(more));
  return all_kinds().find(group, kind)->decode(json, nullptr).value();
}

JobPtr stateful_set(const char* more = "{}") {
  return job_from("apps", "StatefulSet", R"({
    "metadata": {"name": "db", "namespace": "team", "uid": "u",
                 "labels": {"kueue.x-k8s.io/queue-name": "q"}},
    "spec": {"replicas": 2, "template": {"spec": {"containers": [
      {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}})",
                  more);
}

JobPtr leader_worker_set(const char* more = "{}") {
  return job_from("leaderworkerset.x-k8s.io", "LeaderWorkerSet", R"({
    "metadata": {"name": "serve", "namespace": "team", "uid": "u",
                 "labels": {"kueue.x-k8s.io/queue-name": "q"}},
    "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 3,
      "leaderTemplate": {"spec": {"containers": [{"name": "l", "image": "i"}]}},
      "workerTemplate": {"spec": {"containers": [{"name": "w", "image": "i"}]}}}}})",
                  more);
}

/// A Pod that waits, as its webhook left it.
JobPtr served_pod(const char* framework, const std::string& name, const char* more = "{}") {
  Json json = Json::parse(R"({"metadata": {"namespace": "team", "labels": {
      "controller-revision-hash": "r1"}},
    "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}, {"name": "other/gate"}]}})");
  json["metadata"]["name"] = name;
  json["metadata"]["annotations"]["kueue.x-k8s.io/pod-suspending-parent"] = framework;
  json.merge_patch(Json::parse(more));
  const JobKinds kinds = all_kinds();
  for (const auto& kind : kinds.all()) {
    if (kind->parent_kind() && kind->framework() == framework) {
      return kind->decode(json, nullptr).value();
    }
  }
  return nullptr;
}

JobView view_of(JobPtr job, std::vector<WorkloadPtr> owned = {}, std::vector<JobPtr> pods = {}) {
  JobView view;
  view.job = std::move(job);
  view.managed = true;
  view.queue_name = view.job->metadata().label(std::string(api::labels::queue_name));
  view.owned = std::move(owned);
  for (JobPtr& pod : pods) {
    const std::string group = view.job->serving()->group_of(*pod, {});
    ServedPod& served = view.pods.emplace_back();
    served.pod = std::move(pod);
    served.maker = view.job;
    for (const WorkloadPtr& one : view.owned) {
      if (one->metadata.name == group) served.workload = one;
    }
  }
  return view;
}

std::vector<WorkloadPtr> workloads_of(const JobPtr& job) {
  std::vector<WorkloadPtr> out;
  for (const ServingGroup& group : job->serving()->groups({}).value()) {
    out.push_back(
        std::make_shared<const api::Workload>(build_group_workload(view_of(job), group).value()));
  }
  return out;
}

WorkloadPtr with(const WorkloadPtr& workload, std::string_view type, api::ConditionStatus status,
                 std::string_view reason) {
  api::Workload after = *workload;
  after.status.conditions.push_back(
      {std::string(type), status, 0, {}, std::string(reason), "said before"});
  return std::make_shared<const api::Workload>(std::move(after));
}

WorkloadPtr admitted(const WorkloadPtr& workload) {
  return with(workload, api::conditions::admitted, api::ConditionStatus::True, "Admitted");
}

std::string plan(const JobView& view) {
  return describe(plan_job(view));
}

std::vector<std::string> names_of(const std::vector<WorkloadPtr>& all) {
  std::vector<std::string> out;
  for (const WorkloadPtr& one : all) out.push_back(one->metadata.name);
  return out;
}

TEST(ServingJobs, AStatefulSetMakesTheWorkloadOfItsPods) {
  const JobPtr job = stateful_set();
  EXPECT_THAT(plan(view_of(job)), HasSubstr("create workload statefulset-db-"));
  const api::Workload made = *workloads_of(job).front();
  EXPECT_EQ(made.metadata.annotation("kueue.x-k8s.io/is-group-workload"), "true");
  EXPECT_EQ(made.metadata.annotation("kueue.x-k8s.io/job-owner-gvk"), "apps/v1, Kind=StatefulSet");
  ASSERT_EQ(made.metadata.owner_references.size(), 1U);
  EXPECT_FALSE(made.metadata.controller()) << "Pods become owners, too";
  EXPECT_TRUE(made.metadata.finalizers.empty());
  ASSERT_EQ(made.spec.pod_sets.size(), 1U);
  EXPECT_EQ(made.spec.pod_sets[0].count, 2);
  EXPECT_EQ(plan(view_of(job, workloads_of(job))), "");
}

TEST(ServingJobs, WithoutReplicasThereIsNoWorkload) {
  EXPECT_EQ(plan(view_of(stateful_set(R"({"spec": {"replicas": 0}})"))), "");
  EXPECT_EQ(plan(view_of(leader_worker_set(R"({"spec": {"replicas": 0}})"))), "");
}

TEST(ServingJobs, TheCopyOnAWorkerMakesNoWorkload) {
  const char* copied = R"({"metadata": {"labels": {"kueue.x-k8s.io/multikueue-origin": "hub"}}})";
  EXPECT_EQ(plan(view_of(stateful_set(copied))), "");
}

TEST(ServingJobs, AStatefulSetOfNoReplicasHoldsItsWorkloadUntilItHasSomeAgain) {
  const JobPtr job = stateful_set();
  const WorkloadPtr admitted = with(workloads_of(job).front(), api::conditions::quota_reserved,
                                    api::ConditionStatus::True, "QuotaReserved");
  const JobPtr none = stateful_set(R"({"spec": {"replicas": 0}})");
  EXPECT_EQ(plan(view_of(none, {admitted}, {served_pod("statefulset", "db-0", R"({"metadata": {
      "deletionTimestamp": "2026-01-01T00:00:00Z"}})")})),
            "")
      << "a Pod has not ended";
  EXPECT_EQ(plan(view_of(none, {admitted}, {served_pod("statefulset", "db-0")})), "")
      << "a group of no Pods cannot be told";
  EXPECT_THAT(plan(view_of(none, {admitted})), HasSubstr("hold workload"));
  const api::WorkloadStatus held = held_status(*admitted, none->serving()->hold_message(), {});
  const api::Condition* said =
      api::find_condition(held.conditions, api::conditions::quota_reserved);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->reason, "OnHold");
  EXPECT_EQ(said->message, "StatefulSet scaled to zero; workload on hold");

  api::Workload waiting = *admitted;
  waiting.status = held;
  const auto on_hold = std::make_shared<const api::Workload>(waiting);
  EXPECT_EQ(plan(view_of(none, {on_hold})), "") << "it is held once";
  EXPECT_THAT(plan(view_of(job, {on_hold})), HasSubstr("release held workload"));
  const JobPtr more = stateful_set(R"({"spec": {"replicas": 5}})");
  EXPECT_THAT(plan(view_of(more, {on_hold})), HasSubstr("update workload")) << "its size first";
}

TEST(ServingJobs, ALeaderWorkerSetHasAWorkloadForEachReplica) {
  const JobPtr job = leader_worker_set();
  const auto all = workloads_of(job);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[1]->metadata.name, HasSubstr("leaderworkerset-serve-1-"));
  EXPECT_EQ(all[1]->metadata.annotation("kueue.x-k8s.io/component-workload-index"), "1");
  ASSERT_EQ(all[0]->spec.pod_sets.size(), 2U);
  EXPECT_EQ(all[0]->spec.pod_sets[1].name, "worker");
  EXPECT_EQ(all[0]->spec.pod_sets[1].count, 2);
  EXPECT_EQ(plan(view_of(leader_worker_set(R"({"spec": {"replicas": 1}})"), all)),
            "delete workload " + all[1]->metadata.name);
}

TEST(ServingJobs, ACopyOfALeaderWorkerSetRunsForTheWorkloadsOfTheHub) {
  const JobPtr job = leader_worker_set();
  EXPECT_EQ(workloads_of_copy(*job), std::vector<std::string>{""}) << "it is no copy";
  const auto on_hub = workloads_of(job);
  Json copy = job->remote_job(*on_hub[0], "hub");
  copy["metadata"]["uid"] = "of the worker";
  const JobPtr there = job->kind().decode(copy, nullptr).value();
  const std::vector<std::string> names = workloads_of_copy(*there);
  EXPECT_THAT(names, ::testing::IsSupersetOf({on_hub[0]->metadata.name, on_hub[1]->metadata.name}));
  copy["spec"]["replicas"] = 1000000;
  const JobPtr huge = job->kind().decode(copy, nullptr).value();
  EXPECT_EQ(workloads_of_copy(*huge).size(), 2 * copied_groups_max) << "in both forms of names";
  copy["spec"]["replicas"] = 0;
  const JobPtr none = job->kind().decode(copy, nullptr).value();
  EXPECT_THAT(workloads_of_copy(*none), Contains(on_hub[0]->metadata.name))
      << "its first Workload finds it";
  const JobPtr set = stateful_set();
  const JobPtr set_there =
      set->kind().decode(set->remote_job(*workloads_of(set)[0], "hub"), nullptr).value();
  EXPECT_EQ(workloads_of_copy(*set_there),
            std::vector<std::string>{workloads_of(set)[0]->metadata.name});
}

TEST(ServingJobs, ReplicasOfACopyFollowTheHub) {
  const JobPtr job = leader_worker_set();
  const JobPtr copy = leader_worker_set(R"({"metadata": {"uid": "w"}, "spec": {"replicas": 5}})");
  EXPECT_EQ(job->follow_patch(*copy),
            Json::parse(R"({"metadata": {"uid": "w"}, "spec": {"replicas": 2}})"));
  EXPECT_EQ(job->follow_patch(*leader_worker_set()), Json::object());
  const JobPtr wrong = leader_worker_set(R"({"spec": {"replicas": -1}})");
  EXPECT_EQ(wrong->follow_patch(*copy), Json::object());
  const JobPtr none = leader_worker_set(R"({"spec": {"replicas": 0}})");
  EXPECT_EQ(none->follow_patch(*copy), Json::object()) << "the copy goes";
}

TEST(ServingJobs, AnIndexIsANumber) {
  api::Workload workload = *workloads_of(leader_worker_set())[1];
  EXPECT_EQ(group_index_of(workload), 1);
  auto& index = workload.metadata.annotations["kueue.x-k8s.io/component-workload-index"];
  for (const char* none : {"", "-1", "one", "1x", "2147483648"}) {
    index = none;
    EXPECT_EQ(group_index_of(workload), std::nullopt) << none;
  }
  EXPECT_EQ(group_index_of(*workloads_of(stateful_set())[0]), std::nullopt);
}

TEST(ServingJobs, ASurgeHasWorkloadsOfItsOwn) {
  const auto groups = [](const char* surge, int there) {
    const std::string more = R"({"spec": {"rolloutStrategy": {"rollingUpdateConfiguration":
        {"maxSurge": )" + std::string(surge) +
                             R"(}}}, "status": {"replicas": )" + std::to_string(there) + "}}";
    return leader_worker_set(more.c_str())->serving()->groups({}).value().size();
  };
  EXPECT_EQ(groups("1", 3), 3U);
  EXPECT_EQ(groups("1", 9), 3U) << "no more than it may have";
  EXPECT_EQ(groups("1", 2), 2U) << "the update is over";
  EXPECT_EQ(groups("\"26%\"", 9), 3U) << "rounded up";
  EXPECT_EQ(groups("0", 9), 2U);
}

TEST(ServingJobs, WorkloadsThatWaitFollowTheirJob) {
  const JobPtr job = leader_worker_set();
  const auto all = workloads_of(job);
  JobView moved = view_of(job, all);
  moved.queue_name = "other";
  EXPECT_THAT(plan(moved), HasSubstr("update workload " + all[0]->metadata.name));
  moved.owned = {with(all[0], api::conditions::quota_reserved, api::ConditionStatus::True, "r"),
                 with(all[1], api::conditions::quota_reserved, api::ConditionStatus::True, "r")};
  EXPECT_EQ(plan(moved), "") << "they have their places";
  JobView risen = view_of(job, all);
  risen.priority = 9;
  EXPECT_THAT(plan(risen), HasSubstr("update workload"));
  JobView set = view_of(stateful_set(), workloads_of(stateful_set()));
  set.priority = 9;
  EXPECT_EQ(plan(set), "") << "a StatefulSet keeps the class of its Workload";
}

Json patch_of(const JobView& view) {
  for (const JobAction& action : plan_job(view)) {
    if (const auto* pods = std::get_if<PatchPods>(&action)) return pods->writes.front().patch;
  }
  return {};
}

TEST(ServingJobs, PodsLearnTheirGroup) {
  const JobPtr job = stateful_set();
  const auto owned = workloads_of(job);
  const Json patch = patch_of(view_of(job, owned, {served_pod("statefulset", "db-0")}));
  const Json& notes = patch["metadata"]["annotations"];
  EXPECT_EQ(notes["kueue.x-k8s.io/pod-group-name"], owned[0]->metadata.name);
  EXPECT_EQ(notes["kueue.x-k8s.io/prebuilt-workload-name"], owned[0]->metadata.name);
  EXPECT_EQ(notes["kueue.x-k8s.io/pod-group-total-count"], "2");
  EXPECT_EQ(notes["kueue.x-k8s.io/role-hash"], "main");
  EXPECT_EQ(notes["kueue.x-k8s.io/pod-group-fast-admission"], "true");
  EXPECT_EQ(patch["metadata"]["labels"]["kueue.x-k8s.io/managed"], "true");
  EXPECT_FALSE(patch.contains("spec")) << "its admission opens its gates";

  JobView in_labels = view_of(job, owned, {served_pod("statefulset", "db-0")});
  in_labels.policy.names_in_labels = true;
  const Json labelled = patch_of(in_labels);
  EXPECT_EQ(labelled["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"],
            owned[0]->metadata.name);
  const auto tied = served_pod("statefulset", "db-0", patch.dump().c_str());
  EXPECT_EQ(plan(view_of(job, owned, {tied})), "") << "once";
}

TEST(ServingJobs, APodOfAnOlderRevisionRunsDuringAnUpdate) {
  const JobPtr job =
      stateful_set(R"({"status": {"currentRevision": "r1", "updateRevision": "r2"}})");
  const std::vector<WorkloadPtr> owned = {admitted(workloads_of(job).front())};
  const JobPtr fresh = served_pod("statefulset", "db-0");
  const Json tie = patch_of(view_of(job, owned, {fresh}));
  EXPECT_FALSE(tie.contains("spec")) << "first it learns its group";
  const Json opened =
      patch_of(view_of(job, owned, {served_pod("statefulset", "db-0", tie.dump().c_str())}));
  EXPECT_EQ(opened["spec"]["schedulingGates"], Json::parse(R"([{"name": "other/gate"}])"));
  JobView on_hub = view_of(job, owned, {served_pod("statefulset", "db-0", tie.dump().c_str())});
  on_hub.dispatched = true;
  EXPECT_EQ(plan(on_hub), "") << "its Pods run on a worker";
  const JobPtr done =
      stateful_set(R"({"status": {"currentRevision": "r1", "updateRevision": "r1"}})");
  EXPECT_EQ(plan(view_of(done, owned, {served_pod("statefulset", "db-0", tie.dump().c_str())})),
            "");
}

TEST(ServingJobs, APodOfAnOlderRevisionWaitsWhileItsGroupIsNotAdmitted) {
  const JobPtr set =
      stateful_set(R"({"status": {"currentRevision": "r1", "updateRevision": "r2"}})");
  const WorkloadPtr waiting = workloads_of(set).front();
  const Json tie = patch_of(view_of(set, {waiting}, {served_pod("statefulset", "db-0")}));
  const auto tied = [&] { return served_pod("statefulset", "db-0", tie.dump().c_str()); };
  EXPECT_EQ(plan(view_of(set, {waiting}, {tied()})), "");
  const WorkloadPtr evicted =
      with(admitted(waiting), api::conditions::evicted, api::ConditionStatus::True, "Preempted");
  EXPECT_EQ(plan(view_of(set, {evicted}, {tied()})), "") << "its place is on its way back";
  EXPECT_TRUE(patch_of(view_of(set, {admitted(waiting)}, {tied()})).contains("spec"));

  const JobPtr served = leader_worker_set();
  const auto owned = workloads_of(served);
  const auto patch_in_group = [&](const std::string& index) {
    Json labels;
    labels["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] = index;
    JobView view = view_of(served, {owned[0], admitted(owned[1])},
                           {served_pod(lws, "serve-0", labels.dump().c_str())});
    view.pods.front().maker = set;
    return patch_of(view);
  };
  EXPECT_TRUE(patch_in_group("1").contains("spec"));
  EXPECT_EQ(patch_in_group("0"), Json()) << "another group of the job is admitted";
}

TEST(ServingJobs, PodsOfALeaderWorkerSetHaveRolesByTheirIndex) {
  const JobPtr job = leader_worker_set();
  const auto owned = workloads_of(job);
  const auto role = [&](const char* index, const JobPtr& of) {
    const std::string more = R"({"metadata": {"labels": {
        "leaderworkerset.sigs.k8s.io/name": "serve", "leaderworkerset.sigs.k8s.io/group-index": "1",
        "leaderworkerset.sigs.k8s.io/worker-index": ")" +
                             std::string(index) + "\"}}}";
    const Json patch = patch_of(view_of(of, owned, {served_pod(lws, "p", more.c_str())}));
    const Json& notes = patch["metadata"]["annotations"];
    EXPECT_EQ(notes["kueue.x-k8s.io/pod-group-name"], owned[1]->metadata.name);
    return notes["kueue.x-k8s.io/role-hash"].get<std::string>();
  };
  EXPECT_EQ(role("0", job), "leader");
  EXPECT_EQ(role("1", job), "worker");
  const JobPtr flat = leader_worker_set(R"({"spec": {"leaderWorkerTemplate": {
      "leaderTemplate": null}}})");
  EXPECT_EQ(role("0", flat), "main");
}

TEST(ServingJobs, OnAWorkerGroupsHaveTheNamesOfTheHub) {
  const char* copied = R"({"metadata": {"uid": "of-the-copy",
      "labels": {"kueue.x-k8s.io/multikueue-origin": "hub"},
      "annotations": {"kueue.x-k8s.io/multikueue-origin-uid": "u"}}})";
  const auto names = [](const JobPtr& job) {
    std::vector<std::string> out;
    for (const ServingGroup& one : job->serving()->groups({}).value()) out.push_back(one.name);
    return out;
  };
  const JobPtr job = leader_worker_set();
  EXPECT_EQ(names(leader_worker_set(copied)), names(job));
  EXPECT_EQ(names(job), names_of(workloads_of(job)));
}

TEST(ServingJobs, TheirPodsAreNoJobsOfTheirOwnKind) {
  const JobKinds kinds = enabled_kinds({"statefulset"});
  ASSERT_TRUE(kinds.find("", "Pod")) << "Pods come with what acts through them";
  EXPECT_FALSE(kinds.find("", "Pod")->parent_kind());
  EXPECT_FALSE(enabled_kinds({"jobset.x-k8s.io/jobset"}).find("", "Pod"));
  EXPECT_TRUE(enabled_kinds({"deployment"}).find("", "Pod"));
}

}  // namespace
}  // namespace regatta::jobs
