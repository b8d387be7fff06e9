#include "whatif/explain/account.h"

#include "lib/base/json.h"
#include "whatif/explain/feed.h"
#include "whatif/manifests/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace regatta::whatif {
namespace {

const TimePoint now = *parse_rfc3339("2026-11-21T12:00:00Z");

/// Shared, because reading the CRDs takes longer than everything else.
ManifestReader& reader() {
  static ManifestReader one(now);
  return one;
}

/// A cluster as in a snapshot, and the account of one of its workloads.
struct Told {
  explicit Told(const std::string& yaml, const std::string& name = "w") {
    Manifests read;
    reader().read(yaml, "test", &read, ManifestOrigin::snapshot);
    EXPECT_THAT(read.errors, testing::IsEmpty());
    feed(&state, read.objects, now);
    Result<Account> given = give_account(state, read.objects, {"dev", name}, now);
    EXPECT_TRUE(given) << given.error().what();
    if (given) account = std::move(*given);
  }
  std::string text() const {
    std::ostringstream out;
    print(account, out);
    return out.str();
  }

  admission::State state;
  Account account;
};

const std::string basics = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: dev}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: a100},
 spec: {nodeTaints: [{key: gpu, value: a100, effect: NoSchedule}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: t4}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, name: main},
 spec: {clusterQueue: fleet}}
)";

/// A ClusterQueue with `flavors` of nvidia.com/gpu, by name and nominal quota.
std::string queue(const std::string& name, const std::map<std::string, int>& flavors,
                  const std::string& more = "") {
  std::string list;
  for (const auto& [flavor, count] : flavors) {
    list += (list.empty() ? "{name: " : ", {name: ") + flavor +
            ", resources: [{name: nvidia.com/gpu, nominalQuota: " + std::to_string(count) + "}]}";
  }
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: " + name +
         "}\nspec:\n  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: "
         "[nvidia.com/gpu]\n    flavors: [" +
         list + "]\n" + more;
}

std::string workload(const std::string& name, int gpus, const std::string& status = "",
                     const std::string& pod_spec = "", int priority = 0) {
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {namespace: dev, "
         "name: " +
         name + ", uid: uid-" + name +
         ", creationTimestamp: \"2026-11-21T11:30:00Z\"}\nspec:\n  queueName: main\n  active: "
         "true\n  priority: " +
         std::to_string(priority) +
         "\n  podSets:\n  - name: main\n    count: " + std::to_string(gpus) +
         "\n    template: {spec: {restartPolicy: Never, " + pod_spec +
         "containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: 1}}}]}}\n" +
         status;
}

std::string held(const std::string& flavor, int gpus, const std::string& since,
                 const std::string& cluster_queue = "fleet") {
  const std::string tail =
      ", status: \"True\", reason: R, message: m, lastTransitionTime: \"" + since + "\"}\n";
  return "status:\n  admission:\n    clusterQueue: " + cluster_queue +
         "\n    podSetAssignments:\n    - {name: main, count: " + std::to_string(gpus) +
         ", flavors: {nvidia.com/gpu: " + flavor +
         "}, resourceUsage: {nvidia.com/gpu: " + std::to_string(gpus) +
         "}}\n  conditions:\n  - {type: QuotaReserved" + tail + "  - {type: Admitted" + tail;
}

TEST(Account, TellsAUserWhatHisWorkloadWaitsForAndWhatToDo) {
  const Told told(basics + queue("fleet", {{"a100", 8}, {"t4", 4}}) +
                  workload("busy", 3, held("t4", 3, "2026-11-21T11:40:00Z")) +
                  workload("before", 4, "", "", 10) + workload("w", 3));
  EXPECT_EQ(told.text(),
            R"(Workload dev/w, priority 0, created 30m ago

)"
            "It waits for quota: in no flavor of ClusterQueue fleet is enough free, and "
            "no workload may be preempted for it. 1 workload comes first in its ClusterQueue.\n"
            R"(
What to do
)"
            "  - Raise nominalQuota of flavor t4 in ClusterQueue fleet for nvidia.com/gpu by "
            "2 (to 6), or wait for dev/busy (running since 2026-11-21T11:40:00Z).\n"
            "  - 1 workload has the turn before it: a higher priority (label "
            "kueue.x-k8s.io/priority-class of the job) lets it pass.\n"
            R"(
Queue
  LocalQueue dev/main, ClusterQueue fleet (BestEffortFIFO)
  Place 2 of 2 in the ClusterQueue, 2 of 2 in the LocalQueue. Before it: dev/before.

Flavors for pod set main (3 pods)
      FLAVOR   RESOURCE         REQUESTED   NOMINAL   USED   AVAILABLE   BORROWABLE   MISSING
      a100     nvidia.com/gpu           3         8      0           8            0         0
  *   t4       nvidia.com/gpu           3         4      3           1            0         2
  a100: its nodes have the taint gpu=a100:NoSchedule, which the pods do not tolerate.
)"
            "  t4: 2 more nvidia.com/gpu needed (3 requested, 1 available); there is enough "
            "when dev/busy (in ClusterQueue fleet, holds it for 20m) has finished.\n"
            R"(
Why preemption does not help
)"
            "  flavor t4: 1 workload of its own ClusterQueue holds some, and "
            "preemption.withinClusterQueue is Never.\n");
}

struct SentenceCase {
  const char* description;
  std::string objects;
  std::string summary;
  std::vector<std::string> steps;
};

std::vector<SentenceCase> sentence_cases() {
  const std::string small = queue("fleet", {{"t4", 4}});
  const std::string hour_ago = "2026-11-21T11:00:00Z";
  return {
      {"more than there is",
       small + workload("w", 6),
       "It asks for more than ClusterQueue fleet could ever give it.",
       {"Raise nominalQuota of flavor t4 in ClusterQueue fleet for nvidia.com/gpu by 2 (to 6), or "
        "let the workload ask for less: waiting does not help."}},
      {"a taint",
       queue("fleet", {{"a100", 4}}) + workload("w", 1),
       "No flavor of ClusterQueue fleet suits its pods.",
       {"To use flavor a100: let the pods tolerate gpu=a100:NoSchedule."}},
      {"a resource without quota",
       queue("fleet", {{"t4", 4}}) +
           "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {namespace: dev, "
           "name: w, uid: u}\nspec: {queueName: main, active: true, podSets: [{name: main, count: "
           "1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "
           "{requests: {cpu: 1}}}]}}}]}\n",
       "ClusterQueue fleet has no quota at all for cpu, which its pods ask for.",
       {"Give ClusterQueue fleet quota for cpu (spec.resourceGroups), or let the pods not ask for "
        "it."}},
      {"room",
       small + workload("w", 4),
       "There is room for it now: the next scheduling cycle should admit it.",
       {}},
      {"not its turn",
       small + workload("a", 1, "", "", 5) + workload("w", 4),
       "There is room for it now, but it is not its turn. 1 workload comes first in its "
       "ClusterQueue.",
       {"1 workload has the turn before it: a higher priority (label kueue.x-k8s.io/priority-class "
        "of the job) lets it pass."}},
      {"behind a head that blocks",
       queue("fleet", {{"t4", 4}}, "  queueingStrategy: StrictFIFO\n") +
           workload("a", 4, "", "", 5) + workload("b", 4, "", "", 4) + workload("w", 1),
       "There is room for it now, but it is not its turn. 2 workloads come first in its "
       "ClusterQueue, which is StrictFIFO: it waits until they are admitted.",
       {"2 workloads have the turn before it, and must be admitted first (StrictFIFO): a higher "
        "priority (label kueue.x-k8s.io/priority-class of the job) lets it pass."}},
      {"a stopped queue",
       queue("fleet", {{"t4", 4}}, "  stopPolicy: Hold\n") + workload("w", 1),
       "Its ClusterQueue fleet admits nothing: Can't admit new workloads: is stopped.",
       {"Set spec.stopPolicy of ClusterQueue fleet to None."}},
      {"backoff",
       small + workload("w", 1,
                        "status: {requeueState: {count: 2, requeueAt: "
                        "\"2026-11-21T12:05:00Z\"}}\n"),
       "It has its next turn in 5m, at 2026-11-21T12:05:00Z, after 2 requeues.",
       {}},
      {"preemption",
       queue("fleet", {{"t4", 4}}, "  preemption: {withinClusterQueue: LowerPriority}\n") +
           workload("low", 4, held("t4", 4, hour_ago), "", -5) + workload("w", 2),
       "It can be admitted once it has preempted 1 workload.",
       {"Wait: the victims give back their quota when their pods are gone."}},
      {"others borrowed its quota",
       queue("fleet", {{"t4", 4}}, "  cohortName: team\n") +
           queue("other", {{"t4", 0}}, "  cohortName: team\n") +
           "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, "
           "name: main}, spec: {clusterQueue: fleet}}\n" +
           workload("b", 4, held("t4", 4, hour_ago, "other")) + workload("w", 2),
       "It waits for quota: in no flavor of ClusterQueue fleet is enough free, and no workload may "
       "be "
       "preempted for it.",
       {"Raise nominalQuota of flavor t4 in ClusterQueue fleet for nvidia.com/gpu by 2 (to 6), or "
        "wait for dev/b (running since 2026-11-21T11:00:00Z).",
        "Let ClusterQueue fleet take back what others borrowed from it: set "
        "spec.preemption.reclaimWithinCohort to Any (it is Never)."}},
      {"admitted",
       small + workload("w", 2, held("t4", 2, hour_ago)),
       "It was admitted by ClusterQueue fleet 60m ago.",
       {}},
      {"finished",
       small + workload("w", 2,
                        "status: {conditions: [{type: Finished, status: \"True\", reason: "
                        "Succeeded, message: done, lastTransitionTime: "
                        "\"2026-11-21T11:59:00Z\"}]}\n"),
       "It ended 60s ago: Succeeded: done.",
       {}},
  };
}

TEST(Account, SaysInASentenceWhereAWorkloadStandsAndWhatToDo) {
  for (const SentenceCase& c : sentence_cases()) {
    const Told told(basics + c.objects);
    EXPECT_EQ(summary_of(told.account), c.summary) << c.description;
    EXPECT_THAT(next_steps(told.account), testing::ElementsAreArray(c.steps)) << c.description;
  }
}

std::string node(const std::string& name, const std::string& rack) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         ", uid: node-uid, labels: {rack: " + rack + ", kubernetes.io/hostname: " + name +
         "}}, status: {allocatable: {nvidia.com/gpu: 1, pods: 10}, conditions: [{type: Ready, "
         "status: \"True\"}]}}\n";
}

/// Two racks of two GPUs each.
std::string racks() {
  return R"(---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: default},
 spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: h100},
 spec: {nodeLabels: {pool: h100}, topologyName: default}}
)" + queue("fleet", {{"h100", 8}}) +
         [] {
           std::string nodes;
           for (const char* name : {"a1", "a2", "b1", "b2"}) {
             std::string one = node(name, std::string(1, *name));
             one.insert(one.find("labels: {") + 9, "pool: h100, ");
             nodes += one;
           }
           return nodes;
         }();
}

TEST(Account, SaysWhatTheTopologyHasRoomFor) {
  std::string wants = workload("w", 3);
  wants.replace(wants.find("    template:"), 4, "    topologyRequest: {required: rack}\n    ");
  const Told told(basics + racks() + wants);
  EXPECT_EQ(name_of(told.account.explanation.standing), "topology_placement_failed");
  EXPECT_THAT(summary_of(told.account), testing::StartsWith("There is quota for it, but no place"));
  const auto& flavor = told.account.explanation.tries.at(0).groups.at(0).flavors.at(0);
  EXPECT_EQ(name_of(flavor.verdict), "topology_full");
  EXPECT_THAT(sentence_of(flavor, now), testing::HasSubstr("topology \"default\""));
}

TEST(Account, ShowsThePlacesOfPods) {
  std::string running = workload("w", 2, held("h100", 2, "2026-11-21T11:00:00Z"));
  running.replace(running.find("resourceUsage:"), 0,
                  "topologyAssignment: {levels: [kubernetes.io/hostname], slices: [{domainCount: "
                  "2, valuesPerLevel: [{individual: {roots: [a1, a2]}}], podCounts: {universal: "
                  "1}}]}, ");
  const Told told(basics + racks() + running);
  EXPECT_THAT(told.text(), testing::HasSubstr("Places of main: a1 (1) and a2 (1)\n"));
  EXPECT_EQ(to_json(told.account)["holds"][0]["places"][1]["values"][0], "a2");
}

struct WhyCase {
  const char* description;
  std::string objects;
  std::string why;
};

TEST(Account, SaysWhyPreemptionDoesNotHelp) {
  const std::string hour_ago = "2026-11-21T11:00:00Z";
  const std::string busy = workload("b", 4, held("t4", 4, hour_ago, "other"), "", 9);
  const auto own = [](const std::string& policy) {
    return queue("fleet", {{"t4", 4}}, "  cohortName: team\n  preemption: " + policy + "\n");
  };
  const std::string lender = queue("other", {{"t4", 0}}, "  cohortName: team\n");
  const std::vector<WhyCase> cases = {
      {"no workload of lower priority",
       own("{withinClusterQueue: LowerPriority}") + workload("b", 4, held("t4", 4, hour_ago)),
       "flavor t4: 1 workload of its own ClusterQueue holds some, but none that it may preempt "
       "(withinClusterQueue: LowerPriority)"},
      {"reclaim is off", own("{}") + lender + busy,
       "flavor t4: 1 workload of other ClusterQueues holds some, and "
       "preemption.reclaimWithinCohort is Never"},
      {"others are too important", own("{reclaimWithinCohort: LowerPriority}") + lender + busy,
       "flavor t4: 1 workload of other ClusterQueues holds some, but none that it may preempt "
       "(reclaimWithinCohort: LowerPriority)"},
      {"others use their own",
       queue("fleet", {{"t4", 1}},
             "  cohortName: team\n  preemption: {reclaimWithinCohort: "
             "Any}\n") +
           queue("other", {{"t4", 4}}, "  cohortName: team\n") + busy,
       "flavor t4: 1 workload of other ClusterQueues holds some, which are within their own quota"},
  };
  for (const WhyCase& c : cases) {
    const Told told(basics + c.objects + workload("w", 2));
    const auto& flavor = told.account.explanation.tries.at(0).groups.at(0).flavors.at(0);
    EXPECT_THAT(why_no_preemption(flavor, told.account.explanation.preemption),
                testing::ElementsAre(c.why))
        << c.description;
  }
}

const std::string hub = basics + R"(---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: mk},
 spec: {controllerName: kueue.x-k8s.io/multikueue, parameters: {apiGroup: kueue.x-k8s.io,
 kind: MultiKueueConfig, name: fleet}}, status: {conditions: [{type: Active, status: "True",
 reason: Active, message: m, lastTransitionTime: "2026-11-21T11:00:00Z"}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueConfig, metadata: {name: fleet},
 spec: {clusters: [east, west, south]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster, metadata: {name: east},
 spec: {clusterSource: {kubeConfig: {location: e, locationType: Secret}}},
 status: {conditions: [{type: Active, status: "True", reason: Active, message: Connected,
 lastTransitionTime: "2026-11-21T11:00:00Z"}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster, metadata: {name: west},
 spec: {clusterSource: {kubeConfig: {location: w, locationType: Secret}}},
 status: {conditions: [{type: Active, status: "False", reason: ClientConnectionFailed,
 message: connection refused, lastTransitionTime: "2026-11-21T11:00:00Z"}]}}
)" + queue("fleet", {{"t4", 4}}, "  admissionChecksStrategy: {admissionChecks: [{name: mk}]}\n");

std::string remote(const std::string& more) {
  return R"(status:
  admission:
    clusterQueue: fleet
    podSetAssignments:
    - {name: main, count: 1, flavors: {nvidia.com/gpu: t4}, resourceUsage: {nvidia.com/gpu: 1}}
  conditions:
  - {type: QuotaReserved, status: "True", reason: R, message: m,
     lastTransitionTime: "2026-11-21T11:55:00Z"}
  admissionChecks:
  - {name: mk, state: Pending, message: 'The workload was not admitted yet',
     lastTransitionTime: "2026-11-21T11:55:00Z"}
)" + more;
}

TEST(Account, ShowsTheClustersOfAHub) {
  const Told told(hub + workload("w", 1, remote("  nominatedClusterNames: [east, west]\n")));
  EXPECT_EQ(summary_of(told.account),
            "It has quota of ClusterQueue fleet, reserved 5m ago, and waits for admission checks: "
            "mk (Pending: The workload was not admitted yet). No cluster has admitted it yet; "
            "nominated: east and west.");
  EXPECT_THAT(next_steps(told.account),
              testing::ElementsAre(
                  "Ask cluster east with a kubeconfig of its own: regatta explain workload dev/w "
                  "--kubeconfig …",
                  "Repair the connection to cluster west (ClientConnectionFailed: connection "
                  "refused).",
                  "Create MultiKueueCluster south."));
  EXPECT_THAT(told.text(), testing::HasSubstr(R"(
Clusters (MultiKueueConfig fleet)
  CLUSTER   NOMINATED   RUNS IT   CONNECTED   MESSAGE
  east      yes         no        yes         Connected
  west      yes         no        no          connection refused
  south     no          no        no          there is no MultiKueueCluster of that name
)"));
}

TEST(Account, ShowsOfALargeFleetWhatIsNominated) {
  std::string selecting = hub;
  const std::string metadata = "kind: MultiKueueConfig, metadata: {name: fleet}";
  selecting.replace(selecting.find(metadata), metadata.size(),
                    "kind: MultiKueueConfig, metadata: {name: fleet, annotations: "
                    "{multikueue.regatta.dev/select-clusters: tier=batch}}");
  for (int i = 0; i < 30; ++i) {
    selecting +=
        "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster, metadata: "
        "{name: w" +
        std::to_string(i) +
        ", labels: {tier: batch}}, spec: {clusterSource: {kubeConfig: {location: k, "
        "locationType: Secret}}}}\n";
  }
  const Told told(selecting + workload("w", 1, remote("  nominatedClusterNames: [east, w7]\n")));
  EXPECT_THAT(told.text(), testing::HasSubstr(R"(
  east      yes         no        yes         Connected
  south     no          no        no          there is no MultiKueueCluster of that name
  w7        yes         no        no
  and 30 clusters that are not nominated
)"));
  EXPECT_THAT(next_steps(told.account), testing::SizeIs(6));
  EXPECT_EQ(next_steps(told.account).back(),
            "Repair the connections to 28 other clusters (kubectl get multikueueclusters).");
}

TEST(Account, SaysWhyOtherClustersAreNotAsked) {
  std::string status = remote("  nominatedClusterNames: [east]\n");
  const std::string reserved = "  - {type: QuotaReserved";
  status.insert(
      status.find(reserved),
      "  - {type: Dispatched, status: \"False\", reason: Racing,\n"
      "     message: 'Worker clusters are asked: east; not west, which has no room now',\n"
      "     lastTransitionTime: \"2026-11-21T11:55:00Z\"}\n");
  const Told told(hub + workload("w", 1, status));
  EXPECT_THAT(told.text(),
              testing::HasSubstr("\n  Worker clusters are asked: east; not west, which "
                                 "has no room now.\n"));
  EXPECT_EQ(to_json(told.account)["multiKueue"]["message"],
            "Worker clusters are asked: east; not west, which has no room now");
}

TEST(Account, NamesTheClusterThatRunsIt) {
  const Told told(hub + workload("w", 1, remote("  clusterName: east\n")));
  EXPECT_THAT(summary_of(told.account), testing::EndsWith("It runs on cluster east."));
  EXPECT_TRUE(next_steps(told.account).empty());
  const Json json = to_json(told.account);
  EXPECT_EQ(json["standing"], "WaitsForChecks");
  EXPECT_EQ(json["multiKueue"]["clusterName"], "east");
  EXPECT_EQ(json["multiKueue"]["clusters"][0]["runsIt"], true);
  EXPECT_EQ(json["holds"][0]["usage"]["nvidia.com/gpu"], "1");
}

TEST(Account, AsJsonHasNumbersAndReasons) {
  const Told told(basics + queue("fleet", {{"t4", 4}}) +
                  workload("busy", 3, held("t4", 3, "2026-11-21T11:40:00Z")) + workload("w", 3));
  const Json json = to_json(told.account);
  EXPECT_EQ(json["standing"], "WaitsForQuota");
  EXPECT_EQ(json["reason"], "WaitingForQuota");
  EXPECT_EQ(json["queue"]["place"], 1);
  const Json& flavor = json["podSets"][0]["flavors"][0];
  EXPECT_EQ(flavor["verdict"], "NoCandidates");
  EXPECT_EQ(flavor["resources"][0]["missing"], "2");
  EXPECT_EQ(flavor["enoughWhenFinished"][0]["workload"], "dev/busy");
  EXPECT_EQ(flavor["enoughWhenFinished"][0]["amounts"]["nvidia.com/gpu"], "3");
}

TEST(Account, OfAnUnknownWorkloadSaysWhatMayHaveBeenMeant) {
  const std::string yaml = basics + queue("fleet", {{"t4", 4}}) + R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  namespace: dev
  name: job-train-1a2b3
  uid: u
  ownerReferences:
  - {apiVersion: batch/v1, kind: Job, name: train, uid: j, controller: true}
spec: {queueName: main, active: true, podSets: [{name: main, count: 1, template: {spec: {
  restartPolicy: Never, containers: [{name: c, image: i}]}}}]}
)";
  Manifests read;
  reader().read(yaml, "test", &read, ManifestOrigin::snapshot);
  admission::State state;
  feed(&state, read.objects, now);
  const auto given = give_account(state, read.objects, {"dev", "train"}, now);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().what(),
            "there is no Workload dev/train; did you mean dev/job-train-1a2b3 (of Job train)");
}

}  // namespace
}  // namespace regatta::whatif
