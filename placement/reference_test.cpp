#include "placement/reference.h"

#include "lib/api/own_names.h"
#include "lib/base/joined.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

api::StringMap names(std::string_view annotation, const std::string& value) {
  return {{std::string(annotation), value}};
}

api::AdmissionCheckSpec check(const std::string& name, const std::string& kind = "Placement") {
  api::AdmissionCheckSpec out;
  out.controller_name = std::string(api::placement_controller_name);
  out.parameters = {std::string(api::placement_group), kind, name};
  return out;
}

std::string described(const Naming& naming) {
  const auto found = references(naming);
  if (!found) return found.error().what();
  std::vector<std::string> all;
  for (const Reference& one : *found) all.push_back(one.str());
  return joined(all);
}

Naming in_team() {
  Naming out;
  out.ns = "team";
  out.system_namespace = "kueue-system";
  return out;
}

constexpr auto by_name = api::annotations::placement;
constexpr auto by_key = api::annotations::placement_key;

TEST(References, TakeTheNearestAnnotation) {
  Naming naming = in_team();
  EXPECT_EQ(described(naming), "");
  naming.cluster_queue = names(by_name, "c");
  EXPECT_EQ(described(naming), "Placement kueue-system/c");
  naming.local_queue = names(by_name, "q");
  EXPECT_EQ(described(naming), "Placement team/q");
  naming.job = names(by_name, "j");
  EXPECT_EQ(described(naming), "Placement team/j");
  naming.workload = names(by_key, "w");
  EXPECT_EQ(described(naming), "placement key team/w");
}

TEST(References, MayLieElsewhereForQueuesOnly) {
  Naming naming = in_team();
  naming.local_queue = names(by_name, "fleet/q");
  EXPECT_EQ(described(naming), "Placement fleet/q");
  naming.job = names(by_name, "team/j");
  EXPECT_EQ(described(naming), "Placement team/j");
  naming.job = names(by_name, "fleet/j");
  EXPECT_EQ(described(naming),
            "annotation multikueue.regatta.dev/placement \"fleet/j\": a workload may only name "
            "what is in its own namespace");
}

TEST(References, OfChecksNarrowWhatAnAnnotationNames) {
  Naming naming = in_team();
  naming.checks = {check("gpus"), check("eu"), check("gpus")};
  EXPECT_EQ(described(naming), "Placement kueue-system/gpus, Placement kueue-system/eu");
  naming.job = names(by_name, "j");
  EXPECT_EQ(described(naming),
            "Placement team/j, Placement kueue-system/gpus, Placement kueue-system/eu");
}

TEST(References, SayWhatIsWrongWithThem) {
  Naming naming = in_team();
  naming.checks = {check("gpus", "MultiKueueConfig")};
  EXPECT_EQ(described(naming),
            "wrong parameters reference: expected kind Placement of "
            "cluster.open-cluster-management.io, got MultiKueueConfig of "
            "cluster.open-cluster-management.io");
  naming.checks.front().parameters.reset();
  EXPECT_EQ(described(naming), "missing parameters reference");
  naming.checks = {check("")};
  EXPECT_EQ(described(naming), "the parameters reference has no name");
  for (const char* bad : {"/j", "team/", "a/b/c"}) {
    naming.job = names(by_name, bad);
    EXPECT_EQ(described(naming), "annotation multikueue.regatta.dev/placement \"" +
                                     std::string(bad) + "\": write a name, or namespace/name");
  }
}

}  // namespace
}  // namespace regatta::placement
