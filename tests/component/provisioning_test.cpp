#include "lib/api/autoscaling.h"
#include "lib/api/yaml.h"
#include "tests/component/one_cluster.h"

#include <fstream>
#include <sstream>

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The ClusterQueue needs nodes from an autoscaler. The test plays the autoscaler.
class ProvisioningRequests : public OneCluster {
 protected:
  void define_requests() {
    std::ifstream file("examples/autoscaling/provisioningrequests.yaml");
    std::stringstream text;
    text << file.rdbuf();
    ASSERT_FALSE(text.str().empty()) << "run the tests from the source root";
    apply(text.str());
  }
  void apply_config() {
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: config}
spec:
  provisioningClassName: queued.example.dev
  retryStrategy: {backoffLimitCount: 1, backoffBaseSeconds: 10, backoffMaxSeconds: 60}
  podSetUpdates: {nodeSelector: [{key: group, valueFromProvisioningClassDetail: NodeGroup}]}
)");
  }
  void start(bool defined = true, manager::CoreConfig config = {}) {
    if (defined) define_requests();
    apply_config();
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: prov}
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: config}
)");
    start_with_queues(std::move(config));
    ASSERT_TRUE(cluster_.patch(
        api::ClusterQueue::resource, api::ObjectKey("cq"),
        R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"prov"}]}}})"));
    settle();
  }
  std::string active() {
    const auto check = cluster_.get<api::AdmissionCheck>(api::ObjectKey("prov"));
    return check ? condition(check->status.conditions, "Active") : "gone";
  }
  std::vector<api::ProvisioningRequest> requests() {
    return cluster_.list<api::ProvisioningRequest>("default");
  }
  std::vector<api::StoredPodTemplate> templates() {
    return cluster_.list<api::StoredPodTemplate>("default");
  }
  /// Sets a condition as the autoscaler would.
  void say(const std::string& type, const std::string& status = "True") {
    ASSERT_THAT(requests(), SizeIs(1));
    const Status done = cluster_.patch(
        api::ProvisioningRequest::resource, requests().front().metadata.key(),
        R"({"status":{"provisioningClassDetails":{"NodeGroup":"g1"},"conditions":[{"type":")" +
            type + R"(","status":")" + status +
            R"(","reason":"R","message":"so it is","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
        "status");
    ASSERT_TRUE(done) << done.error().what();
    settle();
  }
  api::AdmissionCheckState check() {
    const auto workload = workload_of("j");
    const auto* found = workload ? api::find_check(workload->status, "prov") : nullptr;
    return found ? *found : api::AdmissionCheckState();
  }
  bool started() { return !job("j").spec.suspend.value_or(true); }
};

TEST_F(ProvisioningRequests, AJobStartsOnNodesThatWereMadeForIt) {
  start();
  EXPECT_EQ(active(), "True Active: The admission check is active");
  apply(job_yaml("j", 2));
  settle();
  ASSERT_THAT(requests(), SizeIs(1));
  const api::ProvisioningRequest request = requests().front();
  const std::string workload = workload_of("j")->metadata.name;
  EXPECT_EQ(request.metadata.name, workload + "-prov-1");
  EXPECT_EQ(request.spec.pod_sets.front().count, 2);
  ASSERT_THAT(templates(), SizeIs(1));
  EXPECT_EQ(templates().front().metadata.controller()->uid, request.metadata.uid);
  EXPECT_FALSE(started());
  say("Accepted");
  EXPECT_FALSE(started());
  say("Provisioned");
  EXPECT_TRUE(started());
  const Json running = job("j").spec.pod_template.json();
  EXPECT_EQ(running["spec"]["nodeSelector"]["group"], "g1");
  EXPECT_EQ(running["metadata"]["annotations"]["autoscaling.x-k8s.io/consume-provisioning-request"],
            request.metadata.name);
  EXPECT_THAT(events("Workload"), Contains("ProvisioningRequestCreated: Created "
                                           "ProvisioningRequest: \"" +
                                           request.metadata.name + "\""));
  EXPECT_THAT(events("Workload"),
              Contains("AdmissionCheckUpdated: Admission check prov updated state from Pending to "
                       "Ready with message: so it is"));
  complete_job("j", 2);
  settle();
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(ProvisioningRequests, AFailureIsTriedOnceMoreAndThenRejected) {
  start();
  apply(job_yaml("j"));
  settle();
  say("Failed");
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_THAT(condition_of("j", "Evicted"),
              HasSubstr("AdmissionCheck in Retry state: \"prov\" (Retrying after failure: so it "
                        "is)"));
  EXPECT_EQ(check().retry_count, 1);
  settle(15s);
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_THAT(requests().front().metadata.name, testing::EndsWith("-prov-2"));
  say("Failed");
  const auto workload = workload_of("j");
  EXPECT_FALSE(workload->spec.active);
  EXPECT_THAT(condition_of("j", "Evicted"), HasSubstr("DeactivatedDueToAdmissionCheck: "));
  EXPECT_THAT(requests(), IsEmpty());
}

/// The failure of the first request and the refusals of the second one, which vary, are told in one
/// message.
TEST_F(ProvisioningRequests, ARequestThatIsRefusedIsTriedLessAndLessOften) {
  manager::CoreConfig config;
  config.provisioning.cleanup_on_eviction = false;
  start(true, config);
  apply(job_yaml("j"));
  settle();
  kube::NetworkFaults& faults = manager_->faults();
  faults.concerns = [&faults](const net::HttpRequest& request) {
    const bool ours = request.target.find("/provisioningrequests") != std::string::npos;
    if (ours) faults.server_error = 1 - faults.server_error;
    return ours;
  };
  faults.refused = 1;
  faults.delay_min = faults.delay_max = 2ms;
  say("Failed");
  manager_->requests.clear();
  settle(30s);
  EXPECT_GE(manager_->requests.count("create", "provisioningrequests"), 5);
  EXPECT_LE(manager_->requests.count("create", "provisioningrequests"), 12);
  EXPECT_LE(manager_->requests.count("patch", "workloads/status"), 12);
  EXPECT_THAT(check().message, HasSubstr("Error creating ProvisioningRequest"));
  faults.concerns = [](const net::HttpRequest&) { return false; };
  until("made after all", [&] { return requests().size() == 2; });
}

TEST_F(ProvisioningRequests, RevokedCapacityStopsTheJob) {
  start();
  apply(job_yaml("j"));
  settle();
  say("Provisioned");
  EXPECT_TRUE(started());
  say("CapacityRevoked");
  EXPECT_FALSE(started());
  EXPECT_FALSE(workload_of("j")->spec.active);
}

TEST_F(ProvisioningRequests, ACheckIsInactiveUntilTheClusterServesRequests) {
  start(false);
  EXPECT_THAT(active(), HasSubstr("False ProvisioningRequestsNotServed: "));
  apply(job_yaml("j"));
  settle();
  define_requests();
  until("active", [&] { return active() == "True Active: The admission check is active"; }, 300s);
  settle();
  EXPECT_THAT(requests(), SizeIs(1));
}

TEST_F(ProvisioningRequests, WithoutItsConfigACheckIsInactive) {
  start();
  ASSERT_TRUE(cluster_.remove(api::ProvisioningRequestConfig::resource, api::ObjectKey("config")));
  settle();
  EXPECT_EQ(active(),
            "False BadParametersRef: ProvisioningRequestConfig.kueue.x-k8s.io \"config\" not "
            "found");
}

TEST_F(ProvisioningRequests, WhatRunsGoesOnWhileItsConfigIsExchanged) {
  start();
  apply(job_yaml("j"));
  settle();
  say("Provisioned");
  run_job("j", 1);
  const std::string before = requests().front().metadata.uid;
  ASSERT_TRUE(cluster_.remove(api::ProvisioningRequestConfig::resource, api::ObjectKey("config")));
  settle();
  EXPECT_EQ(check().state, api::CheckState::Ready);
  apply_config();
  settle();
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_EQ(requests().front().metadata.uid, before) << "the nodes are not asked for again";
  EXPECT_TRUE(started());
}

TEST_F(ProvisioningRequests, AConfigThatCannotBeReadIsNotTakenForNone) {
  start();
  apply(job_yaml("j"));
  settle();
  const std::string before = requests().front().metadata.uid;
  const api::ObjectKey definition("provisioningrequestconfigs.kueue.x-k8s.io");
  Json versions =
      cluster_.get(api::CustomResourceDefinition::resource, definition)["spec"]["versions"];
  for (Json& version : versions) {
    version["schema"]["openAPIV3Schema"] = {{"type", "object"},
                                            {"x-kubernetes-preserve-unknown-fields", true}};
  }
  const Json looser{{"spec", {{"versions", versions}}}};
  manager_.reset();
  ASSERT_TRUE(
      cluster_.patch(api::CustomResourceDefinition::resource, definition, dump_json(looser)));
  settle();
  ASSERT_TRUE(cluster_.patch(api::ProvisioningRequestConfig::resource, api::ObjectKey("config"),
                             R"({"spec":{"podSetUpdates":"of a later version"}})"));
  start_manager();
  settle();
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_EQ(requests().front().metadata.uid, before);
  say("Provisioned");
  EXPECT_FALSE(started()) << "what follows from that is not known";
  apply_config();
  settle();
  EXPECT_TRUE(started());
}

TEST_F(ProvisioningRequests, AManagerThatStartsLaterGoesOn) {
  start();
  apply(job_yaml("j"));
  settle();
  manager_.reset();
  say("Provisioned");
  start_manager();
  settle();
  EXPECT_TRUE(started());
  EXPECT_THAT(requests(), SizeIs(1));
}

}  // namespace
}  // namespace regatta::test_support
