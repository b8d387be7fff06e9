#include "whatif/manifests/reader.h"

#include "lib/api/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::whatif {
namespace {

const TimePoint start = *parse_rfc3339("2026-01-01T00:00:00Z");

Manifests read(std::string_view text, ManifestOrigin origin = ManifestOrigin::user) {
  ManifestReader reader(start);
  Manifests out;
  reader.read(text, "a.yaml", &out, origin);
  return out;
}

std::string only_error(std::string_view text) {
  const Manifests out = read(text);
  EXPECT_EQ(out.objects.size(), 0u);
  return out.errors.size() == 1 ? out.errors.front() : std::to_string(out.errors.size());
}

constexpr std::string_view queue = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]
)";

constexpr std::string_view job = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: lq}}
spec:
  parallelism: 3
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
)";

TEST(ManifestReader, FillsInDefaultsAsTheServerAndTheWebhooksDo) {
  const Manifests out = read(std::string(queue) + "---" + std::string(job));
  EXPECT_EQ(out.errors, std::vector<std::string>());
  ASSERT_EQ(out.objects.size(), 2u);
  const auto& cq = std::get<api::ClusterQueue>(out.objects[0]);
  EXPECT_EQ(cq.spec.queueing_strategy, api::QueueingStrategy::BestEffortFIFO);
  EXPECT_TRUE(cq.metadata.has_finalizer(api::finalizers::resource_in_use));
  const auto& made = std::get<api::Job>(out.objects[1]);
  EXPECT_EQ(made.metadata.ns, "default");
  EXPECT_EQ(made.metadata.creation_timestamp, start);
  EXPECT_EQ(made.metadata.uid.size(), 36u);
  EXPECT_EQ(made.spec.backoff_limit, 6);
  EXPECT_EQ(describe(out.objects[1]), "Job default/j");
}

TEST(ManifestReader, TakesTheOlderVersion) {
  const Manifests out = read(R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq}
spec: {cohort: all}
)");
  ASSERT_EQ(out.objects.size(), 1u) << out.errors.front();
  EXPECT_EQ(std::get<api::ClusterQueue>(out.objects[0]).spec.cohort_name, "all");
}

TEST(ManifestReader, TakesListsApartAndLeavesOutWhatPlaysNoPart) {
  const Manifests out = read(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: a}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
- {apiVersion: example.dev/v1, kind: Widget, metadata: {name: c}}
)");
  EXPECT_EQ(out.errors, std::vector<std::string>());
  EXPECT_EQ(out.objects.size(), 1u);
  EXPECT_EQ(out.ignored, (std::map<std::string, std::size_t>{{"ConfigMap (v1)", 1},
                                                             {"Widget (example.dev/v1)", 1}}));
}

TEST(ManifestReader, RefusesWhatTheServerRefuses) {
  const auto changed = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_EQ(only_error(changed(std::string(queue), "coveredResources: [cpu]",
                               "coveredResources: [cpu]\n    colour: red")),
            "a.yaml: ClusterQueue cq: unknown field "
            "\"spec.resourceGroups[0].colour\"");
  EXPECT_EQ(only_error(changed(std::string(queue), "nominalQuota: 4", "nominalQuota: -4")),
            "a.yaml: ClusterQueue cq: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "
            "Invalid value: \"-4\": must be greater than or equal to 0");
  EXPECT_EQ(only_error(changed(std::string(queue), "name: cq", "name: C_Q")).substr(0, 55),
            "a.yaml: ClusterQueue C_Q: metadata.name: Invalid value:");
  EXPECT_EQ(only_error(changed(std::string(job), "parallelism: 3", "parallelism: -3")),
            "a.yaml: Job j: spec.parallelism: Invalid value: -3: must be greater than or equal to "
            "0");
  EXPECT_EQ(only_error(changed(std::string(job), "batch/v1", "batch/v7")),
            "a.yaml: Job j: no matches for kind \"Job\" in version \"batch/v7\"");
  EXPECT_EQ(only_error("a: ["), "a.yaml: yaml: line 1: end of sequence flow not found");
}

TEST(ManifestReader, SaysInWhichDocumentAndField) {
  const auto errors = [](std::string_view text) { return read(text).errors; };
  const std::string two = std::string(queue) + "---" + std::string(job);
  const std::size_t at = two.find("cpu: 1");
  EXPECT_THAT(errors(std::string(two).replace(at, 6, "cpu: 1x")),
              testing::ElementsAre(testing::StartsWith(
                  "a.yaml: document 2: Job j: spec.template.spec.containers[0].resources.requests."
                  "cpu: quantities must match")));
  EXPECT_THAT(errors(std::string(two).replace(at, 6, "cpu: [1]")),
              testing::ElementsAre(testing::StartsWith(
                  "a.yaml: document 2: Job j: spec.template.spec.containers[0].resources.requests."
                  "cpu: quantities must match")));
  EXPECT_THAT(errors(R"({"kind": "List", "items": {}})"),
              testing::ElementsAre("a.yaml: List: items: expected a list"));
  EXPECT_THAT(errors("{kind: Job, apiVersion: batch/v1}\n---\na: 1\na: 2\n"),
              testing::ElementsAre("a.yaml: yaml: line 4: key \"a\" is there already"));
  EXPECT_THAT(errors(R"({"kind": "List", "items": [{"apiVersion": "v1", "kind": "Namespace"}]})"),
              testing::ElementsAre(testing::StartsWith("a.yaml: items[0]: Namespace: ")));
}

TEST(ManifestReader, ItemsOfATypedListAreOfItsKind) {
  const Manifests out = read(R"({"kind": "NamespaceList", "apiVersion": "v1",
                                 "items": [{"metadata": {"name": "a"}}]})");
  EXPECT_EQ(out.errors, std::vector<std::string>());
  ASSERT_EQ(out.objects.size(), 1u);
  EXPECT_EQ(name_of(out.objects[0]).kind, "Namespace");
}

TEST(ManifestReader, AKindThatIsNearlyRightIsAMistake) {
  const auto error = [](const std::string& version, const std::string& kind) {
    const Manifests out =
        read("{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: x}}");
    return out.errors.empty() ? "" : out.errors.front();
  };
  EXPECT_EQ(error("batch/v1", "Jobb"),
            "a.yaml: Jobb x: kind: there is no Jobb (batch/v1); did you mean \"Job\"?");
  EXPECT_EQ(error("kueue.x-k8s.io/v1beta2", "Quota"),
            "a.yaml: Quota x: kind: there is no Quota (kueue.x-k8s.io/v1beta2)");
  EXPECT_EQ(error("kueue.x-k8s.io/v1beta2", "ProvisioningRequestConfig"), "");
  for (const char* kind : {"Secret", "Service", "ServiceAccount", "Event", "ConfigMap", "Endpoints",
                           "ResourceQuota", "PersistentVolume", "ReplicationController"}) {
    EXPECT_EQ(error("v1", kind), "");
  }
  EXPECT_EQ(error("batch/v1", "CronJob"), "");
}

TEST(ManifestReader, AUserSetsNoStatusASnapshotKeepsIt) {
  constexpr std::string_view text = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: ns, uid: "7", creationTimestamp: "2025-01-01T00:00:00Z"}
spec:
  queueName: lq
  podSets:
  - {name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}
status:
  conditions:
  - {type: Finished, status: "True", reason: Succeeded, message: "",
     lastTransitionTime: "2025-01-02T00:00:00Z"}
)";
  const Manifests fresh = read(text);
  ASSERT_EQ(fresh.objects.size(), 1u) << fresh.errors.front();
  EXPECT_EQ(std::get<api::Workload>(fresh.objects[0]).status.conditions.size(), 0u);
  EXPECT_EQ(std::get<api::Workload>(fresh.objects[0]).metadata.creation_timestamp, start);
  const Manifests kept = read(text, ManifestOrigin::snapshot);
  ASSERT_EQ(kept.objects.size(), 1u) << kept.errors.front();
  EXPECT_EQ(std::get<api::Workload>(kept.objects[0]).status.conditions.size(), 1u);
  EXPECT_EQ(std::get<api::Workload>(kept.objects[0]).metadata.uid, "7");
}

}  // namespace
}  // namespace regatta::whatif
