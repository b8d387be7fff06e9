#include "manager/config/document.h"

#include "lib/base/json_access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manager {
namespace {

const std::string v1beta2 = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
const std::string v1beta1 = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n";

Json effective(const std::string& text) {
  const auto document = read_document(text, "kueue-system");
  EXPECT_TRUE(document) << text << ": " << document.error().what();
  return document ? shown_configuration(document->effective) : Json();
}

std::string refusal(const std::string& text) {
  const auto document = read_document(text, "kueue-system");
  return document ? "" : document.error().what();
}

TEST(ConfigDocument, DefaultsOfBothVersionsDiffer) {
  const Json now = effective(""), before = effective(v1beta1);
  EXPECT_EQ(now["waitForPodsReady"]["timeout"], "30m0s");
  EXPECT_EQ(now["visibilityServer"]["bindPort"], 8082);
  EXPECT_FALSE(before.contains("waitForPodsReady"));
  EXPECT_FALSE(before.contains("visibilityServer"));
  EXPECT_EQ(before["apiVersion"], "config.kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(before["multiKueue"], now["multiKueue"]);
}

TEST(ConfigDocument, WhatIsSwitchedOffInTheOldVersionIsGone) {
  const Json c = effective(v1beta1 +
                           "waitForPodsReady: {enable: true}\n"
                           "fairSharing: {enable: false, preemptionStrategies: [a]}\n"
                           "integrations: {podOptions: {podSelector: {}}}\n"
                           "queueVisibility: {updateIntervalSeconds: 5}\n");
  EXPECT_EQ(c["waitForPodsReady"]["timeout"], "5m0s");
  EXPECT_EQ(c["waitForPodsReady"]["recoveryTimeout"], "5m0s");
  EXPECT_EQ(c["waitForPodsReady"]["blockAdmission"], true);
  EXPECT_FALSE(c["waitForPodsReady"].contains("enable"));
  EXPECT_FALSE(c.contains("fairSharing"));
  EXPECT_FALSE(c.contains("queueVisibility"));
  EXPECT_EQ(c["integrations"], Json({{"frameworks", {"batch/job"}}}));
}

TEST(ConfigDocument, ValuesAreWrittenCanonically) {
  const Json c = effective(v1beta2 +
                           "multiKueue: {gcInterval: 90s, workerLostTimeout: 1.5us}\n"
                           "clientConnection: {qps: 0.1, burst: 2.0}\n"
                           "webhook: {port: 0123}\n"
                           "resources: {transformations: [{input: a, outputs: {b: 0.5}}]}\n");
  EXPECT_EQ(c["multiKueue"]["gcInterval"], "1m30s");
  EXPECT_EQ(c["multiKueue"]["workerLostTimeout"], "1.5\u00b5s");
  EXPECT_EQ(c["clientConnection"]["qps"], 0.1);
  EXPECT_EQ(c["clientConnection"]["burst"], 2);
  EXPECT_EQ(c["webhook"]["port"], 83);
  EXPECT_EQ(c["resources"]["transformations"][0]["outputs"]["b"], "500m");
}

TEST(ConfigDocument, ZeroStaysWhereAbsentDiffersFromIt) {
  const Json c = effective(v1beta2 +
                           "namespace: ''\nclientConnection: {qps: 0}\nmultiKueue: {gcInterval: "
                           "0s, origin: ''}\nwaitForPodsReady: {timeout: 0s, recoveryTimeout: "
                           "0s}\nleaderElection: {retryPeriod: 0s}\n");
  EXPECT_EQ(c["namespace"], "");
  EXPECT_EQ(c["clientConnection"]["qps"], 0);
  EXPECT_EQ(c["multiKueue"]["gcInterval"], "0s");
  EXPECT_EQ(c["multiKueue"]["origin"], "multikueue");
  EXPECT_EQ(c["waitForPodsReady"]["timeout"], "30m0s");
  EXPECT_EQ(c["waitForPodsReady"]["recoveryTimeout"], "0s");
  EXPECT_EQ(c["leaderElection"]["retryPeriod"], "2s");
}

TEST(ConfigDocument, OneThatDoesNotSayWhatItIsIsOfTheNewVersion) {
  EXPECT_TRUE(effective("namespace: a\n").contains("visibilityServer"));
  EXPECT_TRUE(effective("kind: Configuration\n").contains("visibilityServer"));
  EXPECT_FALSE(effective("apiVersion: config.kueue.x-k8s.io/v1beta1\n").contains("kinds"));
  EXPECT_EQ(effective(v1beta2 + "---\nnamespace: second\n")["namespace"], "kueue-system");
}

TEST(ConfigDocument, OtherDocumentsAreRefused) {
  for (const char* text : {"kind: Pod\napiVersion: v1\n", "kind: Config\n", "[]", "text", "a: [\n",
                           "kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1\n",
                           "kind: 5\n", "apiVersion: kueue.x-k8s.io/v1beta2\n"}) {
    EXPECT_NE(refusal(text), "") << text;
  }
}

TEST(ConfigDocument, ReadingIsStrict) {
  EXPECT_EQ(refusal(v1beta1 + "metrics: {customLabels: [{name: a, sourceKind: Cohort}]}\n"),
            "strict decoding error: unknown field \"metrics.customLabels[0].sourceKind\"");
  const std::string twice = refusal(v1beta2 + "namespace: a\nnamespace: b\nfoo: 1\n");
  EXPECT_TRUE(twice.starts_with("strict decoding error: yaml: line 4: ")) << twice;
  EXPECT_TRUE(twice.ends_with(", unknown field \"foo\"")) << twice;
  EXPECT_EQ(refusal(v1beta2 + "metadata: {name: a}\n"),
            "strict decoding error: unknown field \"metadata\"");
  for (const char* text :
       {"namespace: a\nnamespace: b\n", "namespace: off\n", "namespace: 5\n", "webhook: []\n",
        "clientConnection: {burst: 1.5}\n", "clientConnection: {burst: 3000000000}\n",
        "controller: {cacheSyncTimeout: 2m}\n", "featureGates: {PartialAdmission: 'no'}\n",
        "waitForPodsReady: {timeout: null}\n", "multiKueue: {gcInterval: soon}\n",
        "resources: {transformations: [{outputs: {a: much}}]}\n"}) {
    EXPECT_NE(refusal(v1beta2 + text), "") << text;
  }
  EXPECT_EQ(refusal(v1beta2 + "multiKueue: {gcInterval: null}\nwebhook: null\n"), "");
}

}  // namespace
}  // namespace regatta::manager
