#include "placement/decisions.h"

#include "lib/base/joined.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

using Part = std::shared_ptr<const api::PlacementDecision>;
using Scored = std::pair<std::string, std::optional<std::int64_t>>;

Part part(const std::string& name, const std::string& group, std::vector<Scored> decisions) {
  auto out = std::make_shared<api::PlacementDecision>();
  out->metadata.ns = "kueue-system";
  out->metadata.name = name;
  out->metadata.labels[std::string(api::placements::group_index_label)] = group;
  for (auto& [cluster, score] : decisions) out->status.decisions.push_back({cluster, score});
  return out;
}

std::string described(const Result<std::vector<std::string>>& clusters) {
  return clusters ? joined(*clusters, " ") : clusters.error().what();
}

Part named(Part unnamed, const std::string& group) {
  auto out = std::make_shared<api::PlacementDecision>(*unnamed);
  out->metadata.labels[std::string(api::placements::group_name_label)] = group;
  return out;
}

struct OrderCase {
  const char* name;
  std::vector<Part> given;
  const char* want;
  friend void PrintTo(const OrderCase& c, std::ostream* out) { *out << c.name; }
};

class Order : public ::testing::TestWithParam<OrderCase> {};

TEST_P(Order, IsThatOfTheDecision) {
  EXPECT_EQ(described(in_order(GetParam().given)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Placement, Order,
    ::testing::Values(
        OrderCase{"nothing", {}, ""},
        OrderCase{"an_empty_decision", {part("p-decision-1", "0", {})}, ""},
        OrderCase{"its_list", {part("p-decision-1", "0", {{"w2", {}}, {"w1", {}}})}, "w2 w1"},
        OrderCase{"parts_by_number_not_by_text",
                  {part("p-decision-10", "0", {{"c", {}}}), part("p-decision-2", "0", {{"b", {}}}),
                   part("p-decision-1", "0", {{"a", {}}})},
                  "a b c"},
        OrderCase{
            "groups_before_parts",
            {part("p-decision-1", "1", {{"late", {}}}), part("p-decision-2", "0", {{"early", {}}})},
            "early late"},
        OrderCase{"groups_by_index_not_by_name",
                  {named(part("p-decision-1", "0", {{"w1", {}}}), "zone-z"),
                   named(part("p-decision-2", "1", {{"w2", {}}}), "zone-a")},
                  "w1 w2"},
        OrderCase{"groups_of_one_index_by_name",
                  {named(part("p-decision-1", "0", {{"w1", {}}}), "zone-z"),
                   named(part("p-decision-2", "0", {{"w2", {}}}), "zone-a"),
                   part("p-decision-3", "0", {{"w3", {}}})},
                  "w3 w2 w1"},
        OrderCase{"scores_of_groups_of_one_index_are_not_compared",
                  {named(part("p-decision-1", "0", {{"w1", 10}, {"w2", 20}}), "zone-a"),
                   named(part("p-decision-2", "0", {{"w3", 90}}), "zone-b")},
                  "w2 w1 w3"},
        OrderCase{"groups_by_number_not_by_text",
                  {part("p-decision-1", "10", {{"j", {}}}), part("p-decision-2", "2", {{"b", {}}})},
                  "b j"},
        OrderCase{
            "scores_within_a_group",
            {part("p-decision-1", "0", {{"w1", 10}, {"w2", 90}}),
             part("p-decision-2", "0", {{"w3", 50}}), part("p-decision-3", "1", {{"w4", 99}})},
            "w2 w3 w1 w4"},
        OrderCase{"a_missing_score_leaves_the_list",
                  {part("p-decision-1", "0", {{"w1", 10}, {"w2", {}}, {"w3", 90}})},
                  "w1 w2 w3"},
        OrderCase{"equal_scores_keep_the_list",
                  {part("p-decision-1", "0", {{"w2", 0}, {"w1", 0}})},
                  "w2 w1"},
        OrderCase{"each_cluster_once",
                  {part("p-decision-1", "0", {{"w1", {}}, {"", {}}}),
                   part("p-decision-2", "1", {{"w1", {}}, {"w2", {}}})},
                  "w1 w2"},
        OrderCase{"a_group_that_is_no_number",
                  {part("p-decision-1", "first", {{"w1", {}}})},
                  "label cluster.open-cluster-management.io/decision-group-index of "
                  "PlacementDecision kueue-system/p-decision-1 is no number: \"first\""},
        OrderCase{"a_negative_group",
                  {part("p-decision-1", "-1", {{"w1", {}}})},
                  "label cluster.open-cluster-management.io/decision-group-index of "
                  "PlacementDecision kueue-system/p-decision-1 is no number: \"-1\""}),
    [](const auto& tested) { return tested.param.name; });

TEST(OrderOfProfiles, IsByIndexAndThenByList) {
  const auto slice = [](const std::string& name, const std::string& index,
                        std::vector<std::string> profiles) {
    auto out = std::make_shared<api::ProfilePlacementDecision>();
    out->metadata.name = name;
    out->metadata.labels[std::string(api::placements::decision_index_label)] = index;
    for (std::string& profile : profiles) out->decisions.push_back({profile});
    return std::shared_ptr<const api::ProfilePlacementDecision>(out);
  };
  EXPECT_EQ(described(in_order(std::vector{slice("a", "10", {"w4"}), slice("b", "2", {"w3"}),
                                           slice("z", "0", {"w2", "w1"})})),
            "w2 w1 w3 w4");
}

/// A Placement that exists and can be read.
DecisionView view() {
  DecisionView out;
  out.reference = {false, "kueue-system", "p"};
  out.served = true;
  out.placement = std::make_shared<api::Placement>();
  return out;
}

DecisionView chosen(std::vector<std::string> clusters) {
  DecisionView out = view();
  out.parts = 1;
  out.clusters = std::move(clusters);
  return out;
}

std::shared_ptr<api::Placement> placement(std::int32_t selected, const std::string& reason = "") {
  auto out = std::make_shared<api::Placement>();
  out->status.number_of_selected_clusters = selected;
  if (!reason.empty()) {
    api::Condition why;
    why.type = std::string(api::placements::satisfied_condition);
    why.status = api::ConditionStatus::False;
    why.reason = reason;
    why.message = "none matches";
    out->status.conditions.push_back(why);
  }
  return out;
}

struct VerdictCase {
  const char* name;
  DecisionView given;
  const char* clusters;
  const char* condition;  ///< of a check that names the Placement
  friend void PrintTo(const VerdictCase& c, std::ostream* out) { *out << c.name; }
};

DecisionView with(DecisionView view, auto change) {
  change(view);
  return view;
}

class Verdicts : public ::testing::TestWithParam<VerdictCase> {};

TEST_P(Verdicts, SayWhichClustersCountAndWhyThereAreNone) {
  const VerdictCase& c = GetParam();
  const Verdict verdict = judge(c.given);
  EXPECT_EQ(joined(verdict.clusters, " "), c.clusters);
  const api::Condition condition = placement_check_condition(verdict, 7);
  EXPECT_EQ(condition.observed_generation, 7);
  EXPECT_EQ(condition.type, "Active");
  const char* status = condition.status == api::ConditionStatus::True ? "True " : "False ";
  EXPECT_EQ(status + condition.reason + ": " + condition.message, c.condition);
}

INSTANTIATE_TEST_SUITE_P(
    Placement, Verdicts,
    ::testing::Values(
        VerdictCase{"clusters", chosen({"w2", "w1"}), "w2 w1",
                    "True Active: Placement kueue-system/p has chosen w2, w1"},
        VerdictCase{"the_placement_is_missing",
                    with(chosen({"w1"}),
                         [](auto& v) {
                           v.placement = nullptr;
                           v.last_known = {"w1"};
                         }),
                    "", "False PlacementNotFound: Placement kueue-system/p does not exist"},
        VerdictCase{"the_placement_is_being_deleted",
                    with(chosen({"w1"}),
                         [](auto& v) {
                           auto going = std::make_shared<api::Placement>();
                           going->metadata.deletion_timestamp = TimePoint();
                           v.placement = going;
                         }),
                    "", "False PlacementNotFound: Placement kueue-system/p does not exist"},
        VerdictCase{"no_decision_yet", view(), "",
                    "False NoClustersAvailable: Placement kueue-system/p has not decided yet"},
        VerdictCase{"an_empty_decision",
                    with(chosen({}),
                         [](auto& v) {
                           v.placement = placement(0, "NoManagedClusterMatched");
                           v.last_known = {"w1"};
                         }),
                    "",
                    "False NoClustersAvailable: Placement kueue-system/p has chosen no cluster "
                    "(NoManagedClusterMatched: none matches)"},
        VerdictCase{"decisions_that_went",
                    with(view(),
                         [](auto& v) {
                           v.placement = placement(2);
                           v.last_known = {"w1", "w2"};
                         }),
                    "w1 w2",
                    "True Active: The decisions of Placement kueue-system/p are gone; the last "
                    "ones known count: w1, w2"},
        VerdictCase{"decisions_that_went_after_a_restart",
                    with(view(), [](auto& v) { v.placement = placement(2); }), "",
                    "False NoClustersAvailable: Placement kueue-system/p has not decided yet"},
        VerdictCase{"decisions_that_went_with_the_clusters",
                    with(view(),
                         [](auto& v) {
                           v.placement = placement(0);
                           v.last_known = {"w1"};
                         }),
                    "", "False NoClustersAvailable: Placement kueue-system/p has not decided yet"},
        VerdictCase{"a_bad_label",
                    with(view(),
                         [](auto& v) {
                           v.parts = 1;
                           v.clusters = Error(Errc::invalid, "label x is no number");
                         }),
                    "",
                    "False PlacementDecisionError: Placement kueue-system/p has unreadable "
                    "decisions: label x is no number"},
        VerdictCase{"a_bad_label_after_a_good_one",
                    with(view(),
                         [](auto& v) {
                           v.parts = 1;
                           v.clusters = Error(Errc::invalid, "label x is no number");
                           v.last_known = {"w1"};
                         }),
                    "w1",
                    "True Active: Placement kueue-system/p has unreadable decisions: label x is no "
                    "number; the last ones known count: w1"},
        VerdictCase{"may_not_be_read", with(view(), [](auto& v) { v.unreadable = "forbidden"; }),
                    "",
                    "False PlacementDecisionError: Placement kueue-system/p cannot be read: "
                    "forbidden"},
        VerdictCase{"may_not_be_read_any_more",
                    with(view(),
                         [](auto& v) {
                           v.unreadable = "forbidden";
                           v.placement = nullptr;
                           v.last_known = {"w2", "w1"};
                         }),
                    "w2 w1",
                    "True Active: Placement kueue-system/p cannot be read: forbidden; the last "
                    "ones known count: w2, w1"},
        VerdictCase{"not_served", with(view(), [](auto& v) { v.served = false; }), "",
                    "False PlacementError: This cluster does not serve Placements of "
                    "cluster.open-cluster-management.io/v1beta1"},
        VerdictCase{"a_key_without_decisions",
                    with(view(),
                         [](auto& v) {
                           v.reference.by_key = true;
                           v.placement = nullptr;
                         }),
                    "",
                    "False NoClustersAvailable: placement key kueue-system/p has not decided yet"},
        VerdictCase{"a_key_that_is_not_served",
                    with(view(),
                         [](auto& v) {
                           v.reference.by_key = true;
                           v.served = false;
                         }),
                    "",
                    "False PlacementError: This cluster does not serve PlacementDecisions of "
                    "multicluster.x-k8s.io/v1alpha1"}),
    [](const auto& tested) { return tested.param.name; });

TEST(Verdict, IsUnknownUntilItIsKnownWhatIsServed) {
  DecisionView early = chosen({"w1"});
  early.served.reset();
  EXPECT_EQ(judge(early).standing, Standing::unknown);
  EXPECT_FALSE(judge(early).has_clusters());
}

}  // namespace
}  // namespace regatta::placement
