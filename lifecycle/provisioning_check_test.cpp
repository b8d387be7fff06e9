#include "lifecycle/provisioning_check.h"

#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::lifecycle {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint now{1'800'000'000s};

template <class T>
T read(const std::string& yaml) {
  const Result<T> object = api::from_json<T>(*api::parse_yaml(yaml));
  EXPECT_TRUE(object) << object.error().what();
  return object ? *object : T();
}

/// Workload `w` with quota for two pods of pod set `main` and one of `driver`; check `prov`.
class Provisioning : public testing::Test {
 protected:
  Provisioning() {
    workload_ = read<api::Workload>(R"(
metadata: {name: w, namespace: ns, uid: u-w, annotations: {provreq.kueue.x-k8s.io/Max: "10"}}
spec:
  queueName: q
  podSets:
  - {name: main, count: 2, template: {spec: {containers: [{name: c, image: a, resources: {
      requests: {cpu: 1, gpu: 1}}}]}}}
  - {name: driver, count: 1, template: {spec: {containers: [{name: c, image: b, resources: {
      requests: {cpu: 1}}}]}}}
status:
  conditions: [{type: QuotaReserved, status: "True", reason: QuotaReserved, message: m,
    lastTransitionTime: "2026-01-01T00:00:00Z"}]
  admission: {clusterQueue: cq, podSetAssignments: [
    {name: main, count: 2, flavors: {cpu: f}}, {name: driver, count: 1, flavors: {cpu: f}}]}
  admissionChecks: [{name: prov, state: Pending, message: "", lastTransitionTime:
    "2026-01-01T00:00:00Z"}]
)");
    config_ = read<api::ProvisioningRequestConfig>(
        "{metadata: {name: c}, spec: {provisioningClassName: cls, parameters: {a: b}}}");
  }

  ProvisioningView view() const {
    ProvisioningView view;
    view.workload = std::make_shared<const api::Workload>(workload_);
    view.checks = {
        {"prov",
         has_config_ ? std::make_shared<const api::ProvisioningRequestConfig>(config_) : nullptr,
         config_unreadable_}};
    for (const auto& request : requests_) {
      view.requests.push_back(std::make_shared<const api::ProvisioningRequest>(request));
    }
    view.cleanup_on_eviction = cleanup_;
    return view;
  }
  ProvisioningPlan plan() const {
    const auto planned = plan_provisioning(view(), now);
    EXPECT_TRUE(planned) << planned.error().what();
    return planned ? *planned : ProvisioningPlan();
  }
  api::AdmissionCheckState& state() { return workload_.status.admission_checks.front(); }
  void condition(std::string_view type) {
    api::set_condition(&workload_.status.conditions,
                       {std::string(type), api::ConditionStatus::True, 0, {}, "R", "m"}, now);
  }
  /// A request of that attempt with those conditions, each with its name as message.
  void request(int attempt, std::initializer_list<const char*> conditions = {}) {
    api::ProvisioningRequest& made = requests_.emplace_back();
    made.metadata.name = provisioning_request_name("w", "prov", attempt);
    made.metadata.uid = "u-" + std::to_string(attempt);
    made.spec.provisioning_class_name = "cls";
    made.spec.parameters = {{"a", "b"}, {"Max", "10"}};
    made.status.provisioning_class_details = {{"zone", "z1"}};
    for (const char* type : conditions) {
      const bool is = *type != '!';
      api::set_condition(&made.status.conditions,
                         {is ? type : type + 1,
                          is ? api::ConditionStatus::True : api::ConditionStatus::False,
                          0,
                          {},
                          "R",
                          std::string("about ") + (is ? type : type + 1)},
                         now);
    }
  }
  /// "Ready: message", or "same".
  std::string outcome() const {
    const ProvisioningPlan planned = plan();
    if (planned.states.empty()) return "same";
    return std::string(text_of(planned.states.front().state)) + ": " +
           planned.states.front().message;
  }
  /// Names of requests to create.
  std::vector<std::string> created() const {
    std::vector<std::string> names;
    for (const WantedRequest& wanted : plan().create) names.push_back(wanted.request.metadata.name);
    return names;
  }

  api::Workload workload_;
  api::ProvisioningRequestConfig config_;
  std::vector<api::ProvisioningRequest> requests_;
  bool has_config_ = true;
  bool config_unreadable_ = false;
  bool cleanup_ = true;
};

TEST_F(Provisioning, AReservationAsksForItsPods) {
  const ProvisioningPlan planned = plan();
  EXPECT_THAT(planned.states, IsEmpty());
  ASSERT_THAT(planned.create, SizeIs(1));
  const api::ProvisioningRequest& request = planned.create.front().request;
  EXPECT_EQ(request.metadata.name, "w-prov-1");
  EXPECT_EQ(request.metadata.ns, "ns");
  EXPECT_EQ(request.metadata.label("kueue.x-k8s.io/managed"), "true");
  EXPECT_EQ(request.metadata.controller()->name, "w");
  EXPECT_EQ(request.spec.provisioning_class_name, "cls");
  EXPECT_EQ(request.spec.parameters, api::StringMap({{"Max", "10"}, {"a", "b"}}));
  ASSERT_THAT(request.spec.pod_sets, SizeIs(2));
  EXPECT_EQ(request.spec.pod_sets[0].pod_template, "ppt-w-prov-1-main");
  EXPECT_EQ(request.spec.pod_sets[0].count, 2);
  EXPECT_EQ(request.spec.pod_sets[1].pod_template, "ppt-w-prov-1-driver");
  EXPECT_EQ(request.spec.pod_sets[1].count, 1);
}

TEST_F(Provisioning, NothingIsAskedWithoutQuota) {
  workload_.status.conditions.clear();
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(Provisioning, OnlyPodsWithManagedResourcesCount) {
  config_.spec.managed_resources = {"gpu"};
  EXPECT_THAT(plan().create.front().request.spec.pod_sets, SizeIs(1));
  config_.spec.managed_resources = {"fpga"};
  EXPECT_THAT(created(), IsEmpty());
  EXPECT_EQ(outcome(), "Ready: the provisioning request is not needed");
}

TEST_F(Provisioning, AnAbsurdCountOfRetriesIsOnlyANumber) {
  state().retry_count = INT32_MAX;
  EXPECT_THAT(created(), ElementsAre("w-prov-2147483647"));
  config_.spec.retry_strategy.backoff_limit_count = INT32_MAX;
  request(INT32_MAX, {"Failed"});
  EXPECT_EQ(plan().states.at(0).requeue_after_seconds, 1800);
  state().retry_count = -7;
  EXPECT_EQ(plan().states.at(0).requeue_after_seconds, 60);
}

TEST_F(Provisioning, PodSetsWithoutPodsAreLeftOut) {
  workload_.status.admission->pod_set_assignments[1].count = 0;
  EXPECT_THAT(plan().create.front().request.spec.pod_sets, SizeIs(1));
}

TEST_F(Provisioning, AlikePodSetsShareATemplateAsThePolicySays) {
  config_.spec.managed_resources = {};
  config_.spec.pod_set_merge_policy = "IdenticalWorkloadSchedulingRequirements";
  EXPECT_THAT(plan().create.front().request.spec.pod_sets, SizeIs(2)) << "one wants a GPU";
  workload_.spec.pod_sets[0].pod_template =
      *api::PodTemplate::from(*api::parse_yaml("{spec: {containers: [{name: c, image: x, resources:"
                                               " {requests: {cpu: 1}}}]}}"));
  const auto merged = plan().create.front();
  ASSERT_THAT(merged.request.spec.pod_sets, SizeIs(1));
  EXPECT_EQ(merged.request.spec.pod_sets[0].count, 3);
  EXPECT_THAT(merged.pods[0].pod_sets, ElementsAre("main", "driver"));
  config_.spec.pod_set_merge_policy = "IdenticalPodTemplates";
  EXPECT_THAT(plan().create.front().request.spec.pod_sets, SizeIs(2)) << "images differ";
}

TEST_F(Provisioning, TheCheckFollowsTheRequest) {
  request(1);
  EXPECT_EQ(outcome(), "same");
  EXPECT_THAT(created(), IsEmpty());
  requests_.clear();
  request(1, {"Accepted", "!Provisioned"});
  EXPECT_EQ(outcome(), "Pending: about Provisioned");
  requests_.clear();
  request(1, {"Accepted", "Provisioned"});
  EXPECT_EQ(outcome(), "Ready: about Provisioned");
  EXPECT_THAT(plan().notes, ElementsAre("Admission check prov updated state from Pending to Ready "
                                        "with message: about Provisioned"));
}

TEST_F(Provisioning, ProvisionedPodsAreToldToUseTheRequest) {
  config_.spec.node_selector_updates = {{"topology/zone", "zone"}, {"missing", "absent"}};
  request(1, {"Provisioned"});
  const auto updates = plan().states.front().pod_set_updates;
  ASSERT_THAT(updates, SizeIs(2));
  EXPECT_EQ(updates[0].name, "main");
  EXPECT_EQ(updates[0].annotations,
            api::StringMap({{"autoscaling.x-k8s.io/consume-provisioning-request", "w-prov-1"},
                            {"autoscaling.x-k8s.io/provisioning-class-name", "cls"}}));
  EXPECT_EQ(updates[0].node_selector, api::StringMap({{"topology/zone", "z1"}}));
}

TEST_F(Provisioning, MergedPodSetsAreAllTold) {
  config_.spec.pod_set_merge_policy = "IdenticalPodTemplates";
  workload_.spec.pod_sets[1].pod_template = workload_.spec.pod_sets[0].pod_template;
  request(1, {"Provisioned"});
  const auto updates = plan().states.front().pod_set_updates;
  ASSERT_THAT(updates, SizeIs(2));
  EXPECT_EQ(updates[1].name, "driver");
}

TEST_F(Provisioning, AFailureIsTriedAgainWhileAttemptsAreLeft) {
  request(1, {"Failed"});
  const ProvisioningPlan planned = plan();
  ASSERT_THAT(planned.states, SizeIs(1));
  EXPECT_EQ(outcome(), "Retry: Retrying after failure: about Failed");
  EXPECT_EQ(planned.states.front().requeue_after_seconds, 60);
  EXPECT_THAT(planned.create, IsEmpty()) << "first it gives its quota back";
  state().retry_count = 2;
  requests_.clear();
  request(3, {"Failed"});
  EXPECT_EQ(plan().states.front().requeue_after_seconds, 240);
  config_.spec.retry_strategy.backoff_max_seconds = 100;
  EXPECT_EQ(plan().states.front().requeue_after_seconds, 100);
  config_.spec.retry_strategy.backoff_limit_count = 2;
  EXPECT_EQ(outcome(), "Rejected: about Failed");
}

TEST_F(Provisioning, AnEssayOfTheAutoscalerStillFits) {
  request(1, {"Failed"});
  requests_.front().status.conditions.front().message.assign(api::condition_message_max, 'x');
  const ProvisioningPlan planned = plan();
  ASSERT_THAT(planned.states, SizeIs(1));
  EXPECT_EQ(planned.states[0].message.size(), api::condition_message_max);
  EXPECT_TRUE(planned.states[0].message.ends_with("x ..."));
}

TEST_F(Provisioning, TheNextAttemptIsNamedAfterTheRetriesSoFar) {
  state().retry_count = 1;
  EXPECT_THAT(created(), ElementsAre("w-prov-2"));
}

TEST_F(Provisioning, AFailureFromBeforeTheEvictionLeadsToTheNextAttempt) {
  state().retry_count = 1;
  request(1, {"Failed"});
  EXPECT_EQ(outcome(), "Pending: Retrying after failure: about Failed");
  EXPECT_THAT(created(), ElementsAre("w-prov-2"));
  state().message = std::string(creation_failed) + "ProvisioningRequest \"w-prov-2\": forbidden";
  EXPECT_EQ(outcome(), "same") << "why it cannot be made stays to be read";
}

TEST_F(Provisioning, AnExpiredBookingMattersUntilTheAdmission) {
  request(1, {"Provisioned", "BookingExpired"});
  EXPECT_EQ(outcome(), "Retry: Retrying after booking expired: about BookingExpired");
  state().state = api::CheckState::Ready;
  condition("Admitted");
  EXPECT_EQ(outcome(), "same");
}

TEST_F(Provisioning, RevokedCapacityEndsWhatIsActive) {
  request(1, {"Provisioned", "CapacityRevoked"});
  state().state = api::CheckState::Ready;
  condition("Admitted");
  EXPECT_EQ(outcome(), "Rejected: about CapacityRevoked");
  workload_.spec.active = false;
  EXPECT_EQ(outcome(), "same");
}

TEST_F(Provisioning, TheLastAttemptCountsAndOthersGo) {
  request(2);
  request(1, {"Failed"});
  const ProvisioningPlan planned = plan();
  ASSERT_THAT(planned.remove, SizeIs(1));
  EXPECT_EQ(planned.remove.front()->metadata.name, "w-prov-1");
}

TEST_F(Provisioning, ARequestOfAnotherConfigIsReplaced) {
  request(1);
  config_.spec.provisioning_class_name = "other";
  EXPECT_THAT(plan().remove, SizeIs(1));
  EXPECT_THAT(created(), ElementsAre("w-prov-1"));
  config_.spec.provisioning_class_name = "cls";
  config_.spec.parameters["c"] = "d";
  EXPECT_THAT(plan().remove, SizeIs(1));
}

TEST_F(Provisioning, EvictedAndFinishedWorkloadsNeedNone) {
  request(1, {"Provisioned"});
  condition("Evicted");
  EXPECT_THAT(plan().remove, SizeIs(1));
  cleanup_ = false;
  EXPECT_THAT(plan().remove, IsEmpty());
  condition("Finished");
  EXPECT_THAT(plan().remove, SizeIs(1));
}

TEST_F(Provisioning, WithoutAConfigTheCheckIsNotActive) {
  has_config_ = false;
  EXPECT_EQ(outcome(), "Pending: the check is not active");
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(Provisioning, WhatRunsKeepsItsRequestWhenTheConfigIsGone) {
  has_config_ = false;
  request(1, {"Provisioned"});
  EXPECT_THAT(plan().remove, SizeIs(1)) << "it waits";
  state().state = api::CheckState::Ready;
  EXPECT_THAT(plan().remove, SizeIs(1));
  condition(api::conditions::admitted);
  EXPECT_EQ(outcome(), "same");
  EXPECT_THAT(plan().remove, IsEmpty());
}

TEST_F(Provisioning, AConfigThatCannotBeReadChangesNothing) {
  has_config_ = false;
  config_unreadable_ = true;
  request(1, {"Failed"});
  EXPECT_EQ(outcome(), "same");
  EXPECT_THAT(plan().remove, IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(Provisioning, LongNamesAreCutAndStillRecognised) {
  workload_.metadata.name = std::string(250, 'w');
  const std::string first = plan().create.front().request.metadata.name;
  EXPECT_EQ(first.size(), 253U);
  request(1, {"Provisioned"});
  requests_.front().metadata.name = first;
  EXPECT_EQ(outcome(), "Ready: about Provisioned");
}

TEST_F(Provisioning, TheTemplateIsPlacedAsItsFlavorsSay) {
  const auto flavor = read<api::ResourceFlavor>(
      "{metadata: {name: f}, spec: {nodeLabels: {pool: a}, tolerations: [{key: t}]}}");
  const jobs::FlavorLookup lookup = [&](const std::string& name) {
    return name == "f" ? &flavor : nullptr;
  };
  const ProvisionedPods pods{"ppt", {"main"}, 2};
  const auto body = provisioning_pod_template(workload_, pods, lookup);
  ASSERT_TRUE(body);
  EXPECT_EQ((*body)["metadata"]["ownerReferences"][0]["name"], "w");
  EXPECT_EQ((*body)["template"]["spec"]["nodeSelector"]["pool"], "a");
  EXPECT_EQ((*body)["template"]["spec"]["tolerations"][0]["key"], "t");
  workload_.spec.pod_sets[0].pod_template = *api::PodTemplate::from(
      *api::parse_yaml("{spec: {containers: [{name: c, resources: {limits: {cpu: 2}}}]}}"));
  EXPECT_EQ((*provisioning_pod_template(
                workload_, pods,
                lookup))["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"],
            2);
  EXPECT_FALSE(provisioning_pod_template(workload_, pods, [](const auto&) { return nullptr; }));
}

TEST(ProvisioningCheckCondition, SaysWhatIsMissing) {
  const auto message = [](const std::string& parameters, bool served = true, bool found = true) {
    const auto check = read<api::AdmissionCheck>(
        "{metadata: {name: c}, spec: {controllerName: kueue.x-k8s.io/provisioning-request" +
        parameters + "}}");
    const api::Condition out = provisioning_check_condition(check, served, found);
    return out.reason + ": " + out.message;
  };
  const std::string good =
      ", parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: some}";
  EXPECT_EQ(message(good), "Active: The admission check is active");
  EXPECT_EQ(message(""), "BadParametersRef: missing parameters reference");
  EXPECT_EQ(message(good, true, false),
            "BadParametersRef: ProvisioningRequestConfig.kueue.x-k8s.io \"some\" not found");
  EXPECT_EQ(message(", parameters: {apiGroup: other, kind: K, name: some}"),
            "BadParametersRef: wrong group \"other\", expecting \"kueue.x-k8s.io\": bad parameters "
            "reference");
  EXPECT_THAT(message(good, false), testing::StartsWith("ProvisioningRequestsNotServed: "));
}

}  // namespace
}  // namespace regatta::lifecycle
