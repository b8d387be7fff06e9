#include "dispatch/ranking.h"

#include "dispatch/objects.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/base/joined.h"
#include "lib/base/limited_text.h"

#include <algorithm>
#include <iterator>

namespace regatta::dispatch {
namespace {

/// Of a reason why a worker is left out.
constexpr std::size_t reason_max = 300;

placement::WorkerFacts facts_of(const GroupView& g, const std::string& name) {
  placement::WorkerFacts facts;
  if (g.comparison) {
    const auto found = g.comparison->workers.find(name);
    if (found != g.comparison->workers.end()) facts = found->second;
  }
  facts.name = name;
  const auto found = g.clusters.find(name);
  if (found == g.clusters.end()) return facts;
  const ClusterView& v = found->second;
  facts.connected = v.connected;
  if (!v.kind_served) facts.kinds.emplace();
  facts.says_full = v.copy && v.copy->waiting;
  if (v.job == RemoteJob::foreign) facts.closed = "has a job of that name that is not this hub's";
  if (v.job == RemoteJob::foreign) facts.queue_age = Duration(0);
  return facts;
}

/// The workers that a dispatcher may nominate which does not compare them.
std::shared_ptr<const std::vector<std::string>> able_of(const GroupView& g) {
  const auto excepted = [&](const std::string& name) {
    return contains(g.local.refused_by, name) || contains(g.with_foreign_job, name);
  };
  auto able = std::make_shared<std::vector<std::string>>();
  if (g.roster) {
    if (g.local.refused_by.empty() && g.with_foreign_job.empty())
      return {g.roster, &g.roster->able};
    std::remove_copy_if(g.roster->able.begin(), g.roster->able.end(), std::back_inserter(*able),
                        excepted);
    return able;
  }
  for (const std::string& name : g.config_order) {
    const auto found = g.clusters.find(name);
    if (found == g.clusters.end() || excepted(name)) continue;
    const ClusterView& v = found->second;
    if (v.connected && v.listed && v.kind_served && v.job != RemoteJob::foreign) {
      able->push_back(name);
    }
  }
  return able;
}

placement::WorkloadFacts workload_of(const GroupView& g, TimePoint now) {
  placement::WorkloadFacts facts;
  if (g.comparison) facts = g.comparison->workload;
  if (facts.kind.empty()) facts.kind = "jobs of this kind";
  // Before the other checks are Ready no worker is asked, so no time for further ones passes.
  const TimePoint since = std::max(g.local.quota_reserved_at, g.local.other_checks_since);
  facts.waited = g.local.other_checks_ready ? now - since : Duration(0);
  facts.nominated = g.local.nominated;
  const Duration ago = now - (g.local.refused_until - refusal_remembered);
  for (const std::string& name : g.local.refused_by) {
    facts.refusals[name] = {"it does not take the job", ago};
  }
  return facts;
}

placement::RankPolicy policy_of(const GroupView& g, const PlanConfig& config) {
  placement::RankPolicy policy = *placement::policy_of(dispatcher_of(g.local, config));
  policy.refusal_counts_for = refusal_remembered;
  if (g.comparison) policy.expressions = g.comparison->expressions;
  return policy;
}

}  // namespace

placement::Dispatcher dispatcher_of(const LocalView& local, const PlanConfig& config) {
  if (local.placed) return placement::Dispatcher::external;
  return local.dispatcher.value_or(config.nomination.dispatcher);
}

bool compares(placement::Dispatcher dispatcher) {
  return placement::policy_of(dispatcher).has_value();
}

bool is_compared(const LocalView& local, const PlanConfig& config) {
  const bool races = !local.deleted && !local.finished && local.quota_reserved && !local.evicted &&
                     local.check == CheckState::pending && local.cluster_name.empty();
  return races && compares(dispatcher_of(local, config));
}

placement::Ranking ranking_of(const GroupView& g, TimePoint now, const PlanConfig& config) {
  const placement::RankPolicy policy = policy_of(g, config);
  placement::Ranking none;
  if (g.comparison && !g.comparison->unreadable.empty()) {
    for (const std::string& name : g.config_order) {
      none.left_out.push_back({name, "is not asked: " + g.comparison->unreadable});
    }
    return none;
  }
  std::vector<placement::WorkerFacts> workers;
  workers.reserve(g.config_order.size());
  for (const std::string& name : g.config_order) workers.push_back(facts_of(g, name));
  return placement::rank(workload_of(g, now), workers, policy);
}

std::optional<placement::Unchanged> unchanged_of(const GroupView& g, TimePoint now,
                                                 const PlanConfig& config) {
  const bool admitted = std::any_of(g.clusters.begin(), g.clusters.end(), [](const auto& entry) {
    return entry.second.copy && entry.second.copy->admitted_at;
  });
  if (admitted || !g.comparison || !g.comparison->unreadable.empty()) return std::nullopt;
  std::vector<placement::WorkerFacts> nominated;
  for (const std::string& name : g.local.nominated) {
    if (!contains(g.config_order, name)) return std::nullopt;
    nominated.push_back(facts_of(g, name));
  }
  return placement::unchanged(workload_of(g, now), nominated, policy_of(g, config));
}

Nomination nomination_of(const GroupView& g, TimePoint now, const PlanConfig& config) {
  if (const auto& cluster = g.local.follows) {
    // What another program has nominated meanwhile does no harm, and it may insist on it.
    if (cluster->empty()) return {{g.local.nominated}, std::nullopt};
    return {{{*cluster}}, std::nullopt};
  }
  placement::NominationConfig by = config.nomination;
  by.dispatcher = dispatcher_of(g.local, config);
  if (g.unchanged) return {{g.local.nominated}, g.unchanged->look_again};
  if (compares(by.dispatcher)) {
    placement::Ranking ranking = ranking_of(g, now, config);
    const bool news = ranking.clusters != g.local.nominated;
    std::string why = news ? not_elsewhere(ranking) : std::string();
    return {{std::move(ranking.clusters), std::move(why)}, ranking.look_again};
  }
  placement::NominationInput input;
  input.able = able_of(g);
  input.listed = g.roster ? g.roster->listed.size() : g.config_order.size();
  input.nominated = g.local.nominated;
  input.quota_reserved_at = g.local.quota_reserved_at;
  input.uid = g.local.uid;
  placement::Nomination plain = placement::nominate(input, now, by);
  return {{std::move(plain.clusters)}, plain.look_again};
}

bool must_not_preempt(const GroupView& g) {
  return g.comparison && !g.comparison->workload.affinity.limits.may_preempt;
}

std::string not_elsewhere(const placement::Ranking& ranking, const std::string& but) {
  std::vector<std::string> all;
  std::size_t others = 0;
  for (const placement::LeftOut& left : ranking.left_out) {
    if (left.cluster == but) continue;
    if (all.size() >= placement::nominated_max) {
      ++others;
      continue;
    }
    all.push_back("not " + left.cluster + ", which " + limited_text(left.why, reason_max));
  }
  if (others > 0) all.push_back("not " + std::to_string(others) + " others");
  return joined(all, "; ");
}

TellState racing_state(const SetNominated& nomination) {
  TellState state{std::string(api::reasons::racing),
                  "Worker clusters are asked to admit the workload"};
  if (nomination.not_elsewhere.empty()) return state;
  state.message += ": " + joined(nomination.clusters, ", ") + "; " + nomination.not_elsewhere;
  return state;
}

}  // namespace regatta::dispatch
