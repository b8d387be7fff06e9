#include "lifecycle/node_health.h"

#include <gtest/gtest.h>

namespace regatta::lifecycle {
namespace {

api::Node node(bool ready, std::vector<api::Taint> taints = {}) {
  api::Node made;
  made.spec.taints = std::move(taints);
  api::StatusCondition condition;
  condition.type = "Ready";
  condition.status = ready ? api::ConditionStatus::True : api::ConditionStatus::False;
  made.status.conditions.push_back(condition);
  return made;
}

api::Taint taint(const char* effect) {
  return {"broken", "", effect, {}};
}

api::Toleration toleration(std::optional<std::int64_t> seconds = {}) {
  return {"broken", "Exists", "", "", seconds};
}

struct HealthCase {
  const char* name;
  std::optional<api::Node> node;
  bool assigned, progressing;
  std::vector<std::vector<api::Toleration>> tolerations;
  bool lost, doomed;
  NodeHealthOptions options;
  bool given_back = false;
};

class NodeHealth : public testing::TestWithParam<HealthCase> {};

TEST_P(NodeHealth, OfOneWorkload) {
  const HealthCase& c = GetParam();
  PlaceView view;
  view.node = c.node ? &*c.node : nullptr;
  view.assigned = c.assigned;
  view.progressing = c.progressing;
  view.given_back = c.given_back;
  view.waiting.push_back(std::make_shared<api::Pod>());
  view.tolerations = c.tolerations;
  const PlaceVerdict verdict = judge(view, c.options);
  EXPECT_EQ(verdict.lost, c.lost);
  EXPECT_EQ(!verdict.doomed.empty(), c.doomed);
}

api::Node without_condition() {
  api::Node made;
  made.metadata.name = "n";
  return made;
}

const NodeHealthOptions at_once{true, false, true};
const NodeHealthOptions no_taints{true, true, false};
const api::Node tainted = node(true, {taint("NoExecute")});

/// Nothing runs there, and what was placed there needs no place any more: it is not lost.
HealthCase given_back(const char* name, std::optional<api::Node> node, bool doomed,
                      NodeHealthOptions options = {}) {
  return {name, std::move(node), true, false, {{}}, false, doomed, options, true};
}

INSTANTIATE_TEST_SUITE_P(
    Table, NodeHealth,
    testing::Values(
        HealthCase{"a_good_node", node(true), true, true, {{}}, false, false, {}},
        HealthCase{"gone", {}, true, false, {{}}, true, true, {}},
        HealthCase{"never_reported", without_condition(), true, true, {{}}, true, true, {}},
        given_back("gone_and_given_back", {}, true),
        given_back("not_ready_and_given_back", node(false), true),
        given_back("not_ready_at_once_and_given_back", node(false), false, at_once),
        given_back("tainted_and_given_back", tainted, true),
        given_back("tainted_at_once_and_given_back", tainted, false, at_once),
        given_back("a_good_node_given_back", node(true), false),
        HealthCase{"gone_and_not_assigned", {}, false, false, {}, false, true, {}},
        HealthCase{"a_place_given_up", node(true), false, false, {}, false, true, {}},
        HealthCase{"not_ready_while_pods_run", node(false), true, true, {{}}, false, true, {}},
        HealthCase{"not_ready_without_pods", node(false), true, false, {{}}, true, true, {}},
        HealthCase{"not_ready_and_no_workload_waits_for_pods",
                   node(false),
                   true,
                   true,
                   {{}},
                   true,
                   false,
                   at_once},
        HealthCase{"tainted_while_pods_run", tainted, true, true, {{}}, false, true, {}},
        HealthCase{"tainted_without_pods", tainted, true, false, {{}}, true, true, {}},
        HealthCase{"tainted_and_no_workload_waits_for_pods",
                   tainted,
                   true,
                   true,
                   {{}},
                   true,
                   false,
                   at_once},
        HealthCase{"tolerated", tainted, true, false, {{toleration()}}, false, false, {}},
        HealthCase{
            "tolerated_by_one_of_two", tainted, true, false, {{toleration()}, {}}, true, true, {}},
        HealthCase{
            "tolerated_for_a_while", tainted, true, true, {{toleration(60)}}, false, true, at_once},
        HealthCase{"tolerated_for_a_while_that_is_over",
                   tainted,
                   true,
                   false,
                   {{toleration(60)}},
                   true,
                   true,
                   {}},
        HealthCase{"only_a_preference",
                   node(true, {taint("PreferNoSchedule")}),
                   true,
                   false,
                   {{}},
                   false,
                   false,
                   {}},
        HealthCase{"taints_do_not_count", tainted, true, false, {{}}, false, false, no_taints}),
    [](const auto& info) { return std::string(info.param.name); });

class LostNodes : public testing::Test {
 protected:
  LostNodes() {
    api::set_condition(&workload_.status.conditions,
                       {"QuotaReserved", api::ConditionStatus::True, 0, {}, "R", "m"}, TimePoint{});
    workload_.status.admission.emplace();
  }
  bool note(const std::string& host, bool lost) {
    auto change = note_node(workload_, host, lost, TimePoint{});
    if (!change) return false;
    workload_.status = std::move(change->status);
    notes_ = std::move(change->notes);
    return true;
  }
  api::Workload workload_;
  std::vector<Note> notes_;
};

TEST_F(LostNodes, TheFirstIsListedAndTheSecondEvicts) {
  EXPECT_TRUE(note("a", true));
  EXPECT_FALSE(note("a", true));
  EXPECT_EQ(workload_.status.unhealthy_nodes, std::vector<std::string>{"a"});
  EXPECT_FALSE(is_evicted(workload_));
  EXPECT_TRUE(note("b", true));
  const api::Condition* evicted = api::find_condition(workload_.status.conditions, "Evicted");
  ASSERT_TRUE(evicted);
  EXPECT_EQ(evicted->reason, "NodeFailures");
  EXPECT_EQ(evicted->message,
            "Workload eviction triggered due to multiple TAS assigned node failures, including: a, "
            "b");
  EXPECT_TRUE(workload_.status.unhealthy_nodes.empty());
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0].reason, "EvictedDueToNodeFailures");
  EXPECT_FALSE(note("c", true)) << "it is on its way out";
}

TEST_F(LostNodes, ANodeThatIsWellAgainIsForgotten) {
  note("a", true);
  EXPECT_FALSE(note("b", false));
  EXPECT_TRUE(note("a", false));
  EXPECT_TRUE(workload_.status.unhealthy_nodes.empty());
}

TEST_F(LostNodes, AWorkloadWithoutQuotaLosesNothing) {
  workload_.status.admission.reset();
  EXPECT_FALSE(note("a", true));
}

TEST(Suspects, AreNodesThatAWorkloadMayLose) {
  EXPECT_FALSE(is_suspect(node(true)));
  EXPECT_FALSE(is_suspect(node(true, {taint("PreferNoSchedule")})));
  EXPECT_TRUE(is_suspect(node(false)));
  EXPECT_TRUE(is_suspect(node(true, {taint("NoSchedule")})));
  EXPECT_TRUE(is_suspect(api::Node()));
}

}  // namespace
}  // namespace regatta::lifecycle
