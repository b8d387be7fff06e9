#include "dispatch/objects.h"

#include "dispatch/group.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::dispatch {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'800'000'000s};

Json workload_json() {
  return Json::parse(R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"name": "w", "namespace": "team", "uid": "u", "resourceVersion": "5",
      "labels": {"kueue.x-k8s.io/job-uid": "j", "mine": "yes"}, "annotations": {"a": "b"},
      "finalizers": ["kueue.x-k8s.io/resource-in-use"],
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j",
                           "controller": true}]},
    "spec": {"queueName": "main", "priority": 5, "futureField": {"kept": 1},
      "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass",
                           "name": "high"},
      "podSets": [{"name": "main", "count": 2, "template": {"spec": {"containers": [
        {"name": "c", "image": "i", "futureField": true}]}}}]},
    "status": {"admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main"}]},
      "nominatedClusterNames": ["east", "west"],
      "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved",
        "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
      "admissionChecks": [{"name": "mk", "state": "Pending", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})");
}

api::Workload workload(const char* patch = "{}") {
  Json json = workload_json();
  json.merge_patch(Json::parse(patch));
  return api::from_json<api::Workload>(json).value();
}

TEST(Attempts, ACopyIsOfTheAttemptInWhichItWasMade) {
  const api::Workload first = workload();
  Json json = api::to_json(first);
  stamp_attempt(&json, first);
  const api::Workload copy = api::from_json<api::Workload>(json).value();
  EXPECT_FALSE(of_earlier_attempt(copy, first));
  api::Workload next = first;
  next.status.conditions[0].last_transition_time += 2s;
  EXPECT_TRUE(of_earlier_attempt(copy, next));
  next.status.conditions[0].status = api::ConditionStatus::False;
  EXPECT_FALSE(of_earlier_attempt(copy, next)) << "there is no attempt";
  EXPECT_FALSE(of_earlier_attempt(first, next)) << "a copy of another manager says nothing";
}

TEST(RemoteCopy, TakesWhatDescribesTheWorkAndNothingOfTheHub) {
  const Json copy = remote_copy(workload(), "hub-1");
  EXPECT_EQ(copy["metadata"], Json::parse(R"({"name": "w", "namespace": "team",
      "labels": {"mine": "yes", "kueue.x-k8s.io/multikueue-origin": "hub-1"},
      "annotations": {"a": "b"}})"));
  EXPECT_EQ(copy["spec"]["futureField"], Json({{"kept", 1}}));
  EXPECT_EQ(copy["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["futureField"], true);
  EXPECT_FALSE(copy.contains("status"));
}

TEST(RemoteCopy, HasOurGateInsteadOfTheHubsWhereOnlyOneMayPreempt) {
  const api::Workload gated = workload(R"({"spec": {"preemptionGates": [{"name": "mine"}]}})");
  EXPECT_EQ(remote_copy(gated, "hub-1")["spec"]["preemptionGates"],
            Json::parse(R"([{"name": "mine"}])"));
  EXPECT_EQ(remote_copy(gated, "hub-1", true)["spec"]["preemptionGates"],
            Json::parse(R"([{"name": "kueue.x-k8s.io/multikueue"}])"));
}

TEST(RemoteCopy, SaysOfAnElasticSliceThatItReplacesAnotherOne) {
  const char* elastic = R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}})";
  const std::string key = "kueue.x-k8s.io/workload-slice-replacement-for";
  const auto said = [&](const std::string& replaced) {
    return remote_copy(workload(elastic), "hub-1", false, replaced)["metadata"]["annotations"][key];
  };
  EXPECT_EQ(said(""), "team/_") << "the worker finds none of that name";
  EXPECT_EQ(said("before"), "team/before");
}

TEST(OpenGate, OpensOursWhetherItsWorkerHasNotedItOrNot) {
  for (const char* states : {"[]", R"([{"name": "mine", "position": "Closed",
          "lastTransitionTime": "2026-01-01T00:00:00Z"}, {"name": "kueue.x-k8s.io/multikueue",
          "position": "Closed", "lastTransitionTime": "2026-01-01T00:00:00Z"}])"}) {
    api::Workload w =
        workload((R"({"status": {"preemptionGates": )" + std::string(states) + "}}").c_str());
    w.status = open_gate(w, now + 300ms);
    for (const api::PreemptionGateState& gate : w.status.preemption_gates) {
      const bool ours = gate.name == "kueue.x-k8s.io/multikueue";
      EXPECT_EQ(gate.position, ours ? "Open" : "Closed");
      if (ours) EXPECT_EQ(gate.last_transition_time, now);
    }
    EXPECT_EQ(w.status.preemption_gates.back().position, "Open");
  }
}

bool record(api::Workload* w, const api::Workload* copy = nullptr) {
  auto status =
      record_winner(*w, api::find_check(w->status, "mk"), {"east", "admitted there"}, now, copy);
  if (status) w->status = std::move(*status);
  return status.has_value();
}

TEST(RecordWinner, IsOneChangeOfEverything) {
  api::Workload w = workload();
  EXPECT_TRUE(record(&w));
  EXPECT_EQ(w.status.cluster_name, "east");
  EXPECT_TRUE(w.status.nominated_cluster_names.empty());
  EXPECT_EQ(w.status.admission_checks[0].state, api::CheckState::Ready);
  EXPECT_EQ(w.status.admission_checks[0].message, "admitted there");
  EXPECT_EQ(w.status.admission_checks[0].last_transition_time, now);
  EXPECT_TRUE(api::is_true(w.status.conditions, "Admitted"));
}

TEST(TakePlace, LeavesTheCheckAsItIs) {
  api::Workload w = workload();
  const auto status = take_place(w, api::find_check(w.status, "mk"), {"east"});
  ASSERT_TRUE(status);
  EXPECT_EQ(status->cluster_name, "east");
  EXPECT_TRUE(status->nominated_cluster_names.empty());
  EXPECT_EQ(status->admission_checks[0].state, api::CheckState::Pending);
  w.status = *status;
  EXPECT_FALSE(take_place(w, api::find_check(w.status, "mk"), {"west"}));
}

TEST(RecordHub, IsOneChangeWithoutACluster) {
  api::Workload w = workload();
  const auto status = record_hub(w, api::find_check(w.status, "mk"), now);
  ASSERT_TRUE(status);
  EXPECT_FALSE(status->cluster_name);
  EXPECT_TRUE(status->nominated_cluster_names.empty());
  EXPECT_EQ(status->admission_checks[0].state, api::CheckState::Ready);
  EXPECT_TRUE(api::is_true(status->conditions, "Admitted"));
  EXPECT_TRUE(api::is_true(status->conditions, "Dispatched"));
  EXPECT_TRUE(record(&w));
  EXPECT_FALSE(record_hub(w, api::find_check(w.status, "mk"), now)) << "a worker has it";
}

TEST(RecordWinner, PlacesOfTheWinnerAreWhatTheHubWaitsFor) {
  const char* waits = R"({"status": {"admission": {"podSetAssignments": [
      {"name": "main", "delayedTopologyRequest": "Pending"}]}}})";
  api::Workload placed = workload(R"({"status": {"admission": {"podSetAssignments": [
      {"name": "main", "topologyAssignment": {"levels": ["host"], "slices": []}}]}}})");
  api::Workload w = workload(waits);
  EXPECT_TRUE(record(&w, &placed));
  EXPECT_EQ(w.status.admission->pod_set_assignments[0].delayed_topology_request, "Ready");
  EXPECT_TRUE(api::is_true(w.status.conditions, "Admitted"));

  w = workload(waits);
  const api::Workload unplaced = workload();
  EXPECT_TRUE(record(&w, &unplaced)) << "a worker without topology";
  EXPECT_EQ(w.status.admission->pod_set_assignments[0].delayed_topology_request, "Pending");
  EXPECT_FALSE(api::is_true(w.status.conditions, "Admitted"));
}

TEST(RecordWinner, AnotherCheckHoldsTheAdmissionBack) {
  api::Workload w = workload();
  api::AdmissionCheckState other;
  other.name = "other";
  w.status.admission_checks.push_back(other);
  EXPECT_TRUE(record(&w));
  EXPECT_FALSE(api::is_true(w.status.conditions, "Admitted"));
}

TEST(RecordWinner, RefusesWhatIsNotInARace) {
  const auto refused = [](const char* patch) {
    api::Workload w = workload(patch);
    const api::Workload before = w;
    const bool done = record(&w);
    EXPECT_TRUE(done || w == before);
    return !done;
  };
  EXPECT_TRUE(refused(R"({"status": {"conditions": []}})")) << "no quota";
  EXPECT_TRUE(refused(R"({"status": {"clusterName": "west", "nominatedClusterNames": null}})"));
  EXPECT_FALSE(refused(R"({"status": {"clusterName": "east", "nominatedClusterNames": null}})"));
  EXPECT_TRUE(refused(R"({"status": {"admissionChecks": [{"name": "mk", "state": "Retry",
      "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})"));
  for (const char* type : {"Evicted", "Finished"}) {
    api::Workload w = workload();
    api::set_condition(&w.status.conditions, {type, api::ConditionStatus::True, 0, {}, "R", "m"},
                       now);
    EXPECT_FALSE(record(&w)) << type;
  }
  EXPECT_FALSE(record_winner(workload(), nullptr, {"east", ""}, now));
}

/// A Workload with one check, to be set.
class SetCheckTest : public testing::Test {
 protected:
  SetCheckTest() { w_.status.admission_checks = {{"mk", api::CheckState::Ready}}; }
  bool set(const SetCheck& wanted) {
    auto status = set_check(w_, &check(), wanted, now);
    if (status) w_.status = std::move(*status);
    return status.has_value();
  }
  api::Workload w_;
  api::AdmissionCheckState& check() { return w_.status.admission_checks[0]; }
};

TEST_F(SetCheckTest, SaysHowLongToStayOutAndForgetsIt) {
  EXPECT_TRUE(set({CheckState::retry, "", false, true, std::chrono::seconds(8)}));
  EXPECT_EQ(check().requeue_after_seconds, 8);
  check().state = api::CheckState::Ready;
  EXPECT_TRUE(set({CheckState::retry, "", false, true}));
  EXPECT_FALSE(check().requeue_after_seconds);
}

TEST_F(SetCheckTest, SaysWhatItWasBefore) {
  EXPECT_TRUE(set({CheckState::retry, "Admitting remote lost"}));
  EXPECT_EQ(check().state, api::CheckState::Retry);
  EXPECT_EQ(check().message, "Admitting remote lost, Previously: \"Ready\"");
  EXPECT_FALSE(set({CheckState::retry, "again"}));
  check().state = api::CheckState::Ready;
  EXPECT_TRUE(set({CheckState::retry, "Evicted there", false, true}));
  EXPECT_EQ(check().message, "Evicted there. Previously: \"Ready\"");
  check().state = api::CheckState::Pending;
  EXPECT_TRUE(set({CheckState::rejected, "No adapter"}));
  EXPECT_EQ(check().message, "No adapter, Previously: \"Pending\"");
  check().state = api::CheckState::Pending;
  EXPECT_TRUE(set({CheckState::retry, std::string(40'000, 'x')}));
  EXPECT_EQ(check().message.size(), api::condition_message_max);
  EXPECT_TRUE(check().message.ends_with("x ..."));
  EXPECT_FALSE(set_check(w_, nullptr, {CheckState::retry, ""}, now));
}

struct DriftCase {
  const char* name;
  const char* remote;
  Drift want;
};

TEST(DriftBetween, ComparesSpecsButForWhatTheWorkerOwns) {
  const DriftCase cases[] = {
      {"the same", "{}", Drift::none},
      {"status and metadata do not count",
       R"({"metadata": {"labels": {"x": "y"}}, "status": null})", Drift::none},
      {"inactive on the worker", R"({"spec": {"active": false}})", Drift::none},
      {"gates of the worker", R"({"spec": {"preemptionGates": [{"name": "g"}]}})", Drift::none},
      {"another priority", R"({"spec": {"priority": 7}})", Drift::updatable},
      {"another class", R"({"spec": {"priorityClassRef": {"name": "low"}}})", Drift::updatable},
      {"no class there", R"({"spec": {"priority": 7, "priorityClassRef": null}})", Drift::other},
      {"another queue", R"({"spec": {"queueName": "other"}})", Drift::other},
      {"another unknown field", R"({"spec": {"futureField": {"kept": 2}}})", Drift::other},
  };
  for (const DriftCase& c : cases) {
    EXPECT_EQ(drift_between(workload(), workload(c.remote)), c.want) << c.name;
  }
}

TEST(DriftBetween, WorkloadsThatWereNotReadAreComparedByTheirFields) {
  const auto unread = [](const char* patch) {
    api::Workload out = workload(patch);
    out.raw_spec = {};
    return out;
  };
  const api::Workload local = unread("{}");
  EXPECT_EQ(drift_between(local, unread("{}")), Drift::none);
  EXPECT_EQ(drift_between(local, unread(R"({"spec": {"active": false}})")), Drift::none);
  EXPECT_EQ(drift_between(local, unread(R"({"spec": {"priority": 7}})")), Drift::updatable);
  EXPECT_EQ(drift_between(local, unread(R"({"spec": {"queueName": "other"}})")), Drift::other);
}

TEST(DriftBetween, AnElasticJobMayShrink) {
  const auto sized = [](int count, const char* more = "{}") {
    Json json = workload_json();
    json["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
    json["spec"]["podSets"][0]["count"] = count;
    json.merge_patch(Json::parse(more));
    return api::from_json<api::Workload>(json).value();
  };
  EXPECT_EQ(drift_between(sized(2), sized(3)), Drift::updatable);
  EXPECT_EQ(drift_between(sized(2), sized(2)), Drift::none);
  EXPECT_EQ(drift_between(sized(3), sized(2)), Drift::other) << "another slice grows";
  EXPECT_EQ(drift_between(sized(2), sized(3, R"({"spec": {"priority": 7}})")), Drift::updatable);
  EXPECT_EQ(drift_between(sized(2), sized(3, R"({"spec": {"queueName": "x"}})")), Drift::other);
  api::Workload rigid = sized(2);
  rigid.metadata.annotations.clear();
  EXPECT_EQ(drift_between(rigid, sized(3)), Drift::other);
}

TEST(ForeignJobs, AreForgottenAfterAWhile) {
  ForeignJobs foreign;
  const jobs::JobId key{nullptr, api::ObjectKey("team", "j")};
  const SteadyPoint start{1h};
  foreign.add("east", key, start);
  foreign.expire(start + 4min);
  EXPECT_TRUE(foreign.contains("east", key));
  EXPECT_FALSE(foreign.contains("west", key));
  foreign.add("west", key, start + 1min);
  EXPECT_EQ(foreign.next_end(), start + ForeignJobs::remembered);
  foreign.expire(start + ForeignJobs::remembered);
  EXPECT_FALSE(foreign.contains("east", key));
  EXPECT_EQ(foreign.next_end(), start + ForeignJobs::remembered + 1min);
  foreign.expire(start + 1h);
  EXPECT_FALSE(foreign.next_end());
}

TEST(BelievedEnd, IsThatOfTheJobWhereTheTwoDiffer) {
  const auto believed = [](const char* reason, std::optional<jobs::Finished> of_job) {
    const FinishLocal end = believed_end({reason, "copy"}, of_job);
    return end.reason + ": " + end.message;
  };
  EXPECT_EQ(believed("Succeeded", jobs::Finished{false, "job"}), "Failed: job");
  EXPECT_EQ(believed("Failed", jobs::Finished{true, "job"}), "Succeeded: job");
  EXPECT_EQ(believed("Succeeded", jobs::Finished{true, "job"}), "Succeeded: copy");
  EXPECT_EQ(believed("OwnerNotFound", jobs::Finished{false, "job"}), "OwnerNotFound: copy");
  EXPECT_EQ(believed("Failed", std::nullopt), "Failed: copy");
}

TEST(NeverRan, IsWhatWasEvictedBeforeAClusterWasRecorded) {
  const auto evicted = [](bool admitted, const char* check, const char* dispatched = "") {
    api::Workload w = workload();
    const auto set = [&](std::string_view type, std::string message) {
      api::Condition condition;
      condition.type = type;
      condition.status = api::ConditionStatus::True;
      condition.message = std::move(message);
      w.status.conditions.push_back(condition);
    };
    set("Evicted", "Preempted");
    if (admitted) set("Admitted", "");
    if (*dispatched) set("Dispatched", dispatched);
    w.status.admission_checks[0].message = check;
    return w.status;
  };
  const auto judged = [](const api::WorkloadStatus& status) {
    return never_ran(status, &status.admission_checks[0], false);
  };
  const char* reset = "Reset to Pending after eviction. Previously: Ready";
  EXPECT_TRUE(judged(evicted(false, "")));
  EXPECT_TRUE(judged(evicted(false, reset))) << "by an earlier eviction";
  EXPECT_TRUE(judged(evicted(true, ""))) << "it was admitted before it had the check";
  EXPECT_FALSE(judged(evicted(true, reset))) << "another hub has not told where it ran";
  EXPECT_FALSE(judged(evicted(true, "", "Evicted from worker cluster \"east\": Preempted")));
  EXPECT_FALSE(never_ran(evicted(true, ""), nullptr, false)) << "it may have had the check";
  EXPECT_TRUE(never_ran(evicted(true, ""), nullptr, true)) << "it was admitted without the check";
  api::WorkloadStatus recorded = evicted(true, "");
  recorded.cluster_name = "east";
  EXPECT_FALSE(judged(recorded));
  api::WorkloadStatus without_quota = evicted(false, "");
  without_quota.conditions.erase(without_quota.conditions.begin());
  EXPECT_FALSE(judged(without_quota));
}

}  // namespace
}  // namespace regatta::dispatch
