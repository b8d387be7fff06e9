/// Properties that hold for any queues and workloads. Inputs are random; the seed is printed with
/// every failure, and REGATTA_SEED=<n> runs that one alone.

#include "admission/preemption.h"
#include "admission/testing/random_world.h"
#include "lib/base/testing.h"

#include <gtest/gtest.h>

#include <set>

namespace regatta::admission {
namespace {

using testing::Draw;
using testing::draw_inputs;
using testing::Inputs;
using testing::one_seed;
using testing::Player;
using testing::seeds;

Draw draw_of(std::uint64_t seed) {
  Draw draw;
  draw.fair_sharing = seed % 2 == 1;
  draw.unlimited = seed % 3 == 0;
  draw.queues = 3 + static_cast<int>(seed % 10);
  draw.workloads = 20 + static_cast<int>(seed % 60);
  return draw;
}

std::string say(std::uint64_t seed) {
  return "REGATTA_SEED=" + std::to_string(seed);
}

/// Some workloads end, so that others get their turn.
void end_some(Player* player, Rng* rng) {
  for (const api::ObjectKey& key : player->running()) {
    if (rng->chance(0.1)) player->finish(key);
  }
}

std::vector<NodeId> nodes_of(Player& player) {
  std::set<NodeId> nodes;
  for (const std::string& name : player.state().reader().cluster_queues()) {
    NodeId id = player.state().reader().find_queue(name)->node;
    for (; id != no_node; id = player.state().reader().forest().node(id).parent) nodes.insert(id);
  }
  return {nodes.begin(), nodes.end()};
}

void expect_within_limits(const QuotaForest& forest, const std::vector<NodeId>& nodes) {
  for (const NodeId id : nodes) {
    const QuotaNode& node = forest.node(id);
    for (const Cell& cell : node.cells) {
      if (node.parent == no_node) {
        EXPECT_LE(cell.usage, cell.subtree) << node.name;
      } else if (cell.borrowing_limit) {
        EXPECT_LE(cell.usage, plus(cell.subtree, *cell.borrowing_limit)) << node.name;
      }
    }
  }
}

/// Preempted workloads do not count: as in Kueue, a cycle gives their room away at once, to their
/// preemptor and to other workloads that fit beside it.
TEST(Properties, UsageNeverExceedsWhatTheTreeAllows) {
  for (const std::uint64_t seed : seeds(150)) {
    SCOPED_TRACE(say(seed));
    Rng rng(seed);
    Player player(draw_inputs(&rng, draw_of(seed)), seed);
    player.set_grace(static_cast<int>(seed % 3));
    for (int i = 0; i < 40; ++i) {
      player.cycle();
      {
        CycleAccess access(player.state());
        Trial trial(access);
        for (const auto& [key, workload] : player.workloads()) {
          const WorkloadId id = access.workloads().find(key);
          const auto& held = access.workloads()[id].reservation;
          if (held != nullptr && held->evicted) trial.remove(id);
        }
        expect_within_limits(trial.forest(), nodes_of(player));
      }
      if (HasFailure()) return;
      end_some(&player, &rng);
    }
  }
}

TEST(Properties, ChildrenSumToTheirParents) {
  for (const std::uint64_t seed : seeds(150)) {
    SCOPED_TRACE(say(seed));
    Rng rng(seed);
    Player player(draw_inputs(&rng, draw_of(seed)), seed);
    player.set_grace(static_cast<int>(seed % 3));
    for (int i = 0; i < 30; ++i) {
      player.cycle();
      const StatusReader reader = player.state().reader();
      const QuotaForest& forest = reader.forest();
      for (const NodeId id : nodes_of(player)) {
        const QuotaNode& node = forest.node(id);
        for (const Cell& cell : node.cells) {
          Amount usage = 0;
          if (node.is_queue) {
            for (const WorkloadId held : reader.queue(reader.queue_of_node(id)).reserved) {
              for (const FrAmount& one : reader.workloads()[held].reservation->usage) {
                if (one.fr == cell.fr) usage = plus(usage, one.amount);
              }
            }
          }
          Amount subtree = cell.nominal;
          for (const auto* children : {&node.child_cohorts, &node.child_queues}) {
            for (const NodeId child : *children) {
              const std::uint32_t index = forest.find(child, cell.fr);
              if (index == no_cell) continue;
              const Cell& below = forest.cell(child, index);
              usage = plus(usage, std::max<Amount>(0, minus(below.usage, below.local_quota())));
              subtree = plus(subtree, minus(below.subtree, below.local_quota()));
            }
          }
          EXPECT_EQ(cell.usage, usage) << node.name;
          EXPECT_EQ(cell.subtree, subtree) << node.name;
        }
      }
      if (HasFailure()) return;
      end_some(&player, &rng);
    }
  }
}

/// Whether the workload fits without the targets, and how often it still fits with one of them
/// back.
struct Minimality {
  bool fits = false;
  int needless = 0;
};

Minimality minimality(Trial& trial, const Preemptor& preemptor, bool borrow,
                      const std::vector<Target>& targets) {
  const Trial::Nested nested(trial);
  for (const Target& target : targets) trial.remove(target.id);
  Minimality found;
  found.fits = fits(trial, preemptor, borrow);
  for (const Target& target : targets) {
    const Trial::Nested one_back(trial);
    trial.restore(target.id);
    found.needless += fits(trial, preemptor, borrow) ? 1 : 0;
  }
  return found;
}

TEST(Properties, PreemptionIsMinimal) {
  std::size_t searches = 0;
  std::size_t victims = 0;
  for (const std::uint64_t seed : seeds(150)) {
    SCOPED_TRACE(say(seed));
    Rng rng(seed);
    Player player(draw_inputs(&rng, draw_of(seed)), seed);
    for (int i = 0; i < 12; ++i) player.cycle();
    CycleAccess access(player.state());
    Trial trial(access);
    for (const auto& [key, workload] : player.workloads()) {
      if (workload.status.admission) continue;
      const WorkloadId id = access.workloads().find(key);
      const QueueInfo& queue = *access.find_queue(workload.spec.queue_name);
      const FrId fr = queue.frs[rng.next() % queue.frs.size()];
      const Preemptor preemptor{id, queue.id, {fr}, {{fr, rng.between(1, 6000)}}};
      if (minimality(trial, preemptor, true, {}).fits) continue;
      const std::vector<Target> targets = find_targets(trial, preemptor, player.now());
      if (targets.empty()) continue;
      ++searches;
      victims += targets.size();
      const Minimality borrowing = minimality(trial, preemptor, true, targets);
      const Minimality within = minimality(trial, preemptor, false, targets);
      EXPECT_TRUE(borrowing.fits) << key.str();
      EXPECT_TRUE(borrowing.needless == 0 || (within.fits && within.needless == 0)) << key.str();
    }
    if (HasFailure()) return;
  }
  if (!one_seed()) {
    EXPECT_GT(searches, tries(100));
    EXPECT_GT(victims, searches);
  }
}

/// The promise of fair sharing: a workload that it preempted does not preempt its preemptor while
/// nothing else changes. The promise holds in one Cohort with equal weights, for one resource of
/// one flavor, and for workloads that come back with their old size. It holds only for the strategy
/// LessThanOrEqualToFinalShare: with the other one a preemptor may take so many victims that they
/// come before it again.
TEST(Properties, UnderFairSharingNoWorkloadIsPreemptedBack) {
  std::size_t preemptions = 0;
  for (const std::uint64_t seed : seeds(400)) {
    SCOPED_TRACE(say(seed));
    Rng rng(seed);
    Draw draw = draw_of(seed);
    draw.fair_sharing = true;
    draw.resources = 1;
    draw.partial_admission = false;
    Inputs inputs = draw_inputs(&rng, draw);
    inputs.config.fair_sharing->strategies = {PreemptionStrategy::LessThanOrEqualToFinalShare};
    for (api::ClusterQueue& queue : inputs.queues) {
      queue.spec.fair_sharing.reset();
      if (!queue.spec.cohort_name.empty()) queue.spec.cohort_name = "all";
      queue.spec.resource_groups.front().flavors.resize(1);
    }
    Player player(inputs, seed);
    std::set<std::pair<std::string, std::string>> pairs;  // preemptor, victim
    bool quiet = false;
    for (int i = 0; i < 60 && !quiet; ++i) {
      const CycleResult result = player.cycle();
      preemptions += result.preempted.size();
      for (const PreemptedWorkload& victim : result.preempted) {
        const std::string& by = victim.preemptor->key.name;
        EXPECT_FALSE(pairs.contains({victim.key.name, by}))
            << by << " preempts " << victim.key.name << " back";
        pairs.insert({by, victim.key.name});
      }
      quiet = !result.progressed();
    }
    EXPECT_TRUE(quiet) << "still busy";
    if (HasFailure()) return;
  }
  if (!one_seed()) {
    EXPECT_GT(preemptions, tries(100));
  }
}

TEST(Properties, DecisionsDoNotDependOnTheOrderObjectsCameIn) {
  for (const std::uint64_t seed : seeds(100)) {
    SCOPED_TRACE(say(seed));
    Rng rng(seed);
    const Inputs inputs = draw_inputs(&rng, draw_of(seed));
    const auto play = [&](std::uint64_t shuffle) {
      Player player(inputs, shuffle);
      Rng chance(seed);
      for (int i = 0; i < 25; ++i) {
        player.cycle();
        end_some(&player, &chance);
      }
      return player.log();
    };
    const std::string first = play(1);
    EXPECT_EQ(first, play(2));
    EXPECT_EQ(first, play(3));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace regatta::admission
