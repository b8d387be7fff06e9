#include "admission/cycle.h"
#include "admission/testing/objects.h"

#include <gtest/gtest.h>

#include <ostream>

namespace regatta::admission {
namespace {

using testing::Loaded;
using testing::start;

constexpr std::string_view two_flavors = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: reserved}
spec:
  nodeTaints: [{key: team, value: a, effect: NoSchedule}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: spot}
)";

/// A ClusterQueue "main" with these quotas of CPUs by flavor, in that order.
std::string queue_of(const std::vector<std::pair<std::string, int>>& flavors,
                     const std::string& more) {
  std::string yaml = R"(
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: main}
spec:
  namespaceSelector: {}
)" + more + R"(
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
)";
  for (const auto& [name, cpus] : flavors) {
    yaml += "    - {name: " + name +
            ", resources: [{name: cpu, nominalQuota: " + std::to_string(cpus) + "}]}\n";
  }
  return yaml;
}

struct Attempts {
  std::string name;
  std::vector<std::pair<std::string, int>> flavors;
  std::string more;  ///< of the ClusterQueue's spec
  int cpus = 1;
  std::string considered;
};

void PrintTo(const Attempts& c, std::ostream* out) {
  *out << c.name;
}

class FlavorAttempts : public ::testing::TestWithParam<Attempts> {};

TEST_P(FlavorAttempts, AreToldWithTheReservation) {
  const Attempts& c = GetParam();
  Loaded world(std::string(two_flavors) + queue_of(c.flavors, c.more) +
               testing::queue_yaml("lender", 4, "  cohortName: pool\n") +
               testing::local_queue_yaml("main"));
  world.load(testing::running_yaml("runs", "main", 2));
  world.load(testing::workload_yaml("w", "main", c.cpus, 10));
  const CycleResult result = run_cycle(world.state, start);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_EQ(result.admitted[0].considered, c.considered);
}

INSTANTIATE_TEST_SUITE_P(
    All, FlavorAttempts,
    ::testing::Values(
        Attempts{"the first flavor suits", {{"default", 4}, {"spot", 4}}, "", 1, ""},
        Attempts{"the first flavor is borrowed",
                 {{"default", 2}, {"spot", 4}},
                 "  cohortName: pool",
                 1,
                 "main: default(Fit;borrow=1)"},
        Attempts{"the first flavor is too small",
                 {{"default", 2}, {"spot", 4}},
                 "",
                 3,
                 "main: default(NoFit;insufficient quota for cpu in flavor default, previously "
                 "considered podsets requests (0) + current podset request (3) > maximum capacity "
                 "(2))"},
        Attempts{"the first flavor would need a preemption",
                 {{"default", 2}, {"spot", 4}},
                 "  preemption: {withinClusterQueue: LowerPriority}",
                 1,
                 "main: default(preemptionMode=Preempt;insufficient unused quota for cpu in flavor "
                 "default, 1 more needed)"},
        Attempts{"no workload may be preempted in the first flavor",
                 {{"default", 2}, {"spot", 4}},
                 "",
                 1,
                 "main: default(preemptionMode=NoCandidates;insufficient unused quota for cpu in "
                 "flavor default, 1 more needed)"},
        Attempts{"by name of the flavor, whichever was tried first",
                 {{"reserved", 4}, {"default", 2}, {"spot", 4}},
                 "",
                 1,
                 "main: default(preemptionMode=NoCandidates;insufficient unused quota for cpu in "
                 "flavor default, 1 more needed), reserved(NoFit;untolerated taint {team a "
                 "NoSchedule <nil>} in flavor reserved)"}));

}  // namespace
}  // namespace regatta::admission
