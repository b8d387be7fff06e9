#include "lab/cluster/owner_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GraphNode node(std::string uid, std::vector<std::string> owners = {}) {
  GraphNode out;
  out.uid = std::move(uid);
  for (std::string& owner : owners) {
    out.owners.emplace_back();
    out.owners.back().uid = std::move(owner);
  }
  return out;
}

TEST(OwnerGraph, AChangeCallsTheObjectsItConcerns) {
  OwnerGraph graph;
  EXPECT_THAT(graph.put(node("child", {"owner"})), ElementsAre("child"));
  EXPECT_THAT(graph.dependents("owner"), ElementsAre("child"));
  EXPECT_THAT(graph.put(node("owner")), ElementsAre("owner"));
  GraphNode waiting = node("owner");
  waiting.deleting = waiting.waits_for_dependents = true;
  EXPECT_THAT(graph.put(waiting), ElementsAre("child", "owner"));
  EXPECT_THAT(graph.erase("child"), ElementsAre("owner"));
  EXPECT_THAT(graph.dependents("owner"), IsEmpty());
  graph.put(node("child", {"owner"}));
  EXPECT_THAT(graph.erase("owner"), ElementsAre("child"));
}

TEST(PlanCollection, FollowsItsRules) {
  using S = OwnerState;
  GraphNode deleting = node("a");
  deleting.deleting = true;
  GraphNode waiting = deleting;
  waiting.waits_for_dependents = true;
  GraphNode orphaning = deleting;
  orphaning.orphans_dependents = true;
  struct Row {
    const char* sentence;
    GraphNode node;
    std::vector<S> owners;
    std::size_t dependents, blocking;
    Collection want;
  };
  const std::vector<Row> rows = {
      {"no owners, not deleted: stays", node("a"), {}, 1, 1, Collection::nothing},
      {"solid owner: stays", node("a"), {S::solid}, 0, 0, Collection::nothing},
      {"absent owner: goes", node("a"), {S::absent}, 0, 0, Collection::remove_background},
      {"absent and solid: forgets",
       node("a"),
       {S::absent, S::solid},
       0,
       0,
       Collection::drop_references},
      {"waiting and solid: forgets",
       node("a"),
       {S::waiting, S::solid},
       0,
       0,
       Collection::drop_references},
      {"waiting owner: goes", node("a"), {S::waiting}, 0, 0, Collection::remove_background},
      {"waiting owner, own dependents: goes after them",
       node("a"),
       {S::waiting},
       2,
       0,
       Collection::remove_foreground},
      {"deleted otherwise: left alone", deleting, {S::absent}, 0, 0, Collection::nothing},
      {"waits while something blocks", waiting, {}, 2, 1, Collection::end_dependents},
      {"released when nothing blocks", waiting, {}, 2, 0, Collection::release},
      {"orphans", orphaning, {}, 2, 2, Collection::orphan},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(plan_collection(row.node, row.owners, row.dependents, row.blocking), row.want)
        << row.sentence;
  }
}

}  // namespace
}  // namespace regatta::lab
