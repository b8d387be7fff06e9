#include "manager/config/feature_gates.h"

#include "manager/config/kubernetes_gates.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regatta::manager {
namespace {

std::string refusal(const GateSettings& settings) {
  const auto gates = FeatureGates::make(settings);
  return gates ? "accepted" : gates.error().what();
}

TEST(FeatureGates, AreSortedAndUnique) {
  const auto all = all_feature_gates();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_NE(all[i - 1].name, all[i].name);
}

TEST(FeatureGates, HaveTheirDefaults) {
  const FeatureGates gates;
  EXPECT_TRUE(gates.enabled("MultiKueue"));
  EXPECT_TRUE(gates.enabled("TASFailedNodeReplacementFailFast"));
  EXPECT_TRUE(gates.enabled("TLSOptions"));
  EXPECT_FALSE(gates.enabled("MultiKueueOrchestratedPreemption"));
  EXPECT_FALSE(gates.enabled("UnadmittedWorkloadsExplicitStatus"));
}

TEST(FeatureGates, SettingOneWithNothingBehindItIsTold) {
  const auto gates = FeatureGates::make({{"ConcurrentAdmission", true},
                                         {"PartialAdmission", false},
                                         {"MultiKueue", true},
                                         {"WatchList", false}});
  EXPECT_EQ(gates->without_effect(),
            (std::vector<std::string>{"ConcurrentAdmission", "WatchList"}));
}

TEST(FeatureGates, ThoseWithEffectExistAndAreSorted) {
  const auto names = feature_gates_with_effect();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  const auto all = all_feature_gates();
  for (const std::string_view name : names) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const auto& g) { return g.name == name; }))
        << name;
  }
}

TEST(FeatureGates, UnknownOnesAreRefused) {
  EXPECT_EQ(refusal({{"MultiKueu", true}}), "unrecognized feature gate: MultiKueu");
  EXPECT_EQ(similar_feature_gate("MultiKueu"), "; did you mean \"MultiKueue\"?");
  EXPECT_EQ(similar_feature_gate("MultiKueue"), "");
  EXPECT_EQ(similar_feature_gate("AllBeta"), "");
}

TEST(FeatureGates, ThoseOfKubernetesMayBeNamed) {
  const auto all = kubernetes_gates();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  EXPECT_EQ(refusal({{"WatchList", false}}), "accepted");
  EXPECT_EQ(refusal({{"AtomicFIFO", false}}).substr(0, 36), "[StaleControllerConsistencyDaemonSet");
}

TEST(FeatureGates, LockedOnesCannotBeTurnedOff) {
  EXPECT_EQ(refusal({{"TLSOptions", true}}), "accepted");
  EXPECT_EQ(
      refusal({{"TLSOptions", false}, {"MultiKueueWaitForWorkloadAdmitted", false}}),
      "[cannot set feature gate MultiKueueWaitForWorkloadAdmitted to false, feature is locked "
      "to true, cannot set feature gate TLSOptions to false, feature is locked to true]");
}

TEST(FeatureGates, NoGateIsOnWithoutWhatItNeeds) {
  EXPECT_EQ(refusal({{"FlavorFungibility", false}}),
            "FlavorFungibilityPreserveScanProgress is enabled, but depends on features that are "
            "disabled: [FlavorFungibility]");
  EXPECT_EQ(
      refusal({{"FlavorFungibility", false}, {"FlavorFungibilityPreserveScanProgress", false}}),
      "accepted");
  EXPECT_EQ(refusal({{"ElasticJobsViaWorkloadSlicesWithTAS", true},
                     {"ElasticJobsViaWorkloadSlices", false}}),
            "ElasticJobsViaWorkloadSlicesWithTAS is enabled, but depends on features that are "
            "disabled: [ElasticJobsViaWorkloadSlices]");
  EXPECT_EQ(refusal({{"AllBeta", false}}), "accepted");
}

TEST(FeatureGates, AWholeStageCanBeSwitched) {
  const auto gates = FeatureGates::make({{"AllAlpha", true}, {"PriorityBoost", false}});
  EXPECT_TRUE(gates->enabled("ConcurrentAdmission"));
  EXPECT_FALSE(gates->enabled("PriorityBoost"));
}

TEST(FeatureGates, TheFlagIsAListOfAssignments) {
  EXPECT_EQ(*parse_feature_gates_flag("A=true,B=false,"),
            (GateSettings{{"A", true}, {"B", false}}));
  EXPECT_EQ(*parse_feature_gates_flag(""), GateSettings());
  EXPECT_EQ(*parse_feature_gates_flag(" A = 1 ,B=F"), (GateSettings{{"A", true}, {"B", false}}));
  EXPECT_EQ(parse_feature_gates_flag("A").error().what(), "missing bool value for A");
  EXPECT_EQ(parse_feature_gates_flag("A=on").error().what(),
            "invalid value of A=on, err: strconv.ParseBool: parsing \"on\": invalid syntax");
  for (const char* text : {"A", "A=", "A=yes", "=", "A=true=false"}) {
    EXPECT_FALSE(parse_feature_gates_flag(text)) << text;
  }
}

}  // namespace
}  // namespace regatta::manager
