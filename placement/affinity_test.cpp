#include "placement/affinity.h"

#include "lib/base/joined.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

Affinity read(const api::StringMap& annotations) {
  const auto affinity = affinity_of(annotations);
  EXPECT_TRUE(affinity) << affinity.error().what();
  return affinity ? *affinity : Affinity();
}

TEST(AffinityOf, NothingAllowsEveryWorkerAndEveryWay) {
  const Affinity any = read({{"other", "x"}});
  EXPECT_TRUE(any.allows("a", {}));
  EXPECT_EQ(any.preference("a", {}), 0U);
  EXPECT_TRUE(any.limits.may_borrow);
  EXPECT_TRUE(any.limits.may_preempt);
}

TEST(AffinityOf, NamesBoundTheWorkers) {
  const Affinity two = read({{"kueue.x-k8s.io/multikueue-cluster-names", "b, a,b"}});
  EXPECT_EQ(joined(two.required_names, " "), "b a");
  EXPECT_TRUE(two.allows("a", {}));
  EXPECT_FALSE(two.allows("c", {}));
}

TEST(AffinityOf, LabelsBoundTheWorkersBesideTheNames) {
  const Affinity both = read({{"kueue.x-k8s.io/multikueue-cluster-names", "a,b"},
                              {"multikueue.regatta.dev/cluster-selector", "gpu in (h100,h200)"}});
  EXPECT_TRUE(both.allows("a", {{"gpu", "h100"}}));
  EXPECT_FALSE(both.allows("a", {{"gpu", "t4"}}));
  EXPECT_FALSE(both.allows("c", {{"gpu", "h100"}}));
}

TEST(AffinityOf, PreferredNamesGoBeforePreferredLabelsBeforeTheRest) {
  const Affinity some = read({{"multikueue.regatta.dev/preferred-cluster-names", "b,a"},
                              {"multikueue.regatta.dev/preferred-cluster-selector", "zone=near"}});
  EXPECT_EQ(some.preference("b", {}), 0U);
  EXPECT_EQ(some.preference("a", {{"zone", "near"}}), 1U);
  EXPECT_EQ(some.preference("c", {{"zone", "near"}}), 2U);
  EXPECT_EQ(some.preference("d", {{"zone", "far"}}), 3U);
  EXPECT_TRUE(some.allows("d", {}));
}

TEST(AffinityOf, SwitchesForbidAWayToGetRoom) {
  const Affinity strict = read({{"multikueue.regatta.dev/must-not-borrow", "true"},
                                {"multikueue.regatta.dev/must-not-preempt", "false"}});
  EXPECT_FALSE(strict.limits.may_borrow);
  EXPECT_TRUE(strict.limits.may_preempt);
  EXPECT_FALSE(read({{"multikueue.regatta.dev/must-not-preempt", "true"}}).limits.may_preempt);
}

TEST(AffinityOf, WhatCannotBeReadIsAnError) {
  for (const api::StringMap& annotations :
       std::vector<api::StringMap>{{{"kueue.x-k8s.io/multikueue-cluster-names", ""}},
                                   {{"kueue.x-k8s.io/multikueue-cluster-names", "a,,b"}},
                                   {{"multikueue.regatta.dev/preferred-cluster-names", "a,"}},
                                   {{"multikueue.regatta.dev/cluster-selector", "gpu in ("}},
                                   {{"multikueue.regatta.dev/preferred-cluster-selector", "=x"}},
                                   {{"multikueue.regatta.dev/must-not-borrow", "yes"}},
                                   {{"multikueue.regatta.dev/must-not-preempt", ""}}}) {
    const auto& [annotation, value] = *annotations.begin();
    const auto read = affinity_of(annotations);
    ASSERT_FALSE(read) << annotation;
    EXPECT_TRUE(read.error().what().starts_with("annotation " + annotation + " \"" + value + "\""))
        << read.error().what();
  }
}

/// "w0,w1,…"
std::string list_of(int number, const std::string& prefix) {
  std::string out;
  for (int i = 0; i < number; ++i) out += (i == 0 ? "" : ",") + prefix + std::to_string(i);
  return out;
}

std::string refusal(const std::string& annotation, const std::string& value) {
  const auto read = affinity_of({{annotation, value}});
  return read ? "none" : read.error().what();
}

TEST(AffinityOf, NamesAndRequirementsHaveALimit) {
  const std::string names = "kueue.x-k8s.io/multikueue-cluster-names";
  const std::string selector = "multikueue.regatta.dev/preferred-cluster-selector";
  const std::string longest(250, 'w');
  EXPECT_EQ(read({{names, list_of(256, longest)}}).required_names.size(), 256U);
  EXPECT_EQ(read({{names, list_of(256, "w") + ",w0,w1"}}).required_names.size(), 256U)
      << "a name that comes again counts once";
  EXPECT_TRUE(refusal(names, list_of(257, "w"))
                  .ends_with("...\": it has 257 names, and may have at most 256"));
  EXPECT_EQ(refusal(selector, list_of(256, "k")), "none");
  EXPECT_TRUE(refusal(selector, list_of(257, "k"))
                  .ends_with("...\": it has 257 requirements, and may have at most 256"));
}

TEST(AffinityOf, AnAnnotationHasALimitAndAnErrorShowsItsBeginning) {
  for (const std::string annotation :
       {"kueue.x-k8s.io/multikueue-cluster-names", "multikueue.regatta.dev/preferred-cluster-names",
        "multikueue.regatta.dev/cluster-selector",
        "multikueue.regatta.dev/preferred-cluster-selector"}) {
    // To compare each of so many names with each other would take hours.
    const std::string text = list_of(500'000, "w");
    const std::string told = refusal(annotation, text);
    EXPECT_TRUE(told.starts_with("annotation " + annotation + " \"w0,w1,w2,")) << told;
    EXPECT_TRUE(told.ends_with("it has " + std::to_string(text.size()) +
                               " bytes, and may have at most 65536"))
        << told;
    EXPECT_LE(refusal(annotation, std::string(65'536, '=') + ",").size(), 1024U);
    EXPECT_LE(refusal(annotation, std::string(60'000, '-') + ",").size(), 1024U);
  }
}

}  // namespace
}  // namespace regatta::placement
