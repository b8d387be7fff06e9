#include "manager/config/feature_gates.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regatta::manager {
namespace {

std::string refusal(const GateSettings& file, const GateSettings& flag = {}) {
  const auto gates = FeatureGates::make(file, flag);
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
  const auto gates = FeatureGates::make(
      {{"ConcurrentAdmission", true}, {"PartialAdmission", false}, {"MultiKueue", true}}, {});
  EXPECT_EQ(gates->without_effect(), std::vector<std::string>{"ConcurrentAdmission"});
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

TEST(FeatureGates, TheFlagWinsOverTheFile) {
  const auto gates =
      FeatureGates::make({{"PartialAdmission", false}, {"ConcurrentAdmission", true}},
                         {{"ConcurrentAdmission", false}});
  EXPECT_FALSE(gates->enabled("PartialAdmission"));
  EXPECT_FALSE(gates->enabled("ConcurrentAdmission"));
}

TEST(FeatureGates, UnknownOnesAreRefusedWithASuggestion) {
  EXPECT_EQ(refusal({{"MultiKueu", true}}),
            "featureGates: unrecognized feature gate: MultiKueu; did you mean \"MultiKueue\"?");
  EXPECT_EQ(refusal({}, {{"Nonsense", true}}),
            "--feature-gates: unrecognized feature gate: Nonsense");
}

TEST(FeatureGates, LockedOnesCannotBeTurnedOff) {
  EXPECT_EQ(refusal({{"TLSOptions", true}}), "accepted");
  EXPECT_EQ(refusal({{"TLSOptions", false}}),
            "featureGates: cannot set feature gate TLSOptions to false, feature is locked to true");
}

TEST(FeatureGates, PrerequisitesSwitchOthersOffAndCannotBeContradicted) {
  const auto gates = FeatureGates::make({{"TopologyAwareScheduling", false}}, {});
  EXPECT_FALSE(gates->enabled("TASProfileMixed"));
  EXPECT_FALSE(gates->enabled("TASFailedNodeReplacementFailFast"));
  EXPECT_EQ(refusal({{"TopologyAwareScheduling", false}, {"TASProfileMixed", true}}),
            "feature gate TASProfileMixed needs TopologyAwareScheduling, which is off");
}

TEST(FeatureGates, AWholeStageCanBeSwitched) {
  const auto gates = FeatureGates::make({{"AllAlpha", true}, {"PriorityBoost", false}}, {});
  EXPECT_TRUE(gates->enabled("ConcurrentAdmission"));
  EXPECT_FALSE(gates->enabled("PriorityBoost"));
}

TEST(FeatureGates, TheFlagIsAListOfAssignments) {
  EXPECT_EQ(*parse_feature_gates_flag("A=true,B=false,"),
            (GateSettings{{"A", true}, {"B", false}}));
  EXPECT_EQ(*parse_feature_gates_flag(""), GateSettings());
  for (const char* text : {"A", "A=", "A=yes", "=", "A=true=false"}) {
    EXPECT_FALSE(parse_feature_gates_flag(text)) << text;
  }
}

}  // namespace
}  // namespace regatta::manager
