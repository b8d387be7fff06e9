// A simulation reads a Job as the manager does: its class, its queue, its namespace, and what the
// configuration says about jobs.
#include "whatif/engine/testing/inputs.h"

#include "jobs/integrations/integrations.h"
#include "whatif/engine/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::whatif {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint start = start_of_tests();

std::string job(const std::string& metadata, const std::string& spec = "",
                const std::string& pod_metadata = "{}") {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {namespace: team, " + metadata + "}\nspec:\n" +
         spec + "  template:\n    metadata: " + pod_metadata +
         "\n    spec:\n      restartPolicy: Never\n      containers:\n"
         "      - {name: c, image: i, resources: {requests: {cpu: 1}}}\n---\n";
}

const std::string queued = "labels: {kueue.x-k8s.io/queue-name: lq}";

SimulationInput input(const std::string& more) {
  SimulationInput out;
  out.start = start;
  out.until = std::chrono::hours(1);
  out.hub.objects = objects(one_queue("4") + more);
  return out;
}

std::vector<std::string> outcomes(const Report& report) {
  std::vector<std::string> out;
  for (const WorkloadRecord& one : report.workloads) {
    out.push_back(one.job + (one.admitted_at ? " admitted" : " waits"));
  }
  return out;
}

TEST(SimulatedInputs, AJobWithoutAClassHasTheDefaultWorkloadPriorityClass) {
  const std::string classes =
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, "
      "metadata: {name: default}, value: 7}\n---\n";
  const Report report = simulate(input(classes + job("name: a, " + queued)));
  ASSERT_EQ(report.workloads.size(), 1U);
  EXPECT_EQ(report.workloads[0].priority, 7);
}

TEST(SimulatedInputs, TheDefaultClassCanBeSwitchedOff) {
  const std::string classes =
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, "
      "metadata: {name: default}, value: 7}\n---\n";
  SimulationInput given = input(classes + job("name: a, " + queued));
  given.jobs.default_priority_class = false;
  EXPECT_EQ(simulate(std::move(given)).workloads[0].priority, 0);
}

std::string default_queue(const std::string& more) {
  return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default, "
         "namespace: team}, spec: {clusterQueue: cq" +
         more + "}}\n---\n";
}

TEST(SimulatedInputs, AJobWithoutAQueueGoesToTheDefaultQueue) {
  EXPECT_THAT(outcomes(simulate(input(default_queue("") + job("name: a")))),
              ElementsAre("a admitted"));
}

TEST(SimulatedInputs, AStoppedDefaultQueueTakesNoJobThatDoesNotNameIt) {
  const Report report = simulate(input(default_queue(", stopPolicy: Hold") + job("name: a")));
  EXPECT_THAT(outcomes(report), IsEmpty());
  EXPECT_THAT(report.warnings, ElementsAre("Job team/a has no queue: it is left out"));
}

TEST(SimulatedInputs, TheDefaultQueueCanBeSwitchedOff) {
  SimulationInput given = input(default_queue("") + job("name: a"));
  given.jobs.default_queue = false;
  EXPECT_THAT(outcomes(simulate(std::move(given))), IsEmpty());
}

TEST(SimulatedInputs, JobsInNamespacesThatAreNotManagedPlayNoPart) {
  const auto with = [](const char* value) {
    SimulationInput given = input(job("name: a, " + queued));
    api::LabelSelector selector;
    selector.match_labels["kueue"] = value;
    given.jobs.namespaces = *api::Selector::from(selector);
    return simulate(std::move(given));
  };
  EXPECT_THAT(outcomes(with("yes")), ElementsAre("a admitted"));
  const Report report = with("no");
  EXPECT_THAT(outcomes(report), IsEmpty());
  EXPECT_THAT(report.warnings,
              ElementsAre("Job team/a is in a namespace that managedJobsNamespaceSelector leaves "
                          "out: it plays no part"));
}

TEST(SimulatedInputs, JobsWithoutAQueueAreManagedWhenTheConfigurationSaysSo) {
  SimulationInput given = input(job("name: a"));
  given.jobs.manage_without_queue_name = true;
  EXPECT_THAT(outcomes(simulate(std::move(given))), ElementsAre("a waits"));
}

TEST(SimulatedInputs, NamesOfWorkloadsAreAsTheConfigurationSays) {
  const std::string name(60, 'x');
  const auto with = [&](bool brief) {
    SimulationInput given = input(job("name: " + name + ", " + queued));
    given.jobs.policy.brief_names = brief;
    return simulate(std::move(given)).workloads.at(0).name.size();
  };
  EXPECT_EQ(with(false), 70U);
  EXPECT_EQ(with(true), 63U);
}

TEST(SimulatedInputs, TopologyRequestsCountOnlyWithTopologyAwareScheduling) {
  const std::string asks = "{annotations: {kueue.x-k8s.io/podset-required-topology: rack}}";
  const auto with = [&](bool enabled) {
    SimulationInput given = input(job("name: a, " + queued, "", asks));
    given.jobs.topology.enabled = enabled;
    return outcomes(simulate(std::move(given)));
  };
  EXPECT_THAT(with(true), ElementsAre("a waits"));
  EXPECT_THAT(with(false), ElementsAre("a admitted"));
}

TEST(SimulatedInputs, AHubRejectsAJobThatAnotherControllerManages) {
  const std::string check = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: multikueue}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: fleet}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: fleet}
spec: {clusters: [east]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: fleet}
spec:
  namespaceSelector: {}
  admissionChecksStrategy: {admissionChecks: [{name: multikueue}]}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: fleet, namespace: team}
spec: {clusterQueue: fleet}
---
)";
  const std::string label = "labels: {kueue.x-k8s.io/queue-name: fleet}";
  SimulationInput given = input(check + job("name: ours, " + label) +
                                job("name: theirs, " + label, "  managedBy: example.com/other\n"));
  given.workers = {{"east", objects(one_queue("4") + R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: fleet, namespace: team}
spec: {clusterQueue: cq}
)")}};
  EXPECT_THAT(outcomes(simulate(std::move(given))), ElementsAre("ours admitted", "theirs waits"));
}

/// One cluster by itself, in which nothing happens but what a test does.
struct Alone {
  Alone() {
    settings.kinds = jobs::all_kinds();
    cluster.emplace(settings, &grid, &agenda, &records);
  }
  void apply(const std::vector<Object>& given) {
    for (const Object& object : given) cluster->apply(object, start);
    cluster->act(start);
  }
  void let_an_hour_pass() {
    while (const auto wake = agenda.pop(grid.end)) {
      cluster->wake(*wake, wake->at);
      cluster->act(wake->at);
    }
  }

  ClusterSettings settings;
  Grid grid{start, start + std::chrono::hours(1), std::chrono::minutes(1)};
  Agenda agenda;
  Records records;
  std::optional<Cluster> cluster;
};

TEST(SimulatedInputs, AJobOfASnapshotIsSeenRunningUntilItHasStopped) {
  Alone before;
  const std::vector<Object> job_objects = objects(job("name: a, " + queued));
  before.apply(objects(one_queue("4")));
  before.apply(job_objects);
  const jobs::JobId id{before.settings.kinds.find("batch", "Job"), api::ObjectKey("team", "a")};
  ASSERT_EQ(before.cluster->workloads_of(id).size(), 1U);

  api::Job running = std::get<api::Job>(job_objects.front());
  running.metadata.uid = before.cluster->job(id)->metadata().uid;
  running.spec.suspend = false;
  running.status.active = 1;
  Alone after;
  after.apply(objects(one_queue("4")));
  after.apply({*before.cluster->workloads_of(id).front(), running});
  ASSERT_TRUE(after.cluster->job(id));
  EXPECT_TRUE(after.cluster->job(id)->active());
  EXPECT_FALSE(after.cluster->job(id)->suspended());

  api::ClusterQueue drained = *after.cluster->cluster_queue("cq");
  drained.spec.stop_policy = api::StopPolicy::HoldAndDrain;
  after.apply({drained});
  after.let_an_hour_pass();
  EXPECT_FALSE(after.cluster->job(id)->active());
  EXPECT_TRUE(after.cluster->job(id)->suspended());
}

}  // namespace
}  // namespace regatta::whatif
