#include "whatif/engine/testing/inputs.h"

#include "whatif/manifests/reader.h"

#include <gtest/gtest.h>

namespace regatta::whatif {

TimePoint start_of_tests() {
  return *parse_rfc3339("2026-01-01T00:00:00Z");
}

std::vector<Object> objects(std::string_view manifests) {
  // A reader counts the uids that it gives, so one that is shared would not give the same ones.
  ManifestReader reader(start_of_tests());
  Manifests out;
  reader.read(manifests, "test", &out);
  EXPECT_EQ(out.errors, std::vector<std::string>());
  return std::move(out.objects);
}

std::string one_queue(const std::string& quota, const std::string& more) {
  return R"(
{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {kueue: "yes"}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team}
spec: {clusterQueue: cq}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: )" +
         quota + "}]}]\n" + more + "\n---\n";
}

const WorkloadRecord& record(const Report& report, const std::string& job) {
  for (const WorkloadRecord& one : report.workloads) {
    if (one.job == job || one.name == job) return one;
  }
  static const WorkloadRecord nothing;
  ADD_FAILURE() << "no record of " << job;
  return nothing;
}

}  // namespace regatta::whatif
