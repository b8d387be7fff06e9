#include "manager/config/configuration.h"

#include "lib/base/near_miss.h"
#include "manager/config/duration.h"

#include <gtest/gtest.h>

namespace regatta::manager {
namespace {

using namespace std::chrono_literals;

const std::string v1beta2 = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
const std::string v1beta1 = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n";

std::string problems(const std::string& text, const GateSettings& flag = {}) {
  const auto configuration = load_configuration(text, flag);
  return configuration ? "" : configuration.error().what();
}

TEST(Configuration, AnEmptyFileIsTheDefault) {
  const auto c = load_configuration("", {}, "elsewhere");
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_EQ(c->ns, "elsewhere");
  EXPECT_EQ(c->webhook.port, 9443);
  EXPECT_EQ(c->metrics.bind_address, ":8443");
  EXPECT_EQ(c->health.health_probe_bind_address, ":8081");
  EXPECT_TRUE(c->leader_election.leader_elect);
  EXPECT_EQ(c->leader_election.resource_name, "c1f6bfd2.kueue.x-k8s.io");
  EXPECT_EQ(c->leader_election.resource_namespace, "elsewhere");
  EXPECT_EQ(c->leader_election.lease_duration, 15s);
  EXPECT_EQ(c->client_connection.qps, 300);
  EXPECT_EQ(c->client_connection.burst, 500);
  EXPECT_EQ(c->integrations.frameworks, std::vector<std::string>{"batch/job"});
  EXPECT_EQ(c->multi_kueue.gc_interval, 1min);
  EXPECT_EQ(c->multi_kueue.worker_lost_timeout, 15min);
  EXPECT_EQ(c->multi_kueue.origin, "multikueue");
  EXPECT_EQ(c->multi_kueue.dispatcher_name, "kueue.x-k8s.io/multikueue-dispatcher-all-at-once");
  ASSERT_TRUE(c->wait_for_pods_ready);
  EXPECT_EQ(c->wait_for_pods_ready->timeout, 30min);
  EXPECT_EQ(c->wait_for_pods_ready->recovery_timeout, 30min);
  EXPECT_FALSE(c->wait_for_pods_ready->block_admission);
  EXPECT_FALSE(c->fair_sharing);
  EXPECT_EQ(c->visibility_server.bind_port, 8082);
  const auto& selector = *c->managed_jobs_namespace_selector;
  EXPECT_EQ(selector.match_expressions[0].values,
            (std::vector<std::string>{"kube-system", "elsewhere"}));
}

TEST(Configuration, ReadsEveryStanza) {
  const auto c = load_configuration(v1beta2 + R"(
namespace: kueue-system
webhook: {port: 9444, host: "::", certDir: /certs}
leaderElection: {leaderElect: false, resourceName: x, leaseDuration: 20s, renewDeadline: 15s}
metrics:
  bindAddress: "0"
  enableClusterQueueResources: true
  customLabels:
  - {name: team, sourceKind: Cohort, sourceLabelKey: example.com/team, trackedValues: [a]}
  localQueueMetrics: {enable: true, localQueueSelector: {matchLabels: {a: b}}}
health: {healthProbeBindAddress: ":1", readinessEndpointName: r, livenessEndpointName: l}
pprofBindAddress: ":6060"
controller: {groupKindConcurrency: {Workload.kueue.x-k8s.io: 10}, cacheSyncTimeout: 60000000000}
tls: {minVersion: VersionTLS12, cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}
manageJobsWithoutQueueName: true
managedJobsNamespaceSelector: {matchLabels: {managed: "yes"}}
internalCertManagement: {enable: false}
waitForPodsReady:
  timeout: 10m
  recoveryTimeout: 0s
  blockAdmission: true
  requeuingStrategy: {timestamp: Creation, backoffLimitCount: 5, backoffBaseSeconds: 1}
clientConnection: {qps: -1, burst: 10}
integrations:
  frameworks: [batch/job, pod]
  externalFrameworks: [Foo.v1.example.com]
  labelKeysToCopy: [example.com/a]
multiKueue:
  gcInterval: 0s
  origin: hub
  workerLostTimeout: 1h30m
  dispatchTimeout: 24h
  dispatchAttempts: 5
  dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental
  incrementalDispatcherConfig: {stepSize: 5}
  removalBrake: {sharePercent: 20, atLeast: 3}
  externalFrameworks: [{name: Bar.v1.example.com}]
  clusterProfile:
    accessProviders:
    - name: p
      execConfig:
        {command: c, args: [a], apiVersion: v1, interactiveMode: Never, env: [{name: A, value: V}]}
fairSharing: {preemptionStrategies: [LessThanInitialShare]}
admissionFairSharing: {usageHalfLifeTime: 1h, resourceWeights: {cpu: 2.5}}
resources:
  quotaCheckStrategy: IgnoreUndeclared
  excludeResourcePrefixes: [example.com/]
  transformations: [{input: a, strategy: Replace, multiplyBy: b, outputs: {c: "2Gi", d: 3}}]
  deviceClassMappings: [{name: gpus, deviceClassNames: [gpu.example.com]}]
featureGates: {CustomMetricLabels: true}
objectRetentionPolicies: {workloads: {afterFinished: 1h, afterDeactivatedByKueue: 0s}}
visibilityServer: {bindAddress: "127.0.0.1", bindPort: 8083}
)");
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_EQ(c->controller.concurrency("Workload.kueue.x-k8s.io"), 10);
  EXPECT_EQ(c->controller.concurrency("Cohort.kueue.x-k8s.io"), 1);
  EXPECT_EQ(c->controller.cache_sync_timeout, 1min);
  EXPECT_EQ(c->metrics.custom_labels[0].source_label_key, "example.com/team");
  EXPECT_EQ(c->metrics.custom_labels[0].source_kind, MetricSource::Cohort);
  EXPECT_EQ(c->metrics.custom_labels[0].tracked_values, std::vector<std::string>{"a"});
  EXPECT_EQ(c->metrics.local_queue_metrics->local_queue_selector->match_labels.at("a"), "b");
  EXPECT_EQ(c->wait_for_pods_ready->recovery_timeout, 0s);
  EXPECT_EQ(c->wait_for_pods_ready->requeuing_strategy.timestamp, RequeuingTimestamp::Creation);
  EXPECT_EQ(c->wait_for_pods_ready->requeuing_strategy.backoff_limit_count, 5);
  EXPECT_EQ(c->multi_kueue.gc_interval, 0s);
  EXPECT_EQ(c->multi_kueue.worker_lost_timeout, 90min);
  EXPECT_EQ(c->multi_kueue.dispatch_timeout, 24h);
  EXPECT_EQ(c->multi_kueue.dispatch_attempts, 5);
  EXPECT_EQ(c->multi_kueue.incremental_step_size, 5);
  EXPECT_EQ(c->multi_kueue.brake_share_percent, 20);
  EXPECT_EQ(c->multi_kueue.brake_at_least, 3);
  EXPECT_EQ(c->multi_kueue.external_frameworks[0], "Bar.v1.example.com");
  EXPECT_EQ(c->multi_kueue.cluster_profile->access_providers[0].exec_config.env[0].value, "V");
  EXPECT_EQ(c->fair_sharing->preemption_strategies.size(), 1u);
  EXPECT_EQ(c->admission_fair_sharing->usage_sampling_interval, 5min);
  EXPECT_EQ(c->admission_fair_sharing->resource_weights.at("cpu"), 2.5);
  EXPECT_EQ(c->resources.transformations[0].outputs.at("c").str(), "2Gi");
  EXPECT_EQ(c->resources.transformations[0].strategy, TransformationStrategy::Replace);
  EXPECT_EQ(c->resources.quota_check_strategy, QuotaCheckStrategy::IgnoreUndeclared);
  EXPECT_EQ(c->workload_retention.after_finished, 1h);
  EXPECT_EQ(c->workload_retention.after_deactivated_by_kueue, 0s);
  EXPECT_TRUE(c->gates.enabled("CustomMetricLabels"));
}

TEST(Configuration, V1beta1HasSwitches) {
  auto c = load_configuration(v1beta1);
  EXPECT_FALSE(c->wait_for_pods_ready);
  c = load_configuration(v1beta1 +
                         "waitForPodsReady: {timeout: 1m}\nfairSharing: {enable: false}\n");
  EXPECT_FALSE(c->wait_for_pods_ready);
  EXPECT_FALSE(c->fair_sharing);
  c = load_configuration(v1beta1 +
                         "waitForPodsReady: {enable: true}\nfairSharing: {enable: true}\n"
                         "queueVisibility: {updateIntervalSeconds: 5}\n"
                         "integrations: {podOptions: {podSelector: {matchLabels: {a: b}}}}\n");
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_EQ(c->wait_for_pods_ready->timeout, 5min);
  EXPECT_TRUE(c->wait_for_pods_ready->block_admission);
  EXPECT_EQ(c->fair_sharing->preemption_strategies.size(), 2u);
  EXPECT_TRUE(c->integrations.pod_options->pod_selector);
  EXPECT_EQ(c->warnings, (std::vector<std::string>{
                             "queueVisibility has no effect: use the visibility API",
                             "fields without effect in Regatta: integrations.podOptions"}));
}

TEST(Configuration, WhatDoesNothingIsNamed) {
  const auto c = load_configuration(v1beta2 + R"(
webhook: {port: 9444}
resources: {deviceClassMappings: [{name: gpu.example.com, deviceClassNames: [gpu]}]}
integrations: {frameworks: [pod, statefulset]}
)");
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_EQ(c->warnings,
            (std::vector<std::string>{
                "fields without effect in Regatta: resources.deviceClassMappings, webhook",
                "integrations.frameworks that Regatta does not have, whose objects it leaves "
                "alone: pod, statefulset",
                "integrations.frameworks does not list batch/job, which Regatta always manages"}));
  EXPECT_TRUE(load_configuration(v1beta2)->warnings.empty());
}

TEST(Configuration, AGateTakesWaitForPodsReadyAway) {
  const auto c = load_configuration(v1beta2, {{"DisableWaitForPodsReady", true}});
  EXPECT_FALSE(c->wait_for_pods_ready);
}

TEST(Configuration, ReportsEveryProblemAtOnce) {
  EXPECT_EQ(problems(v1beta2 + "webhook: {port: 0}\nfoo: 1\nfeatureGates: {Foo: true}\n"),
            "foo: unknown field\n"
            "featureGates: unrecognized feature gate: Foo\n"
            "webhook.port: Invalid value: 0: must be between 1 and 65535, inclusive");
}

struct Case {
  const char* name;
  const char* text;
  const char* want;
  bool old = false;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};
class Refusals : public ::testing::TestWithParam<Case> {};

TEST_P(Refusals, NameTheField) {
  const Case& c = GetParam();
  EXPECT_EQ(problems((c.old ? v1beta1 : v1beta2) + c.text), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    , Refusals,
    ::testing::Values(
        Case{"unknown_with_suggestion", "metrics: {bindAddres: x}",
             "metrics.bindAddres: unknown field; did you mean \"bindAddress\"?"},
        Case{"unknown_in_list", "resources: {transformations: [{imput: x, input: z}]}",
             "resources.transformations[0].imput: unknown field; did you mean \"input\"?"},
        Case{"capitals_matter", "multiKueue: {gcinterval: 1m}",
             "multiKueue.gcinterval: unknown field; did you mean \"gcInterval\"?"},
        Case{"not_in_v1beta1", "multiKueue: {clusterProfile: {}}",
             "multiKueue.clusterProfile: unknown field", true},
        Case{"only_in_v1beta1", "waitForPodsReady: {enable: true}",
             "waitForPodsReady.enable: unknown field"},
        Case{"wrong_type", "webhook: {port: nine}",
             "webhook.port: expected an integer, got string"},
        Case{"stanza_of_wrong_type", "webhook: 7", "webhook: expected an object, got number"},
        Case{"bad_duration", "multiKueue: {gcInterval: 5 minutes}",
             "multiKueue.gcInterval: \"5 minutes\" is not a duration such as \"15m\" or "
             "\"1h30m\""},
        Case{"duration_without_unit", "multiKueue: {gcInterval: 60}",
             "multiKueue.gcInterval: expected a duration such as \"15m\", got number"},
        Case{"negative_gc", "multiKueue: {gcInterval: -1s}",
             "multiKueue.gcInterval: Invalid value: \"-1s\": must be greater than or equal to 0"},
        Case{"brake_below_zero", "multiKueue: {removalBrake: {sharePercent: -1}}",
             "multiKueue.removalBrake.sharePercent: Invalid value: -1: must be greater than or "
             "equal to 0"},
        Case{"step_size_zero",
             "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, "
             "incrementalDispatcherConfig: {stepSize: 0}}",
             "multiKueue.incrementalDispatcherConfig.stepSize: Invalid value: 0: must be greater "
             "than or equal to 1"},
        Case{"step_size_of_another_dispatcher",
             "multiKueue: {incrementalDispatcherConfig: {stepSize: 2}}",
             "multiKueue.incrementalDispatcherConfig: Forbidden: may be set only when "
             "dispatcherName is \"kueue.x-k8s.io/multikueue-dispatcher-incremental\""},
        Case{"external_framework_format", "multiKueue: {externalFrameworks: [{name: Foo}]}",
             "multiKueue.externalFrameworks[0].name: Invalid value: \"Foo\": must be in "
             "'kind.version.group' format"},
        Case{"external_framework_twice",
             "multiKueue: {externalFrameworks: [{name: F.v1.g.io}, {name: F.v1.g.io}]}",
             "multiKueue.externalFrameworks[1].name: Duplicate value: \"F.v1.g.io\""},
        Case{"external_framework_built_in",
             "multiKueue: {externalFrameworks: [{name: Job.v1.batch}]}",
             "multiKueue.externalFrameworks[0].name: Invalid value: \"Job.v1.batch\": conflicts "
             "with a built-in MultiKueue adapter"},
        Case{"both_provider_lists",
             "multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: {command: c, "
             "apiVersion: v, interactiveMode: Never}}], credentialsProviders: [{name: a}]}}",
             "multiKueue.clusterProfile.credentialsProviders: Forbidden: must not be specified "
             "when accessProviders is specified"},
        Case{"exec_config_incomplete",
             "multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: {command: c, "
             "apiVersion: v, interactiveMode: Maybe}}]}}",
             "multiKueue.clusterProfile.accessProviders[0].execConfig.interactiveMode: "
             "Unsupported value: \"Maybe\": supported values: \"Never\", \"IfAvailable\", "
             "\"Always\""},
        Case{"framework_unknown", "integrations: {frameworks: [batch/jobs]}",
             "integrations.frameworks[0]: Unsupported value: \"batch/jobs\"; did you mean "
             "\"batch/job\"?"},
        Case{"framework_twice", "integrations: {frameworks: [pod, pod]}",
             "integrations.frameworks[1]: Duplicate value: \"pod\""},
        Case{"pods_of_kube_system",
             "integrations: {frameworks: [pod]}\nmanagedJobsNamespaceSelector: {matchExpressions: "
             "[{key: kubernetes.io/metadata.name, operator: NotIn, values: [kueue-system]}]}",
             "managedJobsNamespaceSelector: Invalid value: \"kubernetes.io/metadata.name!="
             "kueue-system\": should not match the \"kube-system\" namespace"},
        Case{"strategies_in_wrong_order",
             "fairSharing: {preemptionStrategies: [LessThanInitialShare, "
             "LessThanOrEqualToFinalShare]}",
             "fairSharing.preemptionStrategies: Unsupported value: supported are "
             "[LessThanOrEqualToFinalShare], [LessThanInitialShare] and "
             "[LessThanOrEqualToFinalShare LessThanInitialShare]"},
        Case{"sampling_zero", "admissionFairSharing: {usageSamplingInterval: 0s}",
             "admissionFairSharing.usageSamplingInterval: Invalid value: \"0s\": must be greater "
             "than 0"},
        Case{"negative_weight", "admissionFairSharing: {resourceWeights: {cpu: -1}}",
             "admissionFairSharing.resourceWeights[cpu]: Invalid value: -1.000000: must be greater "
             "than or equal to 0"},
        Case{"input_twice", "resources: {transformations: [{input: a}, {input: a}]}",
             "resources.transformations[1].input: Duplicate value: \"a\""},
        Case{"strategy_unknown", "resources: {transformations: [{input: a, strategy: Keep}]}",
             "resources.transformations[0].strategy: Unsupported value: \"Keep\": supported "
             "values: \"Retain\", \"Replace\""},
        Case{"custom_labels_need_a_gate", "metrics: {customLabels: [{name: a}]}",
             "metrics.customLabels: Forbidden: needs the feature gate CustomMetricLabels"},
        Case{"custom_labels_of_pods",
             "featureGates: {CustomMetricLabels: true}\nmetrics: {customLabels: [{name: a, "
             "sourceKind: Pod}]}",
             "metrics.customLabels[0].sourceKind: Unsupported value: \"Pod\": supported "
             "values: \"ClusterQueue\", \"LocalQueue\", \"Cohort\", \"Workload\""},
        Case{"custom_label_with_a_name_that_prometheus_refuses",
             "featureGates: {CustomMetricLabels: true}\nmetrics: {customLabels: [{name: _a}]}",
             "metrics.customLabels[0].name: Invalid value: \"_a\": must match "
             "[a-zA-Z][a-zA-Z0-9_]*"},
        Case{"origin_is_no_label_value", "multiKueue: {origin: 'a b'}",
             "multiKueue.origin: Invalid value: \"a b\": a valid label must be an empty string or "
             "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
             "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
             "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
        Case{"renew_beyond_lease", "leaderElection: {renewDeadline: 15s}",
             "leaderElection.leaseDuration: Invalid value: \"15s\": must be greater than "
             "renewDeadline"},
        Case{"no_workers", "controller: {groupKindConcurrency: {Job.batch: 0}}",
             "controller.groupKindConcurrency[Job.batch]: Invalid value: 0: must be greater than "
             "or equal to 1"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Configuration, OtherDocumentsAreRefused) {
  EXPECT_EQ(problems("kind: Pod\napiVersion: v1\n"), "kind: expected Configuration, got \"Pod\"");
  EXPECT_EQ(problems("kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1\n"),
            "apiVersion: expected config.kueue.x-k8s.io/v1beta2 or "
            "config.kueue.x-k8s.io/v1beta1, got \"config.kueue.x-k8s.io/v1\"");
  EXPECT_EQ(problems("[]"), "the configuration is not an object");
  EXPECT_NE(problems("a: [\n"), "");
}

TEST(GoDurations, AreReadAndWritten) {
  const std::pair<const char*, Duration> cases[] = {
      {"0", 0ms},       {"15m0s", 15min},    {"1h30m", 90min},        {"1.5s", 1500ms},
      {"250ms", 250ms}, {"-2s", -2s},        {"1h0m0.5s", 3600500ms}, {"1us", 0ms},
      {"+3s", 3s},      {"2\u00b5s3ms", 3ms}};
  for (const auto& [text, want] : cases) EXPECT_EQ(*parse_duration(text), want) << text;
  for (const char* text : {"", "5", "m", "1d", "1.2.3s", "s5", "-", "1e3s", "9999999999h"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_EQ(format_go_duration(15min), "15m0s");
  EXPECT_EQ(format_go_duration(3600500ms), "1h0m0.5s");
  EXPECT_EQ(format_go_duration(-2s), "-2s");
  EXPECT_EQ(format_go_duration(250ms), "250ms");
}

TEST(NearMiss, SuggestsOnlyWhatIsClose) {
  const std::vector<std::string_view> known{"port", "host", "certDir"};
  EXPECT_EQ(did_you_mean("prot", known), "; did you mean \"port\"?");
  EXPECT_EQ(did_you_mean("certdir", known), "; did you mean \"certDir\"?");
  EXPECT_EQ(did_you_mean("something", known), "");
}

}  // namespace
}  // namespace regatta::manager
