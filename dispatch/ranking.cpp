#include "dispatch/ranking.h"

#include "dispatch/objects.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/base/joined.h"
#include "lib/base/limited_text.h"

#include <algorithm>
#include <deque>
#include <iterator>

namespace regatta::dispatch {
namespace {

/// Of a reason why a worker is left out.
constexpr std::size_t reason_max = 300;

/// Facts of workers: most are the comparison's, those of which more is known are made.
class Facts {
 public:
  explicit Facts(const GroupView& group) : group_(group) {}
  Facts(const Facts&) = delete;

  placement::WorkerList of(const std::vector<std::string>& names) {
    placement::WorkerList out;
    out.reserve(names.size());
    for (const std::string& name : names) out.push_back(of(name));
    return out;
  }

 private:
  const placement::WorkerFacts* of(const std::string& name) {
    const placement::WorkerFacts* known = compared(name);
    const auto view = group_.clusters.find(name);
    if (known && (view == group_.clusters.end() || says(*known, view->second))) return known;
    placement::WorkerFacts& facts = made_.emplace_back(known ? *known : placement::WorkerFacts());
    facts.name = name;
    if (view != group_.clusters.end()) add(view->second, &facts);
    return &facts;
  }

  /// Null: it was not compared. Names are mostly asked for in the order of the comparison.
  const placement::WorkerFacts* compared(const std::string& name) {
    if (!group_.comparison) return nullptr;
    const std::vector<placement::WorkerFacts>& all = group_.comparison->workers;
    for (std::size_t i = 0; i < all.size(); ++i, ++next_) {
      if (next_ == all.size()) next_ = 0;
      if (all[next_].name == name) return &all[next_++];
    }
    return nullptr;
  }

  /// The view of the cluster adds nothing to these facts.
  static bool says(const placement::WorkerFacts& facts, const ClusterView& view) {
    return facts.connected == view.connected && view.kind_served &&
           !(view.copy && view.copy->waiting) && view.job != RemoteJob::foreign;
  }

  static void add(const ClusterView& view, placement::WorkerFacts* facts) {
    facts->connected = view.connected;
    if (!view.kind_served) facts->kinds.emplace();
    facts->says_full = view.copy && view.copy->waiting;
    if (view.job != RemoteJob::foreign) return;
    facts->closed = "has a job of that name that is not this hub's";
    facts->queue_age = Duration(0);
  }

  const GroupView& group_;
  std::size_t next_ = 0;
  std::deque<placement::WorkerFacts> made_;
};

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
  Facts facts(g);
  return placement::rank(workload_of(g, now), facts.of(g.config_order), policy);
}

std::optional<placement::Unchanged> unchanged_of(const GroupView& g, TimePoint now,
                                                 const PlanConfig& config) {
  const bool admitted = std::any_of(g.clusters.begin(), g.clusters.end(), [](const auto& entry) {
    return entry.second.copy && entry.second.copy->admitted_at;
  });
  if (admitted || !g.comparison || !g.comparison->unreadable.empty()) return std::nullopt;
  const std::vector<std::string>& nominated = g.local.nominated;
  const bool listed = std::all_of(nominated.begin(), nominated.end(),
                                  [&](const auto& name) { return contains(g.config_order, name); });
  if (!listed) return std::nullopt;
  Facts facts(g);
  return placement::unchanged(workload_of(g, now), facts.of(nominated), policy_of(g, config));
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
