/// Tries the advice of explain(): after it was followed, the promised quota must be free.

#include "admission/explain.h"
#include "admission/testing/random_world.h"
#include "lib/base/testing.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

using testing::Draw;
using testing::draw_inputs;
using testing::Player;

/// A world after some cycles, in which tests explain one flavor of one workload.
class World {
 public:
  World(std::uint64_t seed, Rng* rng) : player_(draw_inputs(rng, draw_of(seed)), seed) {
    for (int i = 0; i < 10; ++i) player_.cycle();
  }

  Player& player() { return player_; }
  State& state() { return player_.state(); }

  Explanation told(const api::Workload& workload) {
    return explain(state(), workload, player_.now());
  }
  bool enough(const api::Workload& workload, std::size_t flavor) {
    const FlavorTry again = told(workload).tries.at(0).groups.at(0).flavors.at(flavor);
    return again.verdict == FlavorVerdict::fits || again.verdict == FlavorVerdict::borrows;
  }

  api::ClusterQueue queue_of(const api::Workload& workload) {
    api::ClusterQueue queue;
    queue.metadata.name = workload.spec.queue_name;
    queue.spec = state().reader().find_queue(workload.spec.queue_name)->spec;
    return queue;
  }
  void put(const api::ClusterQueue& queue) { state().upsert(queue, player_.now()); }

 private:
  static Draw draw_of(std::uint64_t seed) {
    Draw draw;
    draw.fair_sharing = seed % 2 == 1;
    draw.unlimited = seed % 5 == 0;
    draw.partial_admission = false;
    draw.queues = 3 + static_cast<int>(seed % 6);
    draw.workloads = 40;
    return draw;
  }

  Player player_;
};

api::ResourceQuota& quota_of(api::ClusterQueue* queue, const std::string& flavor,
                             const std::string& resource) {
  for (api::FlavorQuotas& quotas : queue->spec.resource_groups.at(0).flavors) {
    if (quotas.name != flavor) continue;
    for (api::ResourceQuota& quota : quotas.resources) {
      if (quota.name == resource) return quota;
    }
  }
  throw std::out_of_range(flavor + "/" + resource);
}

api::Quantity units(const std::string& resource, Amount amount) {
  return *api::Quantity::parse(format_amount(resource, amount));
}

/// Lowers the quota of some ClusterQueues below their usage.
void lower_some(World* world, Rng* rng) {
  for (const std::string& name : world->state().reader().cluster_queues()) {
    if (!rng->chance(0.3)) continue;
    api::ClusterQueue queue;
    queue.metadata.name = name;
    queue.spec = world->state().reader().find_queue(name)->spec;
    for (api::FlavorQuotas& quotas : queue.spec.resource_groups.at(0).flavors) {
      for (api::ResourceQuota& quota : quotas.resources) {
        quota.nominal_quota = api::Quantity(quota.nominal_quota.value() / 2);
        if (quota.lending_limit) quota.lending_limit = quota.nominal_quota;
      }
    }
    world->put(queue);
  }
}

struct Tried {
  std::uint64_t gone = 0;
  std::uint64_t raised = 0;
  std::uint64_t borrowed = 0;
};

/// With all of enough_when_gone gone, there is enough quota; with one of them back, there is not.
void try_gone(World* world, const api::Workload& waits, const FlavorTry& flavor, std::size_t at) {
  std::vector<api::Workload> gone;
  for (const Holder& holder : flavor.enough_when_gone) {
    gone.push_back(world->player().workloads().at(holder.key));
    world->state().erase_workload(holder.key, world->player().now());
  }
  EXPECT_TRUE(world->enough(waits, at));
  for (const api::Workload& one : gone) {
    world->state().upsert(one, world->player().now());
    EXPECT_FALSE(world->enough(waits, at)) << one.metadata.name << " need not finish";
    world->state().erase_workload(one.metadata.key(), world->player().now());
  }
  for (const api::Workload& one : gone) world->state().upsert(one, world->player().now());
}

/// With `raise` more quota there is enough; with a little less of one resource there is not.
void try_raise(World* world, const api::Workload& waits, const FlavorTry& flavor, std::size_t at,
               Tried* tried) {
  const api::ClusterQueue before = world->queue_of(waits);
  api::ClusterQueue raised = before;
  for (const QuotaLine& line : flavor.lines) {
    quota_of(&raised, flavor.flavor, line.resource).nominal_quota =
        units(line.resource, plus(line.nominal, line.raise));
  }
  world->put(raised);
  EXPECT_TRUE(world->enough(waits, at));
  for (const QuotaLine& line : flavor.lines) {
    if (line.raise <= 0) continue;
    api::ClusterQueue less = raised;
    quota_of(&less, flavor.flavor, line.resource).nominal_quota =
        units(line.resource, plus(line.nominal, line.raise - 1));
    world->put(less);
    EXPECT_FALSE(world->enough(waits, at)) << line.resource;
  }
  ++tried->raised;
  api::ClusterQueue borrowing = raised;
  int limited = 0;
  for (const QuotaLine& line : flavor.lines) {
    if (line.raise <= 0 || !line.limited) continue;
    api::ResourceQuota& quota = quota_of(&borrowing, flavor.flavor, line.resource);
    quota.nominal_quota = units(line.resource, line.nominal);
    quota.borrowing_limit = *quota.borrowing_limit + units(line.resource, line.raise);
    ++limited;
  }
  if (limited > 0) {
    world->put(borrowing);
    EXPECT_TRUE(world->enough(waits, at)) << "with a higher borrowingLimit";
    ++tried->borrowed;
  }
  world->put(before);
}

void try_all(World* world, Tried* tried) {
  const std::map<api::ObjectKey, api::Workload> workloads = world->player().workloads();
  for (const auto& [key, waits] : workloads) {
    if (waits.status.admission || waits.spec.pod_sets.size() > 1) continue;
    const Explanation told = world->told(waits);
    if (told.tries.empty() || told.tries[0].groups.empty()) continue;
    const std::vector<FlavorTry>& flavors = told.tries[0].groups[0].flavors;
    for (std::size_t i = 0; i < flavors.size(); ++i) {
      const FlavorTry& flavor = flavors[i];
      if (flavor.verdict != FlavorVerdict::no_candidates &&
          flavor.verdict != FlavorVerdict::short_of_quota) {
        continue;
      }
      SCOPED_TRACE(key.name + " in " + waits.spec.queue_name + ", flavor " + flavor.flavor);
      if (!flavor.enough_when_gone.empty()) {
        try_gone(world, waits, flavor, i);
        ++tried->gone;
      }
      try_raise(world, waits, flavor, i, tried);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(ExplainTruth, AdviceThatIsFollowedFreesEnoughQuota) {
  Tried tried;
  for (const std::uint64_t seed : testing::seeds(120)) {
    SCOPED_TRACE("REGATTA_SEED=" + std::to_string(seed));
    Rng rng(seed);
    World world(seed, &rng);
    if (seed % 2 == 0) lower_some(&world, &rng);
    try_all(&world, &tried);
    if (HasFailure()) return;
  }
  if (testing::one_seed()) return;
  EXPECT_GT(tried.gone, tries(100));
  EXPECT_GT(tried.raised, tries(100));
  EXPECT_GT(tried.borrowed, tries(10));
}

}  // namespace
}  // namespace regatta::admission
