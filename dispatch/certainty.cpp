#include "dispatch/certainty.h"

#include "dispatch/plan.h"

#include <algorithm>
#include <set>

namespace regatta::dispatch {
namespace {

/// Name of the hub among the places that facts come from.
const std::string hub;

/// The clusters on whose objects an action rests that cannot be taken back. Empty for actions that
/// destroy nothing, or that the API server refuses when the facts have changed.
struct Grounds {
  const LocalView& local;

  using Places = std::vector<std::string>;
  Places operator()(const RemoveRemote& a) const { return {hub, a.cluster}; }
  Places operator()(const DeactivateRemote& a) const { return {hub, a.cluster}; }
  /// The recorded cluster is the only one that may run the Job.
  Places operator()(const SetCheck&) const { return {hub, local.cluster_name}; }
  Places operator()(const ReleaseJob&) const { return {hub, local.cluster_name}; }
  Places operator()(const EndJob&) const { return {hub, local.cluster_name}; }
  /// Its last status, which comes home before, rests on more.
  Places operator()(const FinishLocal& a) const { return {hub, a.cluster}; }
  /// A Job that the worker lacks has no last status, and one is made up.
  Places operator()(const CopyJobStatus& a) const {
    return a.final ? Places{hub, a.cluster} : Places();
  }
  Places operator()(const auto&) const { return {}; }
};

/// What is known at one place. The facts of a worker that is not connected are not asked for: such
/// a worker is judged by its grace.
Certainty certainty_at(const std::string& place, const GroupView& g) {
  if (place == hub) return g.local.certainty;
  const auto found = g.clusters.find(place);
  if (found == g.clusters.end() || !found->second.connected) return Certainty::certain;
  return found->second.certainty;
}

/// A removal deletes what the cache shows of the worker, and an end is one that it shows; what it
/// lacks need not be known.
bool matters(const Action& action, const std::string& place, Certainty certainty) {
  const bool own = std::holds_alternative<RemoveRemote>(action) ||
                   std::holds_alternative<DeactivateRemote>(action) ||
                   std::holds_alternative<FinishLocal>(action);
  return certainty == Certainty::unreadable || place == hub || !own;
}

}  // namespace

Plan only_certain(Plan plan, const GroupView& g) {
  if (g.local.certainty == Certainty::unreadable) return {};
  std::set<std::string> unconfirmed;
  std::erase_if(plan.actions, [&](const Action& action) {
    bool unreadable = false;
    for (const std::string& place : std::visit(Grounds{g.local}, action)) {
      const Certainty certainty = certainty_at(place, g);
      if (certainty == Certainty::certain || !matters(action, place, certainty)) continue;
      if (certainty == Certainty::unreadable) unreadable = true;
      if (certainty == Certainty::unconfirmed) unconfirmed.insert(place);
    }
    return unreadable;
  });
  if (unconfirmed.empty()) return plan;
  plan.actions.clear();
  for (const std::string& place : unconfirmed) plan.actions.push_back(Confirm{place});
  return plan;
}

}  // namespace regatta::dispatch
