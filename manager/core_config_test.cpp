#include "manager/core_config.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace regatta::manager {
namespace {

CoreConfig with(const GateSettings& gates) {
  std::string flag;
  for (const auto& [name, on] : gates) flag += name + (on ? "=true," : "=false,");
  const auto read = load_configuration("", flag);
  EXPECT_TRUE(read) << read.error().what();
  auto core = core_config(*read, "test");
  EXPECT_TRUE(core) << core.error().what();
  return std::move(*core);
}

std::vector<std::shared_ptr<const jobs::JobKind>> all_kinds() {
  return jobs::all_kinds().all();
}

CoreConfig with_multi_kueue(const std::string& settings) {
  const auto read = load_configuration(
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmultiKueue: " + settings,
      "MultiKueueClusterProfile=true");
  EXPECT_TRUE(read) << read.error().what();
  auto core = core_config(*read, "test");
  EXPECT_TRUE(core) << core.error().what();
  return std::move(*core);
}

TEST(CoreConfig, WorkersOfManagedClustersAreAsConfigured) {
  using placement::Connection;
  EXPECT_FALSE(with_multi_kueue("{}").managed_clusters);
  const auto plain = with_multi_kueue("{managedClusters: {}}").managed_clusters;
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->request);
  EXPECT_EQ(plain->connection, Connection::direct);
  EXPECT_TRUE(plain->selector.matches({}));
  const auto proxied =
      with_multi_kueue(
          "{managedClusters: {accounts: Request, connection: Proxy, account: a, proxyURL: "
          "'https://p', proxyCAConfigMap: ca, tokenValidity: 1h, selector: {matchLabels: {a: b}}}}")
          .managed_clusters;
  ASSERT_TRUE(proxied);
  EXPECT_TRUE(proxied->request);
  EXPECT_EQ(proxied->connection, Connection::proxy);
  EXPECT_EQ(proxied->account, "a");
  EXPECT_EQ(proxied->proxy_url, "https://p");
  EXPECT_EQ(proxied->proxy_ca_config_map, "ca");
  EXPECT_EQ(proxied->token_validity, std::chrono::hours(1));
  EXPECT_FALSE(proxied->selector.matches({}));
  EXPECT_EQ(with_multi_kueue("{managedClusters: {connection: ClusterProfile}}")
                .managed_clusters->connection,
            Connection::cluster_profile);
}

TEST(CoreConfig, LimitsOfDispatchAndOfWorkersAreAsConfigured) {
  const CoreConfig plain = with_multi_kueue("{}");
  EXPECT_EQ(plain.dispatch.plan.give_up_after, Duration(0));
  EXPECT_EQ(plain.dispatch.plan.attempts_max, 0);
  EXPECT_EQ(plain.dispatch.brake.share, 0.5);
  EXPECT_EQ(plain.dispatch.brake.at_least, 10u);
  EXPECT_EQ(plain.worker_limits.objects_max, 100'000u);
  EXPECT_EQ(plain.worker_limits.bytes_max, 128u << 20);
  EXPECT_EQ(plain.worker_limits.pages_max, 2'000u);
  const CoreConfig core = with_multi_kueue(
      "{dispatchTimeout: 24h, dispatchAttempts: 5, removalBrake: {sharePercent: 20, atLeast: 3}, "
      "workerLimits: {objects: 7, bytes: 2000000, pages: 5}, workerLostTimeout: 90m, gcInterval: "
      "2s}");
  EXPECT_EQ(core.dispatch.plan.give_up_after, std::chrono::hours(24));
  EXPECT_EQ(core.dispatch.plan.attempts_max, 5);
  EXPECT_EQ(core.dispatch.brake.share, 0.2);
  EXPECT_EQ(core.dispatch.brake.at_least, 3u);
  EXPECT_EQ(core.dispatch.plan.worker_lost_timeout, std::chrono::minutes(90));
  EXPECT_EQ(core.dispatch.gc_interval, std::chrono::seconds(2));
  EXPECT_EQ(core.worker_limits.objects_max, 7u);
  EXPECT_EQ(core.worker_limits.bytes_max, 2'000'000u);
  EXPECT_EQ(core.worker_limits.pages_max, 5u);
  EXPECT_EQ(core.worker_limits.setting, "multiKueue.workerLimits");
}

struct Switch {
  const char* gate;
  bool given;
  bool (*seen)(const CoreConfig&);
  bool unless = !given;  ///< the default
};

TEST(CoreConfig, ConcurrencyReachesTheControllersThatItNames) {
  const auto with = [](const std::string& concurrency) {
    const auto read = load_configuration(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\ncontroller: "
        "{groupKindConcurrency: " +
            concurrency + "}",
        "");
    EXPECT_TRUE(read) << read.error().what();
    return core_config(*read, "test").value();
  };
  const CoreConfig few = with("{Job.batch: 3, Workload.kueue.x-k8s.io: 5}");
  EXPECT_EQ(few.jobs.workers, 3);
  EXPECT_EQ(few.workloads.workers, 5);
  EXPECT_EQ(few.dispatch.workers, 5) << "it reads and writes Workloads";
  EXPECT_EQ(with("{Job.batch: 3}").dispatch.workers, CoreConfig().dispatch.workers);
}

TEST(CoreConfig, FeatureGatesReachWhatTheySwitch) {
  const Switch switches[] = {
      {"ReclaimablePods", false,
       [](const CoreConfig& c) { return c.jobs.policy.reclaimable_pods; }},
      {"WorkloadIdentifierAnnotations", false,
       [](const CoreConfig& c) { return !c.jobs.policy.names_in_labels; }},
      {"MultiKueueClusterProfile", true, [](const CoreConfig& c) { return c.plugins.has_value(); }},
      {"ShortWorkloadNames", true, [](const CoreConfig& c) { return c.jobs.policy.brief_names; }},
      {"ElasticJobsViaWorkloadSlices", false,
       [](const CoreConfig& c) { return c.jobs.policy.elastic; }},
      {"FinishOrphanedWorkloads", false,
       [](const CoreConfig& c) { return c.workloads.lifecycle.finish_orphans; }},
      {"FinishOrphanedWorkloads", false,
       [](const CoreConfig& c) { return c.jobs.policy.finish_orphans; }},
      {"UnadmittedWorkloadsExplicitStatus", true,
       [](const CoreConfig& c) { return c.workloads.lifecycle.explicit_status; }},
      {"MultiKueueIncrementalDispatcherRespectConfigOrder", false,
       [](const CoreConfig& c) { return !c.dispatch.plan.nomination.by_name; }},
      {"MultiKueueOrchestratedPreemption", true,
       [](const CoreConfig& c) { return c.dispatch.plan.preemption_gates; }},
      {"MultiKueueOrchestratedPreemption", true,
       [](const CoreConfig& c) { return c.scheduler.admission.preemption_gates; }},
      {"MultiKueueOrchestratedPreemption", true,
       [](const CoreConfig& c) { return c.workloads.lifecycle.preemption_gates; }},
      {"MultiKueueManagerQuotaAutomation", true,
       [](const CoreConfig& c) { return c.quota_automation; }},
      {"KueueDRARejectWorkloadsWhenDRADisabled", false,
       [](const CoreConfig& c) { return c.scheduler.admission.reject_resource_claims; }},
      {"AssignQueueLabelsForPods", false,
       [](const CoreConfig& c) { return c.jobs.policy.queue_labels; }},
      {"MultiKueue", false, [](const CoreConfig& c) { return c.multikueue; }},
      {"PartialAdmission", false,
       [](const CoreConfig& c) { return c.scheduler.admission.partial_admission; }},
      {"AdmissionGatedBy", false,
       [](const CoreConfig& c) { return c.workloads.lifecycle.admission_gates; }},
  };
  const CoreConfig usual = with({});
  for (const Switch& one : switches) {
    EXPECT_EQ(one.seen(usual), one.unless) << one.gate;
    EXPECT_EQ(one.seen(with({{one.gate, one.given}})), one.given) << one.gate;
  }
}

TEST(CoreConfig, PodsNameTheirGroupsAsTheGateSays) {
  const auto group_of = [](bool annotated) {
    const std::string gate = "WorkloadIdentifierAnnotations=";
    auto config = load_configuration("", gate + (annotated ? "true" : "false")).value();
    config.integrations.frameworks = {"pod"};
    const CoreConfig core = core_config(config, "test").value();
    const jobs::JobKind* pods = core.kinds.find("", "Pod");
    const Json pod{{"metadata",
                    {{"annotations", {{"kueue.x-k8s.io/pod-group-name", "a"}}},
                     {"labels", {{"kueue.x-k8s.io/pod-group-name", "b"}}}}}};
    return pods->group_of(*pods->decode(pod, nullptr).value());
  };
  EXPECT_EQ(group_of(true), "a");
  EXPECT_EQ(group_of(false), "b");
}

TEST(CoreConfig, EveryKindOfJobIsAnIntegrationThatTheConfigurationKnows) {
  for (const auto& kind : all_kinds()) {
    EXPECT_TRUE(has_framework(kind->framework())) << kind->framework();
  }
  EXPECT_FALSE(has_framework("no/such"));
}

TEST(CoreConfig, KindsAreFollowedThatTheConfigurationNames) {
  const auto core = core_config(
      load_configuration("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                         "integrations: {frameworks: [ray.io/rayjob, statefulset]}\n",
                         "")
          .value(),
      "test");
  ASSERT_TRUE(core) << core.error().what();
  std::string followed;
  for (const auto& kind : core->kinds.all()) followed += std::string(kind->framework()) + " ";
  EXPECT_EQ(followed, "batch/job pod ray.io/rayjob statefulset statefulset ");
}

TEST(CoreConfig, ExternalKindsAreFollowedUnlessTheirGateIsOff) {
  const std::string text =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
      "multiKueue: {externalFrameworks: [{name: Pipeline.v1.flows.example.com}]}\n";
  const auto followed = [&](const char* gates) {
    return core_config(load_configuration(text, gates).value(), "test")->kinds;
  };
  const jobs::JobKinds on = followed("");
  ASSERT_TRUE(on.find("flows.example.com", "Pipeline"));
  EXPECT_EQ(on.dispatched().all().size(), 2U);
  const jobs::JobKinds off = followed("MultiKueueAdaptersForCustomJobs=false");
  EXPECT_FALSE(off.find("flows.example.com", "Pipeline"));
}

const std::string header = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

TEST(CoreConfig, KindsOfOtherControllersAreOwnersThatWorkersAreNotAskedFor) {
  const std::string text =
      header +
      "integrations: {externalFrameworks: [Flow.v1.flows.example.com, Both.v1.flows.example.com]}\n"
      "multiKueue: {externalFrameworks: [{name: Both.v1.flows.example.com}]}\n";
  const auto kinds = core_config(load_configuration(text, "").value(), "test")->kinds;
  const jobs::JobKind* flow = kinds.find("flows.example.com", "Flow");
  ASSERT_TRUE(flow);
  EXPECT_EQ(flow->resource().plural, "flows");
  EXPECT_FALSE(flow->dispatched());
  ASSERT_TRUE(kinds.find("flows.example.com", "Both"));
  EXPECT_TRUE(kinds.find("flows.example.com", "Both")->dispatched()) << "it is listed as both";
  EXPECT_EQ(kinds.all().size(), 3U) << "one informer for each";
  const auto off =
      core_config(load_configuration(text, "MultiKueueAdaptersForCustomJobs=false").value(), "test")
          ->kinds;
  EXPECT_FALSE(off.find("flows.example.com", "Both")->dispatched()) << "it is an owner still";
}

/// A kind of two pod sets, with this in place of `managedBy`.
std::string described_kinds(const std::string& more = "managedBy: /spec/managedBy") {
  return "  describedKinds:\n"
         "  - apiVersion: flows.example.com/v1\n"
         "    kind: Pipeline\n"
         "    resource: pipelines\n"
         "    podSets:\n"
         "    - {name: driver, template: /spec/driver}\n"
         "    - {name: workers, template: /spec/workers, count: 2}\n"
         "    status: {finished: 'has(object.status.end)', success: 'object.status.end == 0'}\n"
         "    " +
         more + "\n";
}
std::string with_frameworks(const std::string& names) {
  return header + "integrations:\n  frameworks: [" + names + "]\n";
}

TEST(CoreConfig, DescribedKindsAreFollowedThatAreListed) {
  const std::string listed = "batch/job, flows.example.com/pipeline";
  for (const bool old : {false, true}) {
    std::string text = with_frameworks(listed) + described_kinds();
    if (old) text.replace(text.find("v1beta2"), 7, "v1beta1");
    const auto read = load_configuration(text, "");
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->warnings, std::vector<std::string>());
    const auto kinds = core_config(*read, "test")->kinds;
    const jobs::JobKind* kind = kinds.find("flows.example.com", "Pipeline");
    ASSERT_TRUE(kind);
    EXPECT_EQ(kind->framework(), described_framework(read->integrations.described_kinds[0]));
    EXPECT_EQ(kinds.dispatched().all().size(), 2U);
  }
  const auto unlisted =
      load_configuration(with_frameworks("batch/job") + described_kinds(), "").value();
  EXPECT_EQ(core_config(unlisted, "test")->kinds.all().size(), 1U);
  EXPECT_EQ(unlisted.warnings,
            std::vector<std::string>{"integrations.describedKinds that integrations.frameworks "
                                     "does not list, whose objects are left alone: "
                                     "flows.example.com/pipeline"});
}

TEST(CoreConfig, MistakesInDescriptionsEndTheStartWithTheirPlace) {
  const auto error_of = [](const std::string& text) {
    const auto read = load_configuration(text, "");
    if (!read) return read.error().what();
    const auto core = core_config(*read, "test");
    return core ? std::string() : core.error().what();
  };
  const std::string frameworks = with_frameworks("flows.example.com/pipeline");
  EXPECT_EQ(
      error_of(frameworks + described_kinds("suspend: spec.suspend\n    managedBy: /status/x")),
      "integrations.describedKinds[0].suspend: Invalid value: \"spec.suspend\": must be a "
      "JSON pointer below /spec, of at most 256 bytes\n"
      "integrations.describedKinds[0].managedBy: Invalid value: \"/status/x\": must be a "
      "JSON pointer below /spec, of at most 256 bytes");
  EXPECT_EQ(error_of(frameworks + described_kinds("suspnd: /spec/suspend")),
            "strict decoding error: unknown field \"integrations.describedKinds[0].suspnd\"; did "
            "you mean \"suspend\"?");
  EXPECT_EQ(
      error_of(with_frameworks("flows.example.com/pipelines") + described_kinds()).substr(0, 88),
      "integrations.frameworks[0]: Unsupported value: \"flows.example.com/pipelines\": "
      "supported ");
  EXPECT_EQ(error_of(frameworks + described_kinds() +
                     "multiKueue: {externalFrameworks: [{name: Pipeline.v2.flows.example.com}]}"),
            "multiKueue.externalFrameworks: Pipeline.v2.flows.example.com: conflicts with "
            "integrations.describedKinds");
  EXPECT_EQ(error_of(frameworks + "  externalFrameworks: [Pipeline.v1.flows.example.com]\n" +
                     described_kinds()),
            "integrations.externalFrameworks: Pipeline.v1.flows.example.com: conflicts with "
            "integrations.describedKinds");
}

TEST(CoreConfig, TheExampleOfTheDocumentationDescribesAKind) {
  std::ifstream file("docs/operations.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string fence = "```yaml\n";
  const std::size_t from =
      text.find(fence, text.find("## Kinds described in the configuration")) + fence.size();
  ASSERT_NE(text.find("describedKinds", from), std::string::npos);
  const auto read =
      load_configuration(header + text.substr(from, text.find("```", from) - from), "");
  ASSERT_TRUE(read) << read.error().what();
  const auto core = core_config(*read, "test");
  ASSERT_TRUE(core) << core.error().what();
  EXPECT_TRUE(core->kinds.find("flows.example.com", "Pipeline"));
}

TEST(CoreConfig, SparkApplicationsNeedTheirGate) {
  const std::string text =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
      "integrations: {frameworks: [batch/job, sparkoperator.k8s.io/sparkapplication]}\n";
  const auto off = load_configuration(text, "").value();
  EXPECT_EQ(core_config(off, "test")->kinds.all().size(), 1U);
  EXPECT_EQ(off.warnings, std::vector<std::string>{
                              "integrations.frameworks: sparkoperator.k8s.io/sparkapplication "
                              "needs the feature gate SparkApplicationIntegration"});
  const auto on = load_configuration(text, "SparkApplicationIntegration=true").value();
  EXPECT_EQ(core_config(on, "test")->kinds.all().size(), 2U);
  EXPECT_TRUE(on.warnings.empty());
}

}  // namespace
}  // namespace regatta::manager
