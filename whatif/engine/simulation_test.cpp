#include "lib/api/names.h"
#include "whatif/engine/testing/inputs.h"
#include "whatif/manifests/reader.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::whatif {
namespace {

const TimePoint start = start_of_tests();

TimePoint at(int seconds) {
  return start + std::chrono::seconds(seconds);
}

std::string queue(const std::string& quota, const std::string& more = "") {
  return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: "
         "high}, "
         "value: 100}\n---\n" +
         one_queue(quota, more);
}

struct JobText {
  std::string name;
  int cpu = 1;
  std::string annotations;  ///< "key: value, …"
  std::string labels;
  std::string spec;  ///< "  key: value\n"
};

std::string job(const JobText& text) {
  return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + text.name +
         "\n  namespace: team\n  labels: {kueue.x-k8s.io/queue-name: lq" +
         (text.labels.empty() ? "" : ", " + text.labels) + "}\n  annotations: {" +
         text.annotations + "}\nspec:\n" + text.spec +
         "  template:\n    spec:\n      restartPolicy: Never\n      containers:\n"
         "      - {name: c, image: i, resources: {requests: {cpu: \"" +
         std::to_string(text.cpu) + "\"}}}\n---\n";
}

std::string runs(int seconds) {
  return "sandbox.regatta.dev/run-seconds: \"" + std::to_string(seconds) + "\"";
}

SimulationInput input(std::string_view manifests, std::string_view events = "") {
  SimulationInput out;
  out.start = start;
  out.until = std::chrono::hours(1);
  out.hub.objects = objects(manifests);
  ManifestReader reader(start);
  Timeline timeline = read_timeline(events, "events", start, &reader);
  EXPECT_EQ(timeline.errors, std::vector<std::string>());
  out.events = std::move(timeline.events);
  return out;
}

std::string apply_at(int seconds, const std::string& manifest) {
  std::string out = "at: " + std::to_string(seconds) + "\napply:\n";
  std::string line;
  for (const char c : manifest) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line != "---") out += "  " + line + "\n";
    line.clear();
  }
  return out + "---\n";
}

TEST(Simulation, JobsRunOneAfterAnotherInTheQuotaThereIs) {
  const Report report = simulate(input(queue("2") + job({"a", 2, runs(600)}) +
                                       job({"b", 2, runs(300)}) + job({"c", 2, runs(30)})));
  EXPECT_EQ(report.warnings, std::vector<std::string>());
  ASSERT_EQ(report.workloads.size(), 3u);
  const WorkloadRecord& b = record(report, "b");
  EXPECT_EQ(record(report, "a").admitted_at, start);
  EXPECT_EQ(record(report, "a").finished_at, at(600));
  // Parked workloads are looked at again a second after quota was freed, as the manager does.
  EXPECT_EQ(b.admitted_at, at(601));
  EXPECT_EQ(b.outcome, Outcome::finished);
  EXPECT_EQ(b.reason, "WaitingForQuota");
  EXPECT_EQ(record(report, "c").finished_at, at(932));
  EXPECT_EQ(report.totals.finished, 3u);
  EXPECT_EQ(report.totals.scarcest, "f/cpu");
  EXPECT_NEAR(report.totals.utilisation, 930.0 / 3600, 1e-9);
  EXPECT_NEAR(report.totals.waiting.mean, (601.0 + 902.0) / 3, 1e-9);
  ASSERT_EQ(report.queues.size(), 1u);
  EXPECT_EQ(report.queues[0].waiting.count, 3u);
  ASSERT_EQ(report.samples, report.queues[0].running.size());
  EXPECT_EQ(report.queues[0].usage[0].used[0], 2);
}

TEST(Simulation, TheSameInputLeadsToTheSameReport) {
  const std::string manifests =
      queue("3") + job({"a", 2, runs(60)}) + job({"b", 1, runs(30)}) + job({"c", 2, runs(10)});
  EXPECT_EQ(dump_json(to_json(simulate(input(manifests)))),
            dump_json(to_json(simulate(input(manifests)))));
}

TEST(Simulation, APreemptedJobHoldsItsQuotaUntilItsGraceIsOver) {
  const std::string preempting = "  preemption: {withinClusterQueue: LowerPriority}";
  const std::string grace = ", sandbox.regatta.dev/termination-share: \"1\"";
  const Report report = simulate(
      input(queue("2", preempting) + job({"low", 2, runs(600) + grace}),
            apply_at(100, job({"high", 2, runs(60), "kueue.x-k8s.io/priority-class: high"}))));
  EXPECT_EQ(report.warnings, std::vector<std::string>());
  ASSERT_EQ(report.preemptions.size(), 1u);
  EXPECT_EQ(report.preemptions[0].reason, "InClusterQueue");
  EXPECT_EQ(report.preemptions[0].grace_seconds, 30);
  EXPECT_EQ(record(report, "high").runs.at(0).reserved_at, at(130));
  const WorkloadRecord& low = record(report, "low");
  ASSERT_EQ(low.runs.size(), 2u);
  EXPECT_EQ(low.runs[0].end, RunEnd::preempted);
  EXPECT_EQ(low.runs[0].ended_at, at(130));
  EXPECT_EQ(low.runs[0].lost_seconds, 100);
  EXPECT_EQ(low.runs[1].started_at, at(191));
  EXPECT_EQ(low.finished_at, at(791));
}

TEST(Simulation, APreemptedJobResumesFromItsCheckpoint) {
  const std::string preempting = "  preemption: {withinClusterQueue: LowerPriority}";
  const std::string checkpoints = ", simulate.regatta.dev/checkpoint-seconds: \"40\"";
  const Report report = simulate(
      input(queue("2", preempting) + job({"low", 2, runs(600) + checkpoints}),
            apply_at(100, job({"high", 2, runs(60), "kueue.x-k8s.io/priority-class: high"}))));
  const WorkloadRecord& low = record(report, "low");
  ASSERT_EQ(low.runs.size(), 2u);
  EXPECT_EQ(low.runs[0].lost_seconds, 20);
  EXPECT_EQ(low.finished_at, at(161 + 520));
}

TEST(Simulation, AdmissionChecksTakeTheirTime) {
  const std::string check = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: slow, annotations: {simulate.regatta.dev/answer-seconds: "45"}}
spec: {controllerName: example.dev/slow}
---
)";
  const std::string asks = "  admissionChecksStrategy: {admissionChecks: [{name: slow}]}";
  const Report report = simulate(input(check + queue("2", asks) + job({"a", 1, runs(10)})));
  const WorkloadRecord& a = record(report, "a");
  ASSERT_EQ(a.runs.size(), 1u);
  EXPECT_EQ(a.runs[0].reserved_at, start);
  EXPECT_EQ(a.admitted_at, at(45));
  EXPECT_EQ(a.finished_at, at(55));
}

TEST(Simulation, ARejectedJobIsDeactivated) {
  const std::string check = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: no, annotations: {simulate.regatta.dev/answer: Rejected}}
spec: {controllerName: example.dev/no}
---
)";
  const std::string asks = "  admissionChecksStrategy: {admissionChecks: [{name: \"no\"}]}";
  const Report report = simulate(input(check.substr(0, check.find("no, ann")) + "\"no\"" +
                                       check.substr(check.find(", ann")) + queue("2", asks) +
                                       job({"a", 1, runs(10)})));
  const WorkloadRecord& a = record(report, "a");
  EXPECT_EQ(a.outcome, Outcome::pending);
  EXPECT_FALSE(a.admitted_at);
  ASSERT_EQ(a.runs.size(), 1u);
  EXPECT_EQ(a.runs[0].end, RunEnd::evicted);
  EXPECT_EQ(a.reason, "Deactivated");
}

TEST(Simulation, AJobWhosePodsAreNotReadyInTimeMakesRoom) {
  SimulationInput one = input(
      queue("1") + job({"slow", 1, runs(60) + ", simulate.regatta.dev/ready-seconds: \"400\""}) +
      job({"next", 1, runs(60) + ", simulate.regatta.dev/ready-seconds: \"20\""}));
  one.lifecycle.wait_for_pods_ready = lifecycle::PodsReadyPolicy{std::chrono::minutes(5), {}, 1};
  const Report report = simulate(std::move(one));
  const WorkloadRecord& slow = record(report, "slow");
  ASSERT_EQ(slow.runs.size(), 2u);
  EXPECT_EQ(slow.runs[0].end, RunEnd::evicted);
  EXPECT_EQ(slow.runs[0].reason, "PodsReadyTimeout");
  EXPECT_EQ(slow.runs[0].ended_at, at(300));
  EXPECT_EQ(record(report, "next").finished_at, at(301 + 80));
  // The workload is tried once more and then deactivated.
  EXPECT_EQ(slow.outcome, Outcome::pending);
  EXPECT_EQ(slow.runs[1].reason, "DeactivatedDueToRequeuingLimitExceeded");
}

TEST(Simulation, AJobMayRunAsLongAsItsLimitSays) {
  const Report report = simulate(
      input(queue("1") + job({"a", 1, runs(500), "kueue.x-k8s.io/max-exec-time-seconds: \"90\""})));
  const WorkloadRecord& a = record(report, "a");
  ASSERT_EQ(a.runs.size(), 1u);
  EXPECT_EQ(a.runs[0].ended_at, at(90));
  EXPECT_EQ(a.runs[0].reason, "DeactivatedDueToMaximumExecutionTimeExceeded");
}

TEST(Simulation, PodsOfALostNodeMoveOrEnd) {
  std::string nodes;
  for (const char* name : {"n1", "n2"}) {
    nodes += "apiVersion: v1\nkind: Node\nmetadata: {name: " + std::string(name) +
             ", labels: {pool: t, kubernetes.io/hostname: " + name +
             "}}\nstatus:\n  allocatable: {cpu: 2, pods: 10}\n"
             "  conditions: [{type: Ready, status: \"True\"}]\n---\n";
  }
  const std::string topology = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: hosts}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: t}, topologyName: hosts}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: a
  namespace: team
  labels: {kueue.x-k8s.io/queue-name: lq}
  annotations: {sandbox.regatta.dev/run-seconds: "1000"}
spec:
  template:
    metadata:
      annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
---
)";
  const Report report = simulate(input(queue("4") + nodes + topology, R"(
- {at: 100, node: n1, ready: false}
- {at: 200, node: n2, ready: false}
- {at: 500, node: n1, ready: true}
)"));
  EXPECT_EQ(report.warnings, std::vector<std::string>());
  const WorkloadRecord& a = record(report, "a");
  ASSERT_EQ(a.runs.size(), 2u) << a.message;
  EXPECT_EQ(a.runs[0].end, RunEnd::evicted);
  EXPECT_EQ(a.runs[0].reason, "NodeFailures");
  EXPECT_GE(a.runs[1].reserved_at, at(500));
}

TEST(Simulation, AWorkloadThatIsPassedOverIsToldWhy) {
  const Report report = simulate(input(queue("1") + job({"a", 1, runs(5000)}) +
                                       job({"b", 1, runs(60)}) + job({"c", 1, runs(60)})));
  EXPECT_EQ(record(report, "b").reason, "WaitingForQuota");
  EXPECT_EQ(record(report, "c").reason, "WaitingForQuota");
  EXPECT_NE(record(report, "c").message, "");
}

TEST(Simulation, JobsWithMoreCompletionsThanPodsRunInWaves) {
  const Report report = simulate(
      input(queue("8") + job({"a", 1, runs(100), "", "  parallelism: 2\n  completions: 5\n"})));
  const WorkloadRecord& a = record(report, "a");
  EXPECT_EQ(a.finished_at, at(300));
  EXPECT_EQ(a.requests.at("cpu"), 2);
  // The last wave needs a single pod.
  EXPECT_NEAR(report.queues.at(0).usage.at(0).mean * 3600, 200 * 2 + 100 * 1, 1e-6);
}

TEST(Simulation, FailuresAndDeadlinesEndAJob) {
  const Report report =
      simulate(input(queue("8") +
                     job({"bad", 1, runs(10) + ", sandbox.regatta.dev/fail: \"true\"", "",
                          "  backoffLimit: 2\n"}) +
                     job({"late", 1, runs(100), "", "  activeDeadlineSeconds: 60\n"})));
  EXPECT_EQ(record(report, "bad").outcome, Outcome::failed);
  EXPECT_EQ(record(report, "bad").finished_at, at(30));
  EXPECT_EQ(record(report, "late").outcome, Outcome::failed);
  EXPECT_EQ(record(report, "late").finished_at, at(60));
}

TEST(Simulation, EventsChangeTheWorld) {
  const Report report = simulate(input(
      queue("1") + job({"a", 1, runs(1000)}) + job({"b", 2, runs(50)}) + job({"c", 1, runs(50)}),
      R"(
- {at: 100, scale: {clusterQueue: cq, flavor: f, resource: cpu, nominalQuota: 3}}
- {at: 120, delete: Job team/a}
- {at: 500, delete: Job team/nobody}
- {at: 600, scale: {clusterQueue: cq, flavor: g, resource: cpu, nominalQuota: 3}}
)"));
  EXPECT_EQ(record(report, "b").reason, "ExceedsMaxQuota");
  EXPECT_EQ(record(report, "b").runs.at(0).reserved_at, at(101));
  EXPECT_EQ(record(report, "a").outcome, Outcome::deleted);
  EXPECT_EQ(record(report, "a").runs.at(0).ended_at, at(120));
  EXPECT_EQ(record(report, "c").runs.at(0).reserved_at, at(121));
  EXPECT_EQ(report.warnings,
            (std::vector<std::string>{
                "event at 2026-01-01T00:08:20Z: there is no Job team/nobody to delete",
                "event at 2026-01-01T00:10:00Z: ClusterQueue cq has no quota of cpu of flavor g"}));
}

TEST(Simulation, SaysWhyAJobNeverRuns) {
  const Report report =
      simulate(input(queue("1") + job({"huge", 5, runs(10)}) +
                     job({"lost", 1, runs(10), "kueue.x-k8s.io/priority-class: nobody"})));
  EXPECT_EQ(record(report, "huge").outcome, Outcome::pending);
  EXPECT_EQ(record(report, "huge").reason, "ExceedsMaxQuota");
  EXPECT_EQ(report.totals.pending, 1u);
  EXPECT_EQ(report.totals.waiting.count, 0u);
  EXPECT_EQ(report.totals.waiting_all.mean, 3600);
  EXPECT_EQ(report.warnings,
            std::vector<std::string>{"Job team/lost: WorkloadPriorityClass \"nobody\" not found"});
}

TEST(Simulation, AnInterruptedOneReportsWhatItKnows) {
  int calls = 0;
  const Report report =
      simulate(input(queue("1") + job({"a", 1, runs(10)}), "{at: 60, delete: Job team/x}"),
               [&](const Progress& progress) {
                 EXPECT_LE(progress.simulated, progress.of);
                 return ++calls > 1;
               });
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.workloads.size(), 1u);
  EXPECT_LE(report.length, std::chrono::minutes(1));
}

}  // namespace
}  // namespace regatta::whatif
