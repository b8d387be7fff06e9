#include "lib/api/names.h"
#include "whatif/engine/testing/inputs.h"
#include "whatif/manifests/reader.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace regatta::whatif {
namespace {

const TimePoint start = start_of_tests();

TimePoint at(int seconds) {
  return start + std::chrono::seconds(seconds);
}

const std::string hub = one_queue("100", R"(
  preemption: {withinClusterQueue: LowerPriority}
  admissionChecksStrategy: {admissionChecks: [{name: multikueue}]}
---
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
spec: {clusters: [east, west, north]}
)");

std::string job(const std::string& name, int cpu, int seconds) {
  return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name +
         "\n  namespace: team\n  labels: {kueue.x-k8s.io/queue-name: lq}\n"
         "  annotations: {sandbox.regatta.dev/run-seconds: \"" +
         std::to_string(seconds) +
         "\"}\nspec:\n  suspend: true\n  managedBy: kueue.x-k8s.io/multikueue\n"
         "  template:\n    spec:\n      restartPolicy: Never\n      containers:\n"
         "      - {name: c, image: i, resources: {requests: {cpu: \"" +
         std::to_string(cpu) + "\"}}}\n---\n";
}

struct Workers {
  std::string east = "4", west = "4", north = "4";
};

SimulationInput federation(const std::string& jobs, const Workers& quota = {}) {
  SimulationInput input;
  input.start = start;
  input.until = std::chrono::hours(3);
  input.hub.objects = objects(hub + jobs);
  input.workers = {{"east", objects(one_queue(quota.east))},
                   {"west", objects(one_queue(quota.west))},
                   {"north", objects(one_queue(quota.north))}};
  return input;
}

/// Five queues of a cohort that take back what they lent.
std::string cohort(const std::string& quota, const std::string& checks) {
  std::string out =
      "{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}";
  for (const char* name : {"q0", "q1", "q2", "q3", "q4"}) {
    out += "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: " +
           std::string(name) + ", namespace: team}\nspec: {clusterQueue: " + name + "}\n---" + R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: )" +
           name + "}\nspec:\n" + checks + R"(
  cohortName: all
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: )" +
           quota + "}]}]\n";
  }
  for (const char* value : {"10", "100", "1000"}) {
    out += "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, value: " +
           std::string(value) + ", metadata: {name: p" + value + "}}\n";
  }
  return out + "---\n";
}

constexpr const char* busy_day = R"(
- arrivals:
    until: 24h
    count: 10000
    seed: 1
    pick: {q: {range: 5}, p: [10, 10, 10, 100, 100, 1000], gang: [1, 1, 2, 4]}
    runSeconds: {distribution: lognormal, median: 900, sigma: 1, max: 20000}
    template:
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: j
        namespace: team
        labels: {kueue.x-k8s.io/queue-name: q$(q), kueue.x-k8s.io/priority-class: p$(p)}
      spec:
        suspend: true
        parallelism: $(gang)
        completions: $(gang)
        template:
          spec:
            restartPolicy: Never
            containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
)";

TEST(FederationSimulation, JobsThatChaseEachOtherOverTheWorkersTakeTimeForIt) {
  SimulationInput input = federation("");
  const std::string fleet =
      hub.substr(hub.find("apiVersion: kueue.x-k8s.io/v1beta2\nkind: "
                          "AdmissionCheck"));
  input.hub.objects = objects(
      cohort("60", "  admissionChecksStrategy: {admissionChecks: [{name: multikueue}]}") + fleet);
  for (ClusterInput& worker : input.workers) worker.objects = objects(cohort("20", ""));
  ManifestReader reader(start);
  Timeline day = read_timeline(busy_day, "day", start, &reader);
  EXPECT_EQ(day.errors, std::vector<std::string>());
  input.events = std::move(day.events);
  const Report report = simulate(std::move(input), [](const Progress& progress) {
    return progress.simulated < std::chrono::minutes(90);
  });
  EXPECT_EQ(report.warnings, std::vector<std::string>());
  std::map<std::pair<std::string, TimePoint>, int> at_once;
  for (const PreemptionRecord& one : report.preemptions) ++at_once[{one.workload, one.at}];
  for (const auto& [who, count] : at_once) {
    EXPECT_LE(count, 3) << who.first << ", once on each worker";
  }
  EXPECT_GT(report.preemptions.size(), 50u);
}

TEST(FederationSimulation, JobsRunWhereThereIsRoom) {
  SimulationInput input =
      federation(job("a", 4, 600) + job("b", 4, 600) + job("c", 4, 600) + job("d", 4, 600));
  const Report report = simulate(std::move(input));
  EXPECT_EQ(report.warnings, std::vector<std::string>());
  EXPECT_EQ(report.clusters, (std::vector<std::string>{"", "east", "west", "north"}));
  std::set<std::string> where;
  for (const char* name : {"a", "b", "c"}) {
    const WorkloadRecord& one = record(report, name);
    EXPECT_EQ(one.outcome, Outcome::finished) << name;
    EXPECT_LE(one.finished_at, at(602)) << name;
    where.insert(one.runs.at(0).cluster);
  }
  EXPECT_EQ(where, (std::set<std::string>{"east", "west", "north"}));
  EXPECT_GE(record(report, "d").admitted_at, at(600));
  EXPECT_EQ(record(report, "d").outcome, Outcome::finished);
  for (const CapacityReport& one : report.capacity) {
    if (!one.cluster.empty()) {
      EXPECT_GT(one.utilisation, 0) << one.cluster;
    }
  }
}

TEST(FederationSimulation, AJobThatAsksForTheHubRunsThere) {
  const auto asking = [](std::string yaml) {
    const std::string annotations = "annotations: {";
    return yaml.insert(yaml.find(annotations) + annotations.size(),
                       "multikueue.regatta.dev/run-on-hub: \"true\", ");
  };
  std::string here = asking(job("here", 4, 600));
  const std::string managed = "  managedBy: kueue.x-k8s.io/multikueue\n";
  here.erase(here.find(managed), managed.size());
  const Report report =
      simulate(federation(here + job("away", 4, 600) + asking(job("torn", 4, 600))));
  const WorkloadRecord& one = record(report, "here");
  EXPECT_EQ(one.outcome, Outcome::finished);
  EXPECT_LE(one.finished_at, at(602));
  ASSERT_EQ(one.runs.size(), 1u);
  EXPECT_EQ(one.runs[0].cluster, "");
  EXPECT_EQ(one.copies, 0);
  EXPECT_NE(record(report, "away").runs.at(0).cluster, "");
  EXPECT_FALSE(record(report, "torn").admitted_at) << "MultiKueue is to run it, too";
}

TEST(FederationSimulation, TheIncrementalDispatcherAsksAFewAtATime) {
  SimulationInput input = federation(job("big", 8, 600), {"4", "4", "8"});
  input.dispatch.nomination.dispatcher = placement::Dispatcher::incremental;
  input.dispatch.nomination.step_size = 1;
  const Report report = simulate(std::move(input));
  const WorkloadRecord& big = record(report, "big");
  // Two rounds of five minutes pass before north, the third, may try.
  EXPECT_EQ(big.admitted_at, at(600));
  ASSERT_EQ(big.runs.size(), 1u);
  EXPECT_EQ(big.runs[0].cluster, "north");
  EXPECT_EQ(big.outcome, Outcome::finished);
}

SimulationInput compared(const std::string& jobs, const Workers& quota) {
  SimulationInput input = federation(jobs, quota);
  input.dispatch.nomination.dispatcher = placement::Dispatcher::capacity;
  return input;
}

TEST(FederationSimulation, CapacityAsksTheWorkerThatHasRoom) {
  const Report report = simulate(compared(job("big", 8, 600), {"4", "4", "8"}));
  const WorkloadRecord& big = record(report, "big");
  EXPECT_EQ(big.admitted_at, at(0));
  EXPECT_EQ(big.nominated, std::vector<std::string>{"north"});
  EXPECT_EQ(big.copies, 1);
  // A race asks in an order that follows from the uid, until one says yes.
  EXPECT_GT(record(simulate(federation(job("big", 8, 600), {"4", "4", "8"})), "big").copies, 1);
}

TEST(FederationSimulation, WorkloadsOfOneMomentDoNotAllGoToTheWorkerThatHadRoom) {
  std::string jobs;
  for (const char* name : {"a", "b", "c", "d"}) jobs += job(name, 4, 600);
  const Report report = simulate(compared(jobs, {"4", "4", "8"}));
  std::map<std::string, int> by_worker;
  for (const WorkloadRecord& one : report.workloads) {
    EXPECT_EQ(one.admitted_at, at(0)) << one.name;
    EXPECT_EQ(one.copies, 1) << one.name;
    for (const auto& run : one.runs) ++by_worker[run.cluster];
  }
  EXPECT_EQ(by_worker, (std::map<std::string, int>{{"east", 1}, {"north", 2}, {"west", 1}}));
}

/// A Job that is created later.
std::string created(int seconds, std::string manifest) {
  manifest.erase(manifest.rfind("---"));
  std::string out = "---\nat: " + std::to_string(seconds) + "\napply:\n";
  std::istringstream lines(manifest);
  for (std::string line; std::getline(lines, line);) out += "  " + line + "\n";
  return out;
}

std::vector<TimedEvent> events(const std::string& text) {
  ManifestReader reader(start);
  Timeline timeline = read_timeline(text, "events", start, &reader);
  EXPECT_EQ(timeline.errors, std::vector<std::string>());
  return std::move(timeline.events);
}

std::string workers_of(const Report& report) {
  std::string out;
  for (const WorkloadRecord& one : report.workloads) {
    out += one.job + " " + (one.runs.empty() ? "nowhere" : one.runs.back().cluster) + " " +
           std::to_string(one.copies) + ", ";
  }
  return out;
}

TEST(FederationSimulation, WhatAWorkerHoldsCountsOnce) {
  SimulationInput input = compared(job("a", 4, 7200), {"8", "4", "0"});
  input.events = events(created(100, job("b", 4, 7200)) + created(200, job("c", 4, 7200)));
  EXPECT_EQ(workers_of(simulate(std::move(input))), "a east 1, b east 1, c west 1, ");
}

TEST(FederationSimulation, AWorkerThatHasLessQuotaIsNotAsked) {
  SimulationInput input = compared(job("a", 4, 60), {"4", "4", "0"});
  input.events = events(
      "{at: 100, cluster: east, scale: {clusterQueue: cq, flavor: f, resource: cpu, "
      "nominalQuota: 2}}\n" +
      created(200, job("b", 4, 60)));
  EXPECT_EQ(workers_of(simulate(std::move(input))), "a east 1, b west 1, ");
}

TEST(FederationSimulation, AWorkloadThatWaitsMovesAtOnceToTheWorkerThatGetsRoom) {
  // The jobs fill all workers. The first room is in the one of `short`, ten minutes later.
  const std::string fill =
      job("east-long", 4, 7200) + job("short", 4, 600) + job("north-long", 4, 7200);
  SimulationInput input = compared(fill, {"4", "4", "4"});
  input.events = events(created(595, job("waits", 4, 60)));
  const Report report = simulate(std::move(input));
  const WorkloadRecord& waits = record(report, "waits");
  ASSERT_EQ(waits.runs.size(), 1u);
  EXPECT_EQ(waits.runs[0].cluster, record(report, "short").runs.at(0).cluster);
  EXPECT_GE(waits.admitted_at, at(600));
  EXPECT_LE(waits.admitted_at, at(601));
}

TEST(FederationSimulation, JobsThatHaveEndedDoNotCountForSpread) {
  SimulationInput input = federation(job("a", 1, 60) + job("b", 1, 7200), {"4", "4", "0"});
  input.dispatch.nomination.dispatcher = placement::Dispatcher::spread;
  input.events = events(created(100, job("c", 1, 60)) + created(110, job("d", 1, 60)));
  EXPECT_EQ(workers_of(simulate(std::move(input))), "a east 1, b west 1, c east 1, d east 1, ");
}

TEST(FederationSimulation, ACheckMayNameItsDispatcher) {
  SimulationInput input = federation("", {"4", "4", "8"});
  input.hub.objects = objects(hub + "---\n" + job("big", 8, 600) + R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata:
  name: multikueue
  annotations: {multikueue.regatta.dev/dispatcher: multikueue.regatta.dev/capacity}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: fleet}
)");
  const Report report = simulate(std::move(input));
  EXPECT_EQ(record(report, "big").nominated, std::vector<std::string>{"north"});
}

TEST(FederationSimulation, CostAsksTheCheapestWorkerThatHasRoom) {
  std::string clusters;
  const std::pair<const char*, int> prices[] = {{"east", 3}, {"west", 1}, {"north", 2}};
  for (const auto& [name, price] : prices) {
    clusters +=
        "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueCluster\nmetadata: {name: " +
        std::string(name) + ", annotations: {multikueue.regatta.dev/price: \"" +
        std::to_string(price) +
        "\"}}\nspec: {clusterSource: {kubeConfig: {location: x, locationType: Secret}}}\n";
  }
  SimulationInput input = federation("", {"4", "4", "4"});
  input.hub.objects = objects(hub + clusters + "---\n" + job("a", 4, 600) + job("b", 4, 600));
  input.dispatch.nomination.dispatcher = placement::Dispatcher::cost;
  const Report report = simulate(std::move(input));
  EXPECT_EQ(record(report, "a").runs.at(0).cluster, "west");
  EXPECT_EQ(record(report, "b").runs.at(0).cluster, "north");
}

TEST(FederationSimulation, AJobOfALostWorkerRunsElsewhereAfterTheTimeout) {
  SimulationInput input = federation(job("a", 4, 7200), {"4", "0", "0"});
  input.dispatch.worker_lost_timeout = std::chrono::minutes(15);
  ManifestReader reader(start);
  input.events = read_timeline(R"(
- {at: 10m, cluster: east, connected: false}
- at: 20m
  cluster: west
  scale: {clusterQueue: cq, flavor: f, resource: cpu, nominalQuota: 4}
)",
                               "events", start, &reader)
                     .events;
  const Report report = simulate(std::move(input));
  const WorkloadRecord& a = record(report, "a");
  ASSERT_EQ(a.runs.size(), 2u);
  EXPECT_EQ(a.runs[0].cluster, "east");
  EXPECT_EQ(a.runs[0].end, RunEnd::evicted);
  EXPECT_EQ(a.runs[0].ended_at, at(25 * 60));
  EXPECT_EQ(a.runs[1].cluster, "west");
}

TEST(FederationSimulation, LabelsSelectWorkersToo) {
  SimulationInput input = federation(job("a", 4, 60) + job("b", 4, 60));
  std::string selecting = hub + job("a", 4, 60) + job("b", 4, 60);
  const std::string named = "metadata: {name: fleet}\nspec: {clusters: [east, west, north]}";
  selecting.replace(selecting.find(named), named.size(), R"(metadata:
  name: fleet
  annotations: {multikueue.regatta.dev/select-clusters: tier=batch}
spec: {clusters: [east]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster,
 metadata: {name: north, labels: {tier: batch}},
 spec: {clusterSource: {kubeConfig: {location: north, locationType: Secret}}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster,
 metadata: {name: west, labels: {tier: web}},
 spec: {clusterSource: {kubeConfig: {location: west, locationType: Secret}}}})");
  input.hub.objects = objects(selecting);
  const Report report = simulate(std::move(input));
  std::set<std::string> ran;
  for (const char* name : {"a", "b"}) ran.insert(record(report, name).runs.at(0).cluster);
  EXPECT_EQ(ran, (std::set<std::string>{"east", "north"}));
  EXPECT_LT(record(report, "b").runs.at(0).started_at, at(60));
}

TEST(FederationSimulation, AJobDeletedOnTheHubLeavesNothingOnTheWorkers) {
  SimulationInput input = federation(job("a", 4, 7200) + job("b", 4, 60), {"4", "0", "0"});
  ManifestReader reader(start);
  input.events = read_timeline("{at: 600, delete: Job team/a}", "events", start, &reader).events;
  const Report report = simulate(std::move(input));
  EXPECT_EQ(record(report, "a").outcome, Outcome::deleted);
  EXPECT_EQ(record(report, "b").outcome, Outcome::finished);
  EXPECT_GE(record(report, "b").runs.at(0).started_at, at(600));
}

}  // namespace
}  // namespace regatta::whatif
