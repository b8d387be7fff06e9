#include "manager/config/rules.h"

#include "manager/config/configuration.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regatta::manager {
namespace {

/// What is wrong, one error a line.
std::string errors_of(const std::string& text, std::string_view gates = {}) {
  const auto read = check_configuration(text, gates);
  if (!read) return read.error().what();
  std::string out;
  for (const auto* list : {&read->gate_errors, &read->errors}) {
    for (const api::FieldError& error : *list) out += (out.empty() ? "" : "\n") + error.text();
  }
  return out;
}

struct Case {
  const char* name;
  const char* text;
  const char* want;
  const char* gates = "";
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};
class ConfigRules : public ::testing::TestWithParam<Case> {};

TEST_P(ConfigRules, RefuseWhatKueueRefuses) {
  const Case& c = GetParam();
  EXPECT_EQ(errors_of(c.text, c.gates), c.want);
}

const Case general[] = {
    {"gc_in_nanoseconds", "multiKueue: {gcInterval: -1s}",
     "multiKueue.gcInterval: Invalid value: -1000000000: must be greater than or equal to 0"},
    {"dispatcher_that_is_none", "multiKueue: {dispatcherName: multikueue.regatta.dev/capcity}",
     "multiKueue.dispatcherName: Unsupported value: \"multikueue.regatta.dev/capcity\": supported "
     "values: \"multikueue.regatta.dev/capacity\", \"multikueue.regatta.dev/cost\", "
     "\"multikueue.regatta.dev/locality\", \"multikueue.regatta.dev/placement\", "
     "\"multikueue.regatta.dev/spread\""},
    {"step_of_another_dispatcher", "multiKueue: {incrementalDispatcherConfig: {stepSize: 0}}",
     "multiKueue.incrementalDispatcherConfig: Invalid value: {\"stepSize\":0}: "
     "incrementalDispatcherConfig is only valid when dispatcherName is set to the incremental "
     "dispatcher\n"
     "multiKueue.incrementalDispatcherConfig.stepSize: Invalid value: 0: must be greater than or "
     "equal to 1"},
    {"adapter_of_a_framework_that_is_off",
     "integrations: {frameworks: [pod]}\nmultiKueue: {externalFrameworks: [{name: Job.v1.batch}]}",
     ""},
    {"adapter_built_in_and_twice",
     "multiKueue: {externalFrameworks: [{name: Job.v1.batch}, {name: Job.v1.batch}, {name: a.b}]}",
     "multiKueue.externalFrameworks[0].name: Invalid value: \"Job.v1.batch\": conflicts with a "
     "built-in MultiKueue adapter\n"
     "multiKueue.externalFrameworks[1].name: Duplicate value: \"Job.v1.batch\"\n"
     "multiKueue.externalFrameworks[1].name: Invalid value: \"Job.v1.batch\": conflicts with a "
     "built-in MultiKueue adapter\n"
     "multiKueue.externalFrameworks[2].name: Invalid value: \"a.b\": must be in "
     "'kind.version.group' format"},
    {"provider_without_anything", "multiKueue: {clusterProfile: {accessProviders: [{}]}}",
     "multiKueue.clusterProfile.accessProviders.name: Required value: must be specified\n"
     "multiKueue.clusterProfile.accessProviders.execConfig.command: Required value: must be "
     "specified\n"
     "multiKueue.clusterProfile.accessProviders.execConfig.apiVersion: Required value: must be "
     "specified\n"
     "multiKueue.clusterProfile.accessProviders.execConfig.interactiveMode: Required value: must "
     "be specified"},
    {"external_framework_that_is_managed",
     "integrations: {frameworks: [pod, pod], externalFrameworks: [Pod.v1., Foo.v1.a]}",
     "integrations.frameworks[1]: Duplicate value: \"pod\"\n"
     "integrations.externalFrameworks[0]: Duplicate value: \"Pod.v1.\""},
    {"selector_of_kube_system",
     "managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}",
     "managedJobsNamespaceSelector: Invalid value: {\"matchLabels\":{\"kubernetes.io/"
     "metadata.name\":\"kube-system\"}}: should not match the \"kube-system\" namespace"},
    {"selector_with_a_bad_operator",
     "managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Within}]}",
     "managedJobsNamespaceSelector.matchExpressions[0].operator: Invalid value: \"Within\": not a "
     "valid selector operator"},
    {"strategies", "fairSharing: {preemptionStrategies: [a]}",
     "fairSharing.preemptionStrategies: Unsupported value: [\"a\"]: supported values: "
     "\"LessThanOrEqualToFinalShare\", \"LessThanInitialShare\", "
     "\"LessThanOrEqualToFinalShare,LessThanInitialShare\""},
    {"weights", "admissionFairSharing: {resourceWeights: {a: 1.5, cpu: -1}}",
     "admissionFairSharing.resourceWeights[cpu]: Invalid value: {\"a\":1.5,\"cpu\":-1}: must be "
     "greater than or equal to 0"},
    {"requeuing", "waitForPodsReady: {requeuingStrategy: {timestamp: b, backoffLimitCount: -1}}",
     "waitForPodsReady.requeuingStrategy.timestamp: Unsupported value: \"b\": supported values: "
     "\"Creation\", \"Eviction\"\n"
     "waitForPodsReady.requeuingStrategy.backoffLimitCount: Invalid value: -1: must be greater "
     "than or equal to 0"},
    {"waiting_that_is_disabled", "waitForPodsReady: {timeout: -1s}", "",
     "DisableWaitForPodsReady=true"},
    {"quota_strategy_without_its_gate", "resources: {quotaCheckStrategy: x}", "",
     "QuotaCheckStrategy=false"},
    {"transformation", "resources: {transformations: [{input: a}, {input: a, strategy: Keep}]}",
     "resources.transformations[1].strategy: Unsupported value: \"Keep\": supported values: "
     "\"Retain\", \"Replace\"\n"
     "resources.transformations[1].input: Duplicate value: \"a\""},
    {"address", "visibilityServer: {bindAddress: '::1%eth0'}",
     "visibilityServer.bindAddress: Invalid value: \"::1%eth0\": must be a valid IP address"},
    {"names_without_certificates",
     "internalCertManagement: {enable: false, webhookSecretName: '-'}", ""},
    {"suites_of_tls_13",
     "tls: {minVersion: VersionTLS13, cipherSuites: [TLS_RSA_WITH_RC4_128_SHA]}",
     "tls.cipherSuites: Invalid value: [\"TLS_RSA_WITH_RC4_128_SHA\"]: may not be specified when "
     "`minVersion` is 'VersionTLS13'"},
    {"curves", "tls: {minVersion: VersionTLS10, curvePreferences: [29, 29]}",
     "tls: Invalid value: {\"minVersion\":\"VersionTLS10\",\"curvePreferences\":[29,29]}: invalid "
     "minVersion. Please use VersionTLS12 or VersionTLS13\n"
     "invalid curve preferences: duplicate curve preference 29"},
    {"curve_out_of_range", "tls: {curvePreferences: [65536]}",
     "tls: Invalid value: {\"curvePreferences\":[65536]}: invalid curve preferences: curve "
     "preference 65536 is out of range (must be 1-65535)"},
    {"gates_twice", "featureGates: {}",
     "featureGates: Invalid value: {}: feature gates for CLI and configuration cannot both "
     "specified",
     "PartialAdmission=true"},
};
INSTANTIATE_TEST_SUITE_P(General, ConfigRules, ::testing::ValuesIn(general),
                         [](const auto& info) { return std::string(info.param.name); });

const Case labels[] = {
    {"name", "metrics: {customLabels: [{name: _a}]}",
     "metrics.customLabels[0].name: Invalid value: \"_a\": must match ^[a-zA-Z][a-zA-Z0-9_]*$\n"
     "metrics.customLabels[0].name: Invalid value: \"_a\": name part must consist of alphanumeric "
     "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
     "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
     "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
    {"two_sources",
     "metrics: {customLabels: [{name: a, sourceLabelKey: b, sourceAnnotationKey: c}]}",
     "metrics.customLabels[0]: Invalid value: {\"name\":\"a\",\"sourceLabelKey\":\"b\","
     "\"sourceAnnotationKey\":\"c\"}: sourceLabelKey and sourceAnnotationKey are mutually "
     "exclusive"},
    {"workload_without_values", "metrics: {customLabels: [{name: a, sourceKind: Workload}]}",
     "metrics.customLabels[0].trackedValues: Invalid value: null: must not be empty when "
     "sourceKind "
     "is 'Workload'"},
    {"values_twice", "metrics: {customLabels: [{name: a, trackedValues: [x, x]}]}",
     "metrics.customLabels[0].trackedValues: Invalid value: [\"x\",\"x\"]: must not contain "
     "duplicates"},
    {"kind", "metrics: {customLabels: [{name: a, sourceKind: Pod}]}",
     "metrics.customLabels: Invalid value: [{\"name\":\"a\",\"sourceKind\":\"Pod\"}]: unknown "
     "source kind: Pod"},
};
INSTANTIATE_TEST_SUITE_P(Labels, ConfigRules, ::testing::ValuesIn(labels),
                         [](const auto& info) { return std::string(info.param.name); });

const Case devices[] = {
    {"class_of_two_resources",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a]}, {name: h, "
     "deviceClassNames: [a, a]}]}",
     "resources.deviceClassMappings[1].deviceClassNames[0]: Invalid value: \"a\": device class "
     "already mapped to resource g\n"
     "resources.deviceClassMappings[1].deviceClassNames[1]: Duplicate value: \"a\"\n"
     "resources.deviceClassMappings[1].deviceClassNames[1]: Invalid value: \"a\": device class "
     "already mapped to resource g"},
    {"two_counters_share_a_class",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: [{counter: "
     "{name: "
     "m, driver: d, deviceSelector: {cel: {expression: 'true'}}}}]}, {name: h, deviceClassNames: "
     "[a], sources: [{counter: {name: o, driver: d, deviceSelector: {cel: {expression: "
     "'true'}}}}]}]}",
     ""},
    {"expression_of_an_attribute",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: [{counter: "
     "{name: "
     "m, driver: d, deviceSelector: {cel: {expression: 'device.attributes[\"d\"].size > 3 && "
     "device.driver == \"d\"'}}}}]}]}",
     ""},
    {"counter_without_its_gate",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: [{counter: "
     "{name: ''}}]}]}",
     "resources.deviceClassMappings[0].sources[0].counter: Invalid value: true: counter sources "
     "require KueueDRAIntegrationPartitionableDevices to be enabled",
     "KueueDRAIntegrationPartitionableDevices=false"},
    {"capacity_without_its_gate",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: [{capacity: "
     "{}}]}]}",
     "resources.deviceClassMappings[0].sources[0].capacity: Invalid value: true: capacity sources "
     "require KueueDRAIntegrationConsumableCapacity to be enabled"},
    {"counter_with_nothing",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: [{counter: {}}, "
     "{}]}]}",
     "resources.deviceClassMappings[0].sources[0].counter.name: Required value\n"
     "resources.deviceClassMappings[0].sources[0].counter.driver: Required value\n"
     "resources.deviceClassMappings[0].sources[0].counter.deviceSelector.cel.expression: Required "
     "value\n"
     "resources.deviceClassMappings[0].sources[1]: Required value: exactly one source type must be "
     "set per entry"},
    {"capacity_name",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: [{capacity: "
     "{name: /1, driver: d, deviceSelector: {cel: {expression: 'true'}}}}]}]}",
     "resources.deviceClassMappings[0].sources[0].capacity.name: Invalid value: \"\": the domain "
     "must not be empty\n"
     "resources.deviceClassMappings[0].sources[0].capacity.name: Invalid value: \"1\": a valid C "
     "identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
     "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
     "'[A-Za-z_][A-Za-z0-9_]*')",
     "KueueDRAIntegrationConsumableCapacity=true"},
    {"expression_that_is_a_number",
     "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: [{counter: "
     "{name: "
     "m, driver: d, deviceSelector: {cel: {expression: 1 + 1}}}}]}]}",
     "resources.deviceClassMappings[0].sources[0].counter.deviceSelector.cel.expression: Invalid "
     "value: \"1 + 1\": CEL compilation failed: must evaluate to bool or the unknown type, not "
     "int"},
};
INSTANTIATE_TEST_SUITE_P(Devices, ConfigRules, ::testing::ValuesIn(devices),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ConfigRules, AnExpressionThatDoesNotCompileIsRefused) {
  for (const char* expression : {"device.", "nothing == 1", "device.nope == 1"}) {
    const std::string errors = errors_of(
        "resources: {deviceClassMappings: [{name: g, deviceClassNames: [a], sources: "
        "[{counter: {name: m, driver: d, deviceSelector: {cel: {expression: '" +
        std::string(expression) + "'}}}}]}]}");
    EXPECT_NE(errors.find("CEL compilation failed: compilation failed: ERROR: <input>:1:"),
              std::string::npos)
        << errors;
  }
}

TEST(ConfigRules, FrameworksAreSorted) {
  const auto all = all_frameworks();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

}  // namespace
}  // namespace regatta::manager
