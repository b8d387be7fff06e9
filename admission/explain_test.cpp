#include "admission/explain.h"

#include "admission/cycle.h"
#include "admission/testing/objects.h"
#include "lib/base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

using testing::Loaded;
using testing::local_queue_yaml;
using testing::queue_yaml;
using testing::running_yaml;
using testing::start;
using testing::workload_yaml;

constexpr TimePoint now = start + std::chrono::hours(1);

Explanation explain_in(Loaded& world, const std::string& name) {
  return explain(world.state, world.workload(name), now);
}

std::string one_queue(const std::string& more = "") {
  return queue_yaml("main", 4, more) + local_queue_yaml("main");
}

/// c1, below it c2, and so on.
std::string cohorts_in_a_row(int count) {
  std::string objects;
  for (int i = 1; i <= count; ++i) {
    objects += "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: c" +
               std::to_string(i) + "}, spec: {parentName: \"" +
               (i == 1 ? "" : "c" + std::to_string(i - 1)) + "\"}}\n";
  }
  return objects;
}

std::vector<std::string> names_of(const std::vector<Holder>& holders) {
  std::vector<std::string> names;
  for (const Holder& holder : holders) names.push_back(holder.key.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<Victim>& victims) {
  std::vector<std::string> names;
  for (const Victim& victim : victims) names.push_back(victim.holder.key.name);
  return names;
}

const FlavorTry& first_flavor(const Explanation& explanation) {
  return explanation.tries.at(0).groups.at(0).flavors.at(0);
}

struct StandingCase {
  const char* description;
  std::string objects;
  std::string more;  ///< lines after the workload's: its status, or another document
  Standing standing;
  std::string detail;
};

std::string status_of(const std::string& type, const std::string& status,
                      const std::string& reason) {
  return "status:\n  conditions:\n  - {type: " + type + ", status: \"" + status +
         "\", reason: " + reason + ", message: m, lastTransitionTime: \"2026-01-01T00:00:00Z\"}\n";
}

std::vector<StandingCase> standing_cases() {
  const std::string small = workload_yaml("w", "main", 1);
  const std::string conditions = small + "status:\n  conditions:\n";
  const std::string local = local_queue_yaml("main");
  return {
      {"room for it", one_queue(), small, Standing::fits, ""},
      {"it has ended", one_queue(), small + status_of("Finished", "True", "Succeeded"),
       Standing::finished, ""},
      {"it runs", one_queue(), running_yaml("w", "main", 1), Standing::admitted, ""},
      {"it is switched off", one_queue(), workload_yaml("w", "main", 1) + "  active: false\n",
       Standing::inactive, ""},
      {"its job holds it back", one_queue(), small + status_of("QuotaReserved", "False", "OnHold"),
       Standing::on_hold, ""},
      {"an annotation holds it back", one_queue(),
       "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {namespace: dev, name: "
       "w, annotations: {kueue.x-k8s.io/admission-gated-by: acme.dev/gate}}, spec: {queueName: "
       "main, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c}]}}}]}}",
       Standing::gated, "acme.dev/gate"},
      {"pods are being replaced", one_queue(),
       small + status_of("WaitingForReplacementPods", "True", "PodsFailed"),
       Standing::waits_for_replacement_pods, ""},
      {"its LocalQueue does not exist", one_queue(), workload_yaml("w", "nowhere", 1),
       Standing::no_local_queue, ""},
      {"its LocalQueue is stopped",
       queue_yaml("main", 4) +
           "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, "
           "name: main}, spec: {clusterQueue: main, stopPolicy: Hold}}",
       small, Standing::local_queue_stopped, ""},
      {"its LocalQueue leads nowhere", local, small, Standing::no_cluster_queue, ""},
      {"its ClusterQueue is stopped", one_queue("  stopPolicy: HoldAndDrain"), small,
       Standing::cluster_queue_inactive, ""},
      {"an admission check is missing",
       one_queue("  admissionChecksStrategy: {admissionChecks: [{name: budget}]}"), small,
       Standing::cluster_queue_inactive, ""},
      {"its Cohort is its own grandparent",
       "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: a}, spec: "
       "{parentName: b}}\n---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: "
       "b}, spec: {parentName: a}}\n" +
           one_queue("  cohortName: a"),
       small, Standing::cluster_queue_inactive, "the parents of its Cohort lead into a circle"},
      {"its Cohort stands below too many others",
       cohorts_in_a_row(101) + one_queue("  cohortName: c101"), small,
       Standing::cluster_queue_inactive,
       "in the tree of its Cohort more than 100 Cohorts stand one below another"},
      {"its namespace is not selected",
       queue_yaml("main", 4) + local +
           "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: main}, "
           "spec: {namespaceSelector: {matchLabels: {team: prod}}}}",
       small, Standing::namespace_mismatch, "team=prod"},
      {"a check failed", one_queue(),
       small + "status:\n  admissionChecks:\n  - {name: budget, state: Retry, message: m, "
               "lastTransitionTime: \"2026-01-01T00:00:00Z\"}\n",
       Standing::failed_checks, ""},
      {"its backoff is not over", one_queue(),
       small + "status: {requeueState: {count: 2, requeueAt: \"2030-01-01T00:00:00Z\"}}\n",
       Standing::backoff, ""},
      {"other workloads hold the quota", one_queue() + running_yaml("a", "main", 4), small,
       Standing::waits_for_quota, ""},
      {"it may preempt them",
       one_queue("  preemption: {withinClusterQueue: LowerPriority}") +
           running_yaml("a", "main", 4, -1),
       small, Standing::preempts, ""},
      {"more than there is", one_queue(), workload_yaml("w", "main", 5), Standing::exceeds_quota,
       ""},
      {"no flavor suits", one_queue() + R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
spec: {nodeTaints: [{key: gpu, value: a100, effect: NoSchedule}]}
)",
       small, Standing::no_flavor, ""},
  };
}

TEST(Explain, SaysWhereAWorkloadStands) {
  for (const StandingCase& c : standing_cases()) {
    Loaded world(c.objects);
    world.load(c.more);
    const Explanation explanation = explain_in(world, "w");
    EXPECT_EQ(name_of(explanation.standing), name_of(c.standing)) << c.description;
    EXPECT_EQ(explanation.detail, c.detail) << c.description;
  }
}

TEST(Explain, ReportsThePlaceInBothQueuesAndTheWorkloadsAhead) {
  Loaded world(one_queue() + local_queue_yaml("main", "other") + running_yaml("full", "main", 4) +
               workload_yaml("first", "other", 1, 10) + workload_yaml("second", "main", 1, 5) +
               workload_yaml("w", "main", 2) + workload_yaml("zz", "main", 1));
  const Explanation explanation = explain_in(world, "w");
  EXPECT_EQ(explanation.in_cluster_queue.place, 3U);
  EXPECT_EQ(explanation.in_cluster_queue.of, 4U);
  EXPECT_EQ(explanation.in_local_queue.place, 2U);
  EXPECT_EQ(explanation.in_local_queue.of, 3U);
  EXPECT_THAT(explanation.ahead, ::testing::ElementsAre(api::ObjectKey("dev", "first"),
                                                        api::ObjectKey("dev", "second")));
}

TEST(Explain, NamesTheWorkloadWhoseTurnParkedIt) {
  Loaded world(one_queue() + running_yaml("full", "main", 4) + workload_yaml("a", "main", 2) +
               workload_yaml("b", "main", 2) + workload_yaml("c", "main", 3));
  run_cycle(world.state, now);
  const Explanation first = explain_in(world, "a");
  EXPECT_TRUE(first.parked);
  EXPECT_FALSE(first.parked_like);
  const Explanation second = explain_in(world, "b");
  EXPECT_TRUE(second.parked);
  EXPECT_EQ(second.parked_like, api::ObjectKey("dev", "a"));
  EXPECT_EQ(second.in_cluster_queue.place, 2U) << "parked workloads keep their place";
  EXPECT_FALSE(explain_in(world, "c").parked);
}

TEST(Explain, CountsWhatIsMissing) {
  // main owns 4 and uses 3; lender owns 4 and uses 5, one of which main owns: 0 are left.
  Loaded world(queue_yaml("main", 4, "  cohortName: team") + local_queue_yaml("main") +
               queue_yaml("lender", 4, "  cohortName: team") + local_queue_yaml("lender") +
               running_yaml("a", "main", 3) + running_yaml("b", "lender", 5) +
               workload_yaml("w", "main", 2));
  const Explanation explanation = explain_in(world, "w");
  const FlavorTry& flavor = first_flavor(explanation);
  EXPECT_EQ(name_of(flavor.verdict), "no_candidates");
  ASSERT_EQ(flavor.lines.size(), 1U);
  const QuotaLine& cpu = flavor.lines[0];
  EXPECT_EQ(cpu.requested, 2000);
  EXPECT_EQ(cpu.nominal, 4000);
  EXPECT_EQ(cpu.used, 3000);
  EXPECT_EQ(cpu.available, 0);
  EXPECT_EQ(cpu.lent, 1000);
  EXPECT_EQ(cpu.borrowable, 0);
  EXPECT_EQ(cpu.maximum, 8000);
  EXPECT_EQ(cpu.missing, 2000);
  EXPECT_EQ(flavor.chances.own, 1U);
  EXPECT_EQ(flavor.chances.others, 1U);
  EXPECT_EQ(flavor.chances.others_borrow, 1U);
  EXPECT_EQ(flavor.chances.others_allowed, 0U);
  EXPECT_TRUE(flavor.chances.beyond_nominal);
  EXPECT_EQ(explanation.message,
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
            "default, 2 more needed");
}

TEST(Explain, NamesWorkloadsThatWouldHaveToFinishTheLongestRunningFirst) {
  Loaded world(one_queue() + running_yaml("young", "main", 1, 0, 30) +
               running_yaml("old", "main", 1, 0, 5) + running_yaml("big", "main", 2, 0, 10) +
               workload_yaml("w", "main", 2) + workload_yaml("w1", "main", 1));
  // old and big together are more than enough; without big, old and young would do as well.
  EXPECT_THAT(names_of(first_flavor(explain_in(world, "w")).enough_when_gone),
              ::testing::ElementsAre("big"));
  EXPECT_THAT(names_of(first_flavor(explain_in(world, "w1")).enough_when_gone),
              ::testing::ElementsAre("old"));
}

TEST(Explain, NamesNoWorkloadsWhenWaitingIsInVain) {
  Loaded world(one_queue() + running_yaml("a", "main", 4) + workload_yaml("w", "main", 5));
  const FlavorTry flavor = first_flavor(explain_in(world, "w"));
  EXPECT_EQ(name_of(flavor.verdict), "exceeds_maximum");
  EXPECT_TRUE(flavor.enough_when_gone.empty());
}

TEST(Explain, NamesTheVictimsOfTheNextCycle) {
  Loaded world(one_queue("  preemption: {withinClusterQueue: LowerPriority}") +
               running_yaml("low", "main", 2, 1) + running_yaml("lower", "main", 2, 0) +
               workload_yaml("w", "main", 2, 5));
  const Explanation explanation = explain_in(world, "w");
  EXPECT_EQ(name_of(explanation.standing), "preempts");
  EXPECT_THAT(names_of(explanation.victims), ::testing::ElementsAre("lower"));
  EXPECT_EQ(name_of(first_flavor(explanation).verdict), "preempts");
  EXPECT_TRUE(first_flavor(explanation).chosen);
  const CycleResult cycle = run_cycle(world.state, now);
  ASSERT_EQ(cycle.preempted.size(), 1U);
  EXPECT_EQ(cycle.preempted[0].key.name, "lower");
}

constexpr const char* three_flavors = R"(---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: tainted},
 spec: {nodeTaints: [{key: gpu, value: a100, effect: NoSchedule}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: arm},
 spec: {nodeLabels: {arch: arm}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: main}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - {name: tainted, resources: [{name: cpu, nominalQuota: 9}, {name: memory, nominalQuota: 9Gi}]}
    - {name: arm, resources: [{name: cpu, nominalQuota: 9}, {name: memory, nominalQuota: 9Gi}]}
    - {name: default, resources: [{name: cpu, nominalQuota: 3}, {name: memory, nominalQuota: 9Gi}]}
  - coveredResources: [gpu]
    flavors: [{name: missing, resources: [{name: gpu, nominalQuota: 1}]}]
)";

TEST(Explain, LooksAtEveryFlavor) {
  Loaded world(three_flavors + local_queue_yaml("main"));
  world.load(R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: missing}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {namespace: dev, name: w}
spec:
  queueName: main
  podSets:
  - {name: driver, count: 1, template: {spec: {nodeSelector: {arch: x86},
     containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}
  - {name: workers, count: 2, template: {spec: {nodeSelector: {arch: x86},
     containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi, disk: 1}}}]}}}
)");
  const Explanation explanation = explain_in(world, "w");
  ASSERT_EQ(explanation.tries.size(), 2U);
  const auto& driver = explanation.tries[0];
  ASSERT_EQ(driver.groups.size(), 1U);
  EXPECT_THAT(driver.groups[0].resources, ::testing::ElementsAre("cpu", "memory"));
  const auto& flavors = driver.groups[0].flavors;
  ASSERT_EQ(flavors.size(), 3U);
  EXPECT_EQ(name_of(flavors[0].verdict), "untolerated_taint");
  EXPECT_EQ(flavors[0].detail, "gpu=a100:NoSchedule");
  EXPECT_EQ(name_of(flavors[1].verdict), "affinity_mismatch");
  EXPECT_EQ(flavors[1].detail, "its nodes have arch=arm, the pods ask for arch=x86");
  EXPECT_EQ(name_of(flavors[2].verdict), "fits");
  const auto& workers = explanation.tries[1];
  EXPECT_THAT(workers.uncovered, ::testing::ElementsAre("disk"));
  EXPECT_EQ(workers.groups[0].flavors[2].lines[0].before, 1000) << "the driver comes first";
  EXPECT_EQ(name_of(explanation.standing), "no_flavor");
}

TEST(Explain, KnowsThatOthersMustBeReadyFirst) {
  Config config;
  config.block_admission = true;
  Loaded world(one_queue() + running_yaml("starting", "main", 1) + workload_yaml("w", "main", 1),
               config);
  EXPECT_EQ(name_of(explain_in(world, "w").standing), "waits_for_pods_ready");
  world.state.erase_workload({"dev", "starting"}, now);
  EXPECT_EQ(name_of(explain_in(world, "w").standing), "fits");
}

TEST(Explain, ListsChecksWithWhatTheirControllersSaid) {
  Loaded world(R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: budget},
 spec: {controllerName: acme.dev/budget}, status: {conditions: [{type: Active, status: "True",
 reason: Active, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}}
)" + one_queue("  admissionChecksStrategy: {admissionChecks: [{name: budget}]}") +
               workload_yaml("w", "main", 1) + R"(status:
  admission:
    clusterQueue: main
    podSetAssignments:
    - {name: main, count: 1, flavors: {cpu: default}, resourceUsage: {cpu: 1}}
  admissionChecks: [{name: budget, state: Pending, message: asking finance,
                     lastTransitionTime: "2026-01-01T00:00:00Z"}]
  conditions:
  - {type: QuotaReserved, status: "True", reason: R, message: m,
     lastTransitionTime: "2026-01-01T00:00:00Z"}
)");
  const Explanation explanation = explain_in(world, "w");
  EXPECT_EQ(name_of(explanation.standing), "waits_for_checks");
  ASSERT_EQ(explanation.checks.size(), 1U);
  EXPECT_EQ(explanation.checks[0].message, "asking finance");
  ASSERT_EQ(explanation.held.size(), 1U);
  EXPECT_EQ(explanation.held[0].flavors.at("cpu"), "default");
}

TEST(Explain, SaysHowManyPodsWouldRun) {
  Loaded world(one_queue() + R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {namespace: dev, name: w}
spec:
  queueName: main
  podSets:
  - {name: main, count: 6, minCount: 2, template: {spec: {
     containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
)");
  const Explanation explanation = explain_in(world, "w");
  EXPECT_EQ(name_of(explanation.standing), "fits");
  EXPECT_EQ(explanation.fewer_pods, 4);
}

/// A ClusterQueue with two flavors; the search tries the second one only when it could preempt in
/// the first.
std::string two_flavor_queue(const std::string& name, int first, int second,
                             const std::string& more) {
  const auto flavor = [](const std::string& called, int cpus) {
    return "{name: " + called + ", resources: [{name: cpu, nominalQuota: " + std::to_string(cpus) +
           "}]}";
  };
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: " + name +
         "}\nspec:\n  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [cpu]\n" +
         "    flavors: [" + flavor("default", first) + ", " + flavor("spare", second) + "]\n" +
         more + "\n";
}

/// A world in which everything can happen, from a seed.
std::string random_world(std::uint64_t seed) {
  Rng rng(seed);
  std::string yaml =
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: spare}}\n";
  const auto pick = [&](int n) { return static_cast<int>(rng.between(0, n - 1)); };
  const char* search[] = {"TryNextFlavor", "MayStopSearch"};
  const char* within[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
  const char* reclaim[] = {"Never", "LowerPriority", "Any"};
  for (int q = 0; q < 4; ++q) {
    const std::string name = "q" + std::to_string(q);
    yaml += two_flavor_queue(name, 2 + pick(6), pick(4),
                             (pick(4) > 0 ? "  cohortName: team\n" : std::string()) +
                                 "  preemption: {withinClusterQueue: " + within[pick(3)] +
                                 ", reclaimWithinCohort: " + reclaim[pick(3)] + "}" +
                                 "\n  flavorFungibility: {whenCanPreempt: " + search[pick(2)] +
                                 "}" + (pick(3) == 0 ? "\n  queueingStrategy: StrictFIFO" : ""));
    yaml += local_queue_yaml(name);
    for (int w = 0; w < 3; ++w) {
      const std::string suffix = std::to_string(q) + "-" + std::to_string(w);
      if (pick(3) > 0) yaml += running_yaml("r" + suffix, name, 1 + pick(3), pick(3), pick(9));
      yaml += workload_yaml("w" + suffix, name, 1 + pick(5), pick(4));
    }
  }
  return yaml;
}

std::string played(Loaded& world, bool explaining) {
  std::string story;
  for (int cycle = 0; cycle < 6; ++cycle) {
    if (explaining) {
      for (const auto& [key, workload] : world.workloads) explain(world.state, workload, now);
    }
    const CycleResult result = run_cycle(world.state, now);
    for (const auto& admitted : result.admitted) story += "+" + admitted.key.name;
    for (const auto& pending : result.pending) story += " " + pending.key.name + pending.message;
    for (const auto& victim : result.preempted) {
      story += "-" + victim.key.name;
      world.state.upsert(world.workload("w" + victim.key.name.substr(1)), now);
      world.state.erase_workload(victim.key, now);
    }
    world.state.flush(now + std::chrono::hours(cycle));
    for (const std::string& queue : world.state.reader().cluster_queues()) {
      const api::ClusterQueueStatus status = world.state.reader().status(queue);
      story += "\n" + queue + " " + std::to_string(status.pending_workloads) + " " +
               status.flavors_reservation[0].resources[0].total.str();
    }
  }
  return story;
}

TEST(Explain, LeavesNoTrace) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Config config;
    if (seed % 2 == 0) config.fair_sharing.emplace();
    Loaded asked(random_world(seed), config);
    Loaded left_alone(random_world(seed), config);
    EXPECT_EQ(played(asked, true), played(left_alone, false)) << "seed " << seed;
  }
}

TEST(Explain, SaysOfEveryHeadWhatTheCycleThenDecides) {
  int preemptions = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Loaded world(random_world(seed));
    std::map<api::ObjectKey, Explanation> said;
    for (const auto& [key, workload] : world.workloads) {
      said[key] = explain(world.state, workload, now);
    }
    const CycleResult result = run_cycle(world.state, now);
    for (const AdmittedWorkload& admitted : result.admitted) {
      EXPECT_EQ(name_of(said[admitted.key].standing), "fits") << admitted.key.str();
      EXPECT_EQ(said[admitted.key].in_cluster_queue.place, 1U);
    }
    for (const PendingWorkload& pending : result.pending) {
      EXPECT_EQ(said[pending.key].in_cluster_queue.place, 1U);
      if (pending.reason != "WaitingForQuota" && pending.reason != "ExceedsMaxQuota") continue;
      const auto says = [&](const char* text) {
        return pending.message.find(text) != std::string::npos;
      };
      const bool looked_twice = says("another workload") || says("nomination mapping");
      if (!looked_twice) EXPECT_EQ(said[pending.key].message, pending.message);
    }
    std::set<api::ObjectKey> preemptors, expected, preempted;
    for (const PreemptedWorkload& victim : result.preempted) {
      preemptors.insert(victim.preemptor->key);
      preempted.insert(victim.key);
      for (const Victim& known : said[victim.preemptor->key].victims)
        expected.insert(known.holder.key);
    }
    if (preemptors.size() != 1) continue;  // later preemptors see what earlier ones take
    ++preemptions;
    EXPECT_EQ(preempted, expected) << "seed " << seed;
  }
  EXPECT_GT(preemptions, 5) << "the worlds are too peaceful";
}

}  // namespace
}  // namespace regatta::admission
