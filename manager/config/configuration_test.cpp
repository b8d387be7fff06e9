#include "manager/config/configuration.h"

#include "lib/base/near_miss.h"

#include <gtest/gtest.h>

namespace regatta::manager {
namespace {

using namespace std::chrono_literals;

const std::string v1beta2 = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
const std::string v1beta1 = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n";

std::string problems(const std::string& text, std::string_view flag = {}) {
  const auto configuration = load_configuration(text, flag);
  return configuration ? "" : configuration.error().what();
}

TEST(Configuration, AnEmptyFileIsTheDefault) {
  const auto c = load_configuration("", {}, "elsewhere");
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_EQ(c->ns, "elsewhere");
  EXPECT_EQ(c->metrics.bind_address, ":8443");
  EXPECT_TRUE(c->metrics.secure_serving);
  EXPECT_EQ(c->metrics.cert_dir, "/etc/kueue/metrics/certs");
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
  EXPECT_TRUE(c->metrics.local_queue_metrics.enable);
  const auto& selector = *c->managed_jobs_namespace_selector;
  EXPECT_EQ(selector.match_expressions[0].values,
            (std::vector<std::string>{"kube-system", "elsewhere"}));
}

TEST(Configuration, webhooks_are_demanded_by_a_file_that_says_where_their_certificate_is) {
  const auto demanded = [](const std::string& stanza) {
    const auto c = load_configuration(v1beta2 + stanza);
    return c && c->webhooks_demanded;
  };
  EXPECT_FALSE(demanded(""));
  EXPECT_FALSE(demanded("webhook: {port: 9444}"));
  EXPECT_TRUE(demanded("webhook: {certDir: /certs}"));
  EXPECT_TRUE(demanded("internalCertManagement: {enable: true}"));
  EXPECT_TRUE(demanded("internalCertManagement: {enable: false}"));
}

TEST(Configuration, a_webhook_port_is_a_port_and_certificates_live_for_seconds) {
  EXPECT_EQ(load_configuration(v1beta2 + "webhook: {port: 0}")->webhook.port, 9443);
  EXPECT_FALSE(load_configuration(v1beta2 + "webhook: {port: 65536}"));
  const std::string life = "internalCertManagement: {validFor: ";
  EXPECT_TRUE(load_configuration(v1beta2 + life + "5s}"));
  EXPECT_FALSE(load_configuration(v1beta2 + life + "4s}"));
}

TEST(Configuration, ReadsEveryStanza) {
  const auto c = load_configuration(v1beta2 + R"(
namespace: kueue-system
webhook: {port: 9444, host: "::", certDir: /certs, clientCAName: ca.crt}
leaderElection: {leaderElect: false, resourceName: x, leaseDuration: 20s, renewDeadline: 15s}
metrics:
  bindAddress: "0"
  secureServing: false
  certDir: /metrics-certs
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
internalCertManagement: {enable: false, webhookSecretName: s, validFor: 10s}
waitForPodsReady:
  timeout: 10m
  recoveryTimeout: 0s
  blockAdmission: true
  requeuingStrategy: {timestamp: Creation, backoffLimitCount: 5, backoffBaseSeconds: 1}
clientConnection: {qps: -1, burst: 10}
integrations:
  frameworks: [batch/job, pod]
  externalFrameworks: [Foo.v1.example.com]
  describedKinds: [{apiVersion: a.b/v1, kind: Flow, podSets: [{count: 2}, {count: /spec/n}]}]
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
  workerLimits: {objects: 7, bytes: 2000000, pages: 5}
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
  transformations: [{input: a, strategy: Replace, multiplyBy: b, outputs: {c: "2Gi", d: 3}}]
  deviceClassMappings: [{name: gpus, deviceClassNames: [gpu.example.com]}]
featureGates: {CustomMetricLabels: true}
objectRetentionPolicies: {workloads: {afterFinished: 1h, afterDeactivatedByKueue: 0s}}
visibilityServer: {bindAddress: "127.0.0.1", bindPort: 8083}
)");
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_EQ(c->controller.concurrency("Workload.kueue.x-k8s.io"), 10);
  EXPECT_EQ(c->integrations.external_frameworks, std::vector<std::string>{"Foo.v1.example.com"});
  EXPECT_EQ(described_framework(c->integrations.described_kinds.at(0)), "a.b/flow");
  EXPECT_EQ(c->controller.concurrency("Cohort.kueue.x-k8s.io"), 1);
  EXPECT_FALSE(c->metrics.secure_serving);
  EXPECT_EQ(c->metrics.cert_dir, "/metrics-certs");
  EXPECT_EQ(c->metrics.custom_labels[0].source_label_key, "example.com/team");
  EXPECT_EQ(c->metrics.custom_labels[0].source_kind, MetricSource::Cohort);
  EXPECT_EQ(c->metrics.custom_labels[0].tracked_values, std::vector<std::string>{"a"});
  EXPECT_EQ(c->metrics.local_queue_metrics.local_queue_selector->match_labels.at("a"), "b");
  EXPECT_EQ(c->visibility_server.bind_address, "127.0.0.1");
  EXPECT_EQ(c->visibility_server.bind_port, 8083);
  EXPECT_EQ(c->webhook.port, 9444);
  EXPECT_EQ(c->webhook.host, "::");
  EXPECT_EQ(c->webhook.cert_dir, "/certs");
  EXPECT_EQ(c->webhook.client_ca_name, "ca.crt");
  EXPECT_FALSE(c->internal_cert_management.enable);
  EXPECT_EQ(c->internal_cert_management.webhook_secret_name, "s");
  EXPECT_EQ(c->internal_cert_management.valid_for, 10s);
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
  EXPECT_EQ(c->multi_kueue.worker_limits.objects, 7);
  EXPECT_EQ(c->multi_kueue.worker_limits.bytes, 2'000'000);
  EXPECT_EQ(c->multi_kueue.worker_limits.pages, 5);
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
  EXPECT_EQ(c->wait_for_pods_ready->recovery_timeout, 5min);
  EXPECT_TRUE(c->wait_for_pods_ready->block_admission);
  EXPECT_EQ(c->fair_sharing->preemption_strategies.size(), 2u);
  EXPECT_EQ(c->warnings, (std::vector<std::string>{
                             "queueVisibility has no effect: use the visibility API",
                             "fields without effect in Regatta: integrations.podOptions"}));
}

TEST(Configuration, WhatDoesNothingIsNamed) {
  const auto c = load_configuration(v1beta2 + R"(
webhook: {port: 9444}
resources: {deviceClassMappings: [{name: gpu.example.com, deviceClassNames: [gpu]}]}
integrations: {frameworks: [pod, deployment, statefulset]}
)");
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_EQ(c->warnings,
            (std::vector<std::string>{
                "fields without effect in Regatta: resources.deviceClassMappings",
                "integrations.frameworks does not list batch/job, which Regatta always manages"}));
  EXPECT_TRUE(load_configuration(v1beta2)->warnings.empty());
}

TEST(Configuration, AccessProvidersAreReadUnderEitherName) {
  const std::string provider = R"(
    - name: p
      execConfig:
        {command: c, args: [a, b], apiVersion: client.authentication.k8s.io/v1,
         interactiveMode: Never, env: [{name: A, value: V}], provideClusterInfo: true})";
  for (const char* list : {"accessProviders", "credentialsProviders"}) {
    const auto c =
        load_configuration(v1beta2 + "multiKueue:\n  clusterProfile:\n    " + list + ":" + provider,
                           "MultiKueueClusterProfile=true");
    ASSERT_TRUE(c) << c.error().what();
    ASSERT_EQ(c->multi_kueue.plugins.size(), 1u);
    const api::ExecPlugin& plugin = c->multi_kueue.plugins[0];
    EXPECT_EQ(plugin.provider, "p");
    EXPECT_EQ(plugin.command, "c");
    EXPECT_EQ(plugin.args, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(plugin.env[0], std::make_pair(std::string("A"), std::string("V")));
    EXPECT_EQ(plugin.api_version, "client.authentication.k8s.io/v1");
    EXPECT_TRUE(plugin.provide_cluster_info);
    EXPECT_TRUE(c->warnings.empty());
  }
}

TEST(Configuration, AccessProvidersAndTheirGateNeedEachOther) {
  const auto lonely = load_configuration(v1beta2, "MultiKueueClusterProfile=true");
  EXPECT_EQ(lonely->warnings, (std::vector<std::string>{
                                  "the feature gate MultiKueueClusterProfile has no effect without "
                                  "multiKueue.clusterProfile.accessProviders"}));
  const auto off =
      load_configuration(v1beta2 +
                         "multiKueue: {clusterProfile: {accessProviders: [{name: p, execConfig: "
                         "{command: c, apiVersion: v, interactiveMode: Never}}]}}");
  EXPECT_EQ(off->warnings,
            (std::vector<std::string>{"multiKueue.clusterProfile has no effect without the feature "
                                      "gate MultiKueueClusterProfile"}));
}

TEST(Configuration, WorkersOfManagedClustersAreAskedFor) {
  EXPECT_FALSE(load_configuration(v1beta2)->multi_kueue.managed_clusters);
  const auto plain = load_configuration(v1beta2 + "multiKueue: {managedClusters: {}}");
  ASSERT_TRUE(plain) << plain.error().what();
  ASSERT_TRUE(plain->multi_kueue.managed_clusters);
  EXPECT_EQ(plain->multi_kueue.managed_clusters->accounts, "Use");
  EXPECT_EQ(plain->multi_kueue.managed_clusters->account, "multikueue");
  for (const std::string& version : {v1beta1, v1beta2}) {
    const auto c = load_configuration(version + R"(
multiKueue:
  managedClusters:
    accounts: Request
    connection: Proxy
    account: hub-a
    tokenValidity: 24h
    proxyURL: https://proxy:9092/a/
    proxyCAConfigMap: proxy-ca
    selector: {matchLabels: {gpu: "yes"}}
)");
    ASSERT_TRUE(c) << c.error().what();
    const ManagedClustersConfiguration& given = *c->multi_kueue.managed_clusters;
    EXPECT_EQ(given.accounts, "Request");
    EXPECT_EQ(given.account, "hub-a");
    EXPECT_EQ(given.token_validity, std::chrono::hours(24));
    EXPECT_EQ(given.proxy_url, "https://proxy:9092/a");
    EXPECT_EQ(given.proxy_ca_config_map, "proxy-ca");
    EXPECT_EQ(given.selector->match_labels.at("gpu"), "yes");
  }
}

TEST(Configuration, AGateTakesWaitForPodsReadyAway) {
  const auto c = load_configuration(v1beta2, "DisableWaitForPodsReady=true");
  EXPECT_FALSE(c->wait_for_pods_ready);
}

TEST(Configuration, CustomLabelsWaitForTheirGate) {
  const std::string labels =
      "metrics: {customLabels: [{name: team}, {name: job, sourceKind: "
      "Workload, trackedValues: [a]}]}\n";
  auto c = load_configuration(v1beta2 + labels);
  ASSERT_TRUE(c) << c.error().what();
  EXPECT_TRUE(c->metrics.custom_labels.empty());
  EXPECT_EQ(c->warnings,
            std::vector<std::string>{"metrics.customLabels have no effect without the feature gate "
                                     "CustomMetricLabels"});
  c = load_configuration(v1beta2 + labels, "CustomMetricLabels=true");
  ASSERT_EQ(c->metrics.custom_labels.size(), 2u);
  EXPECT_EQ(c->metrics.custom_labels[1].source_kind, MetricSource::Workload);
  EXPECT_TRUE(c->warnings.empty());
}

TEST(Configuration, ReportsEveryProblemOfAStepAtOnce) {
  EXPECT_EQ(problems(v1beta2 + "foo: 1\nwebhook: {bar: 1}\n"),
            "strict decoding error: unknown field \"foo\", unknown field \"webhook.bar\"");
  EXPECT_EQ(problems(v1beta2 + "featureGates: {MultiKueu: true}\nfairSharing: {}\n"),
            "featureGates: Invalid value: {\"MultiKueu\":true}: unrecognized feature gate: "
            "MultiKueu; did you mean \"MultiKueue\"?");
  EXPECT_EQ(problems(v1beta2 + "visibilityServer: {bindPort: 0}\nfairSharing: {}\n"),
            "fairSharing.preemptionStrategies: Required value: must be specified\n"
            "visibilityServer.bindPort: Invalid value: 0: must be a valid port number (1-65535)");
  EXPECT_EQ(problems(v1beta2 + "namespace: ''\nmultiKueue: {dispatchAttempts: -1}\n"),
            "namespace: Invalid value: \"\": a lowercase RFC 1123 label must consist of lower "
            "case alphanumeric characters or '-', and must start and end with an alphanumeric "
            "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')\n"
            "multiKueue.dispatchAttempts: Invalid value: -1: must be greater than or equal to 0");
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
             "strict decoding error: unknown field \"metrics.bindAddres\"; did you mean "
             "\"bindAddress\"?"},
        Case{"not_in_v1beta1", "multiKueue: {clusterProfile: {}}",
             "strict decoding error: unknown field \"multiKueue.clusterProfile\"", true},
        Case{"wrong_type", "webhook: {port: nine}", "webhook.port: expected a number"},
        Case{"duration_without_unit", "multiKueue: {gcInterval: 60}",
             "multiKueue.gcInterval: expected a duration such as \"15m\" or \"1h30m\""},
        Case{"brake_below_zero", "multiKueue: {removalBrake: {sharePercent: -1}}",
             "multiKueue.removalBrake.sharePercent: Invalid value: -1: must be greater than or "
             "equal to 0"},
        Case{"bytes_of_a_worker", "multiKueue: {workerLimits: {bytes: 1000}}",
             "multiKueue.workerLimits.bytes: Invalid value: 1000: must be greater than or equal to "
             "1048576"},
        Case{"accounts", "multiKueue: {managedClusters: {accounts: Make}}",
             "multiKueue.managedClusters.accounts: Unsupported value: \"Make\": supported values: "
             "\"Request\", \"Use\""},
        Case{
            "connection", "multiKueue: {managedClusters: {connection: Wire}}",
            "multiKueue.managedClusters.connection: Unsupported value: \"Wire\": supported values: "
            "\"ClusterProfile\", \"Direct\", \"Proxy\""},
        Case{"proxy_without_url", "multiKueue: {managedClusters: {connection: Proxy}}",
             "multiKueue.managedClusters.proxyURL: Invalid value: \"\": must be an https URL with "
             "the connection Proxy"},
        Case{"profiles_without_gate", "multiKueue: {managedClusters: {connection: ClusterProfile}}",
             "multiKueue.managedClusters.connection: Invalid value: \"ClusterProfile\": needs the "
             "feature gate MultiKueueClusterProfile"},
        Case{"brief_tokens", "multiKueue: {managedClusters: {tokenValidity: 9m}}",
             "multiKueue.managedClusters.tokenValidity: Invalid value: \"9m0s\": must be at least "
             "10m0s"},
        Case{"renew_beyond_lease", "leaderElection: {renewDeadline: 15s}",
             "leaderElection.leaseDuration: Invalid value: \"15s\": must be greater than "
             "renewDeadline"},
        Case{"no_workers", "controller: {groupKindConcurrency: {Job.batch: 0}}",
             "controller.groupKindConcurrency[Job.batch]: Invalid value: 0: must be greater than "
             "or equal to 1"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(NearMiss, SuggestsOnlyWhatIsClose) {
  const std::vector<std::string_view> known{"port", "host", "certDir"};
  EXPECT_EQ(did_you_mean("prot", known), "; did you mean \"port\"?");
  EXPECT_EQ(did_you_mean("certdir", known), "; did you mean \"certDir\"?");
  EXPECT_EQ(did_you_mean("something", known), "");
}

}  // namespace
}  // namespace regatta::manager
