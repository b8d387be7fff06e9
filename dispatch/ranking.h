#pragma once

#include "dispatch/plan.h"
#include "placement/rank.h"

#include <string>

/// Which workers are nominated for a workload, and why others are not.
namespace regatta::dispatch {

/// The dispatcher of the workload: external where Placements choose, then that of its check, then
/// that of the configuration.
placement::Dispatcher dispatcher_of(const LocalView& local, const PlanConfig& config);

/// Whether that dispatcher compares workers.
bool compares(placement::Dispatcher dispatcher);

/// Whether workers are compared for the workload now: it has quota and no worker yet, and its
/// dispatcher compares them.
bool is_compared(const LocalView& local, const PlanConfig& config);

/// The nominations of a workload whose dispatcher compares workers. What the views of the clusters
/// know goes before the same in the comparison, which may be null.
placement::Ranking ranking_of(const GroupView& group, TimePoint now, const PlanConfig& config);

/// Whether the nominations of a workload whose dispatcher compares workers stay as they are, by
/// what is known of those alone that it is nominated for. Never once a worker has admitted it,
/// because it is told then why it is not elsewhere.
std::optional<placement::Unchanged> unchanged_of(const GroupView& group, TimePoint now,
                                                 const PlanConfig& config);

/// The nominations of a workload that has quota and no cluster, and what is said about them.
struct Nomination {
  SetNominated nominated;
  std::optional<Duration> look_again;
};
Nomination nomination_of(const GroupView& group, TimePoint now, const PlanConfig& config);

/// The workload must not preempt others: its copies get a gate that is never opened.
bool must_not_preempt(const GroupView& group);

/// "not east, which is not connected; not west, which has no room now": of all but `but`. Of more
/// than can be nominated at a time the others are only counted.
std::string not_elsewhere(const placement::Ranking& ranking, const std::string& but = {});

/// The condition Dispatched while workers are asked.
TellState racing_state(const SetNominated& nomination);

}  // namespace regatta::dispatch
