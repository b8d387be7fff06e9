#include "lifecycle/place_claims.h"

#include "admission/topology/assignment.h"
#include "lib/api/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::lifecycle {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

using WorkloadPtr = std::shared_ptr<const api::Workload>;

/// A Workload with quota and these places.
std::shared_ptr<api::Workload> workload(admission::TopologyDomains places) {
  auto made = std::make_shared<api::Workload>();
  made->metadata.name = "w";
  made->status.admission.emplace();
  auto& set = made->status.admission->pod_set_assignments.emplace_back();
  set.name = "main";
  set.topology_assignment = admission::compact(places);
  api::Condition reserved;
  reserved.type = api::conditions::quota_reserved;
  reserved.status = api::ConditionStatus::True;
  made->status.conditions.push_back(reserved);
  return made;
}

admission::TopologyDomains hosts(std::vector<admission::TopologyDomain> domains) {
  return {{std::string(api::labels::hostname)}, std::move(domains)};
}

PodPtr pod(const std::string& name, const std::string& node, int born = 0) {
  auto made = std::make_shared<api::Pod>();
  made->metadata.name = name;
  made->metadata.ns = "n";
  made->metadata.creation_timestamp = TimePoint(Duration(born));
  made->spec.node_name = node;
  return made;
}

/// Nodes a, b and c; a and b are in rack r1, c is in rack r2.
const api::StringMap* labels_of(const std::string& node) {
  static const std::map<std::string, api::StringMap> known = [] {
    std::map<std::string, api::StringMap> all;
    for (const char* name : {"a", "b", "c"}) {
      all[name] = {{std::string(api::labels::hostname), name},
                   {"rack", std::string(name) == "c" ? "r2" : "r1"}};
    }
    return all;
  }();
  const auto found = known.find(node);
  return found == known.end() ? nullptr : &found->second;
}

admission::PodAmounts takes_nothing(const api::Workload&, const std::string&) {
  return {};
}

std::vector<std::string> beyond(const std::vector<WorkloadPtr>& workloads,
                                std::vector<PodPtr> pods) {
  std::vector<std::string> names;
  const auto found = beyond_places(workloads, std::move(pods), labels_of, takes_nothing);
  for (const auto& [key, takes] : found) names.push_back(key.name);
  return names;
}

TEST(PlaceClaims, PodsInTheirPlacesAreBelieved) {
  const auto w = workload(hosts({{{"a"}, 2}, {{"b"}, 1}}));
  EXPECT_THAT(beyond({w}, {pod("x", "a"), pod("y", "a"), pod("z", "b")}), IsEmpty());
}

TEST(PlaceClaims, WithoutAWorkloadNoPodHasAPlace) {
  EXPECT_THAT(beyond({}, {pod("x", "a"), pod("y", "b")}), UnorderedElementsAre("x", "y"));
}

TEST(PlaceClaims, OnAnotherNodeThereIsNoPlace) {
  EXPECT_THAT(beyond({workload(hosts({{{"a"}, 1}}))}, {pod("x", "b")}), UnorderedElementsAre("x"));
}

TEST(PlaceClaims, TheOldestPodsHaveThePlaces) {
  const auto w = workload(hosts({{{"a"}, 2}}));
  EXPECT_THAT(beyond({w}, {pod("x", "a", 3), pod("y", "a", 1), pod("z", "a", 2)}),
              UnorderedElementsAre("x"));
}

TEST(PlaceClaims, APlaceMayBeWiderThanANode) {
  const auto w = workload({{"rack"}, {{{"r1"}, 2}}});
  EXPECT_THAT(beyond({w}, {pod("x", "a", 1), pod("y", "b", 2), pod("z", "a", 3), pod("v", "c")}),
              UnorderedElementsAre("z", "v"));
}

/// A pod of this pod set that requests so many CPUs and so much memory.
PodPtr sized_pod(const std::string& name, const std::string& pod_set, const char* cpu,
                 const char* memory) {
  auto made = std::make_shared<api::Pod>(*pod(name, "a"));
  made->metadata.labels[std::string(api::labels::pod_set)] = pod_set;
  auto& requests = made->spec.containers.emplace_back().resources.requests;
  requests["cpu"] = *api::Quantity::parse(cpu);
  requests["memory"] = *api::Quantity::parse(memory);
  return made;
}

/// Of the pod set "main" 1 CPU and 1 Ki, of the others 2 CPUs.
admission::PodAmounts by_pod_set(const api::Workload&, const std::string& pod_set) {
  if (pod_set == "main") return {{"cpu", 1000}, {"memory", 1024}, {"pods", 1}};
  return {{"cpu", 2000}, {"pods", 1}};
}

using testing::Pair;

TEST(PlaceClaims, APodTakesBeyondItsPlaceWhatItRequestsMore) {
  const auto w = workload(hosts({{{"a"}, 3}}));
  const auto found = beyond_places(
      {w},
      {sized_pod("as-told", "main", "1", "1Ki"), sized_pod("less", "main", "500m", "1"),
       sized_pod("more", "main", "1500m", "1Ki")},
      labels_of, by_pod_set);
  EXPECT_THAT(found, UnorderedElementsAre(Pair(api::ObjectKey("n", "more"),
                                               UnorderedElementsAre(Pair("cpu", 500)))));
}

TEST(PlaceClaims, APodWithoutAPlaceTakesItselfToo) {
  const auto found = beyond_places({}, {sized_pod("x", "main", "1", "1Ki")}, labels_of, by_pod_set);
  EXPECT_THAT(found,
              UnorderedElementsAre(Pair(
                  api::ObjectKey("n", "x"),
                  UnorderedElementsAre(Pair("cpu", 1000), Pair("memory", 1024), Pair("pods", 1)))));
}

TEST(PlaceClaims, APlaceOfItsOwnPodSetComesFirst) {
  auto w = workload(hosts({{{"a"}, 1}}));
  auto large = w->status.admission->pod_set_assignments[0];
  large.name = "large";
  w->status.admission->pod_set_assignments.push_back(large);
  const auto own = beyond_places(
      {w}, {sized_pod("big", "large", "2", "0"), sized_pod("small", "main", "1", "1Ki")}, labels_of,
      by_pod_set);
  EXPECT_THAT(own, IsEmpty());
  // Two say that they are large: one has to do with the other place.
  const auto lies =
      beyond_places({w}, {sized_pod("one", "large", "2", "0"), sized_pod("two", "large", "2", "0")},
                    labels_of, by_pod_set);
  EXPECT_THAT(lies, UnorderedElementsAre(
                        Pair(api::ObjectKey("n", "two"), UnorderedElementsAre(Pair("cpu", 1000)))));
}

TEST(PlaceClaims, APodOfAPlaceWhoseSizeIsNotKnownIsBelieved) {
  const auto w = workload(hosts({{{"a"}, 1}}));
  EXPECT_THAT(beyond({w}, {sized_pod("x", "main", "100", "1Gi")}), IsEmpty());
}

TEST(PlaceClaims, SlicesOfAJobAddUp) {
  const auto one = workload(hosts({{{"a"}, 1}})), two = workload(hosts({{{"a"}, 1}, {{"b"}, 1}}));
  EXPECT_THAT(beyond({one, two}, {pod("x", "a"), pod("y", "a"), pod("z", "b")}), IsEmpty());
}

TEST(PlaceClaims, APodOnAnUnknownNodeIsBelieved) {
  EXPECT_THAT(beyond({}, {pod("x", "gone")}), IsEmpty());
}

TEST(PlaceClaims, PlacesThatCannotBeReadAreBelieved) {
  auto w = workload(hosts({{{"a"}, 1}}));
  auto& places = w->status.admission->pod_set_assignments[0].topology_assignment;
  places->slices[0].values_per_level.clear();
  EXPECT_THAT(beyond({w}, {pod("x", "b")}), IsEmpty());
}

TEST(PlaceClaims, PlacesCountUntilTheQuotaIsGivenBack) {
  auto w = workload(hosts({{{"a"}, 1}}));
  EXPECT_TRUE(takes_places(*w));
  api::Condition evicted;
  evicted.type = api::conditions::evicted;
  evicted.status = api::ConditionStatus::True;
  w->status.conditions.push_back(evicted);
  EXPECT_TRUE(takes_places(*w)) << "its pods are about to end";
  w->status.conditions[0].status = api::ConditionStatus::False;
  EXPECT_FALSE(takes_places(*w));
  w->status.conditions[0].status = api::ConditionStatus::True;
  w->status.admission->pod_set_assignments[0].topology_assignment.reset();
  EXPECT_FALSE(takes_places(*w));
}

}  // namespace
}  // namespace regatta::lifecycle
