#include "manager/core_config.h"
#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;

/// The ClusterQueue has 4 CPUs and 10 credits.
class Resources : public OneCluster {
 protected:
  void start(const std::string& configuration) {
    apply(flavor_yaml);
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, example.com/credits]
    flavors:
    - name: cpu-only
      resources: [{name: cpu, nominalQuota: "4"}, {name: example.com/credits, nominalQuota: "10"}]
)");
    apply(local_queue_yaml);
    const auto configured = manager::load_configuration(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + configuration);
    ASSERT_TRUE(configured) << configured.error().what();
    auto core = manager::core_config(*configured, "m");
    ASSERT_TRUE(core) << core.error().what();
    start_manager(std::move(*core));
    settle();
  }
  /// Submits a Job of one pod with those limits, which are its requests too, and with `more` in its
  /// spec.
  void submit(const std::string& name, const std::string& limits, const std::string& more = "") {
    apply("apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
          ", namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}\n"
          "spec: {suspend: true, template: {spec: {restartPolicy: Never, " +
          more + "containers: [{name: c, image: i, resources: {limits: " + limits + "}}]}}}\n");
    settle(5s);
  }
  static std::string text(const api::ResourceList& list) {
    std::string out;
    for (const auto& [name, quantity] : list) {
      out += (out.empty() ? "" : " ") + name + "=" + quantity.str();
    }
    return out;
  }
  std::string requested(const std::string& job) {
    const auto workload = workload_of(job);
    if (!workload) return "no workload";
    return workload->status.resource_requests.empty()
               ? "nothing"
               : text(workload->status.resource_requests.front().resources);
  }
  std::string used(const std::string& job) {
    const auto workload = workload_of(job);
    if (!workload || !workload->status.admission) return "not admitted";
    return text(workload->status.admission->pod_set_assignments.front().resource_usage);
  }
};

TEST_F(Resources, TransformationsAndExclusionsOfTheConfigurationCount) {
  start(R"(
resources:
  excludeResourcePrefixes: [example.com/nic]
  transformations:
  - input: example.com/gpu
    strategy: Replace
    multiplyBy: example.com/share
    outputs: {example.com/credits: "2"}
  - input: example.com/share
    strategy: Replace
)");
  submit("a", "{cpu: 1, example.com/gpu: 2, example.com/share: 2, example.com/nic: 1}");
  EXPECT_EQ(used("a"), "cpu=1 example.com/credits=8");
  EXPECT_EQ(requested("a"), "nothing") << "the admission says it";
  submit("b", "{cpu: 1, example.com/gpu: 3}");
  EXPECT_EQ(used("b"), "not admitted");
  EXPECT_EQ(requested("b"), "cpu=1 example.com/credits=6");
  EXPECT_THAT(condition_of("b", "QuotaReserved"),
              HasSubstr("insufficient unused quota for example.com/credits in flavor cpu-only, 4 "
                        "more needed"));
}

TEST_F(Resources, UndeclaredResourcesAreIgnoredWhenTheConfigurationSaysSo) {
  start("resources: {quotaCheckStrategy: IgnoreUndeclared}\n");
  submit("a", "{cpu: 1, example.com/nic: 1}");
  EXPECT_EQ(used("a"), "cpu=1");
}

TEST_F(Resources, UndeclaredResourcesAreRefusedByDefaultUnlessNoneIsAskedFor) {
  start("");
  submit("a", "{cpu: 1, example.com/nic: 1}");
  EXPECT_EQ(condition_of("a", "QuotaReserved"),
            "False NoMatchingFlavor: couldn't assign flavors to pod set main: resource "
            "example.com/nic unavailable in ClusterQueue");
  submit("b", "{cpu: 1, example.com/nic: 0}");
  EXPECT_EQ(used("b"), "cpu=1");
}

TEST_F(Resources, LimitRangesDecideUntilTheyChange) {
  start("");
  apply(R"(
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: default}
spec: {limits: [{type: Container, max: {cpu: "2"}, defaultRequest: {cpu: "1"}}]}
)");
  settle();
  submit("small", "{}");
  EXPECT_EQ(used("small"), "cpu=1");
  submit("large", "{cpu: 3}");
  EXPECT_EQ(condition_of("large", "QuotaReserved"),
            "False Misconfigured: resources didn't satisfy LimitRange constraints: "
            "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must "
            "not be above the limitRange max");
  ASSERT_TRUE(cluster_.patch(api::LimitRange::resource, key("bounds"),
                             R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"3"}}]}})"));
  settle();
  EXPECT_EQ(used("large"), "cpu=3");
}

TEST_F(Resources, TheOverheadOfARuntimeClassCountsAndItsComingIsNoticed) {
  start("");
  submit("large", "{cpu: 4}", "runtimeClassName: vm, ");
  EXPECT_EQ(used("large"), "cpu=4") << "the class does not exist yet";
  apply(R"(
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: vm}
handler: vm
overhead: {podFixed: {cpu: 250m}}
)");
  submit("next", "{cpu: 4}", "runtimeClassName: vm, ");
  EXPECT_EQ(requested("next"), "cpu=4250m");
  EXPECT_THAT(condition_of("next", "QuotaReserved"), HasSubstr("ExceedsMaxQuota"));
  complete_job("large", 1);
  ASSERT_TRUE(cluster_.remove(api::RuntimeClass::resource, api::ObjectKey("vm")));
  settle();
  EXPECT_EQ(used("next"), "cpu=4");
}

}  // namespace
}  // namespace regatta::test_support
