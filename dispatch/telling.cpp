#include "dispatch/telling.h"

#include "dispatch/ranking.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/base/joined.h"

#include <algorithm>

namespace regatta::dispatch {
namespace {

namespace reasons = api::reasons;

/// Something that should not last, and since when it does.
struct Trouble {
  std::string_view reason;
  std::string message;
  TimePoint since;
};

bool is_trouble(std::string_view reason) {
  return reason == reasons::no_worker_connected || reason == reasons::no_worker_accepts ||
         reason == reasons::no_worker_fits || reason == reasons::no_worker_nominated ||
         reason == reasons::worker_lost || reason == reasons::waiting_for_first_group ||
         reason == reasons::waiting_for_room_to_grow || reason == reasons::waiting_for_removal ||
         reason == reasons::waiting_for_stop || reason == reasons::removals_held ||
         reason == reasons::waiting_for_last_status || reason == reasons::job_not_created ||
         reason == reasons::config_missing || reason == reasons::not_dispatched ||
         reason == reasons::copy_unknown || reason == reasons::kind_not_managed;
}

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

/// The worker does not let the hub read whether it has the Job.
bool is_kept_from_us(const ClusterView& v) {
  const bool unseen = v.job == RemoteJob::absent && v.certainty == Certainty::unconfirmed;
  return unseen && v.reading;
}

/// A Job on another worker than the recorded one, whose removal is waited for.
std::optional<Trouble> removal_of(const GroupView& g) {
  for (const auto& [name, v] : g.clusters) {
    const bool there = v.connected && v.job == RemoteJob::ours && name != g.local.cluster_name;
    if (!there) continue;
    if (v.job_deleting_since) {
      return Trouble{reasons::waiting_for_removal,
                     "The job is still being deleted on worker cluster " + quoted(name) +
                         "; finalizers or pods may hold it",
                     *v.job_deleting_since};
    }
    if (!v.job_removal_asked) continue;
    return Trouble{reasons::waiting_for_removal,
                   "The job is still on worker cluster " + quoted(name) +
                       ", which was asked to delete it; it starts nowhere else before it is gone",
                   *v.job_removal_asked};
  }
  return std::nullopt;
}

/// Another worker has something that cannot be read and may be the Job.
std::optional<Trouble> obstacle_of(const GroupView& g) {
  for (const auto& [name, v] : g.clusters) {
    const bool there = v.connected && v.certainty == Certainty::unreadable;
    if (!there || name == g.local.cluster_name) continue;
    return Trouble{reasons::waiting_for_removal,
                   "Worker cluster " + quoted(name) +
                       " has a workload or a job of this name that cannot be read; the job starts "
                       "nowhere else before that is gone",
                   g.local.check_since};
  }
  return std::nullopt;
}

/// The job there has stopped or ended, and the hub cannot show how.
std::optional<Trouble> refused_status_of(const LocalView& local) {
  if (!local.status_refused) return std::nullopt;
  return Trouble{reasons::waiting_for_last_status,
                 "The API of the hub refuses the status of the job: " + local.status_refused->why,
                 local.status_refused->since};
}

/// An evicted workload whose worker has no manager that would stop the Job, or has pods of it that
/// do not end.
std::optional<Trouble> stop_of(const GroupView& g) {
  for (const auto& [name, v] : g.clusters) {
    if (const auto since = stop_unanswered_since(g, v)) {
      const std::string what =
          v.stopping ? " does not take the request to stop the job: " + v.stopping->why
                     : " was asked to stop the job; its manager does not answer";
      return Trouble{reasons::waiting_for_stop, "Worker cluster " + quoted(name) + what, *since};
    }
    if (v.connected && v.copy && is_kept_from_us(v)) {
      return Trouble{reasons::waiting_for_stop,
                     "Worker cluster " + quoted(name) +
                         " does not let the hub read whether the job runs there: " + v.reading->why,
                     v.reading->since};
    }
    if (v.connected && v.job == RemoteJob::ours && v.job_stopping) {
      return Trouble{reasons::waiting_for_stop,
                     "The job was stopped on worker cluster " + quoted(name) +
                         "; its pods there have not ended",
                     g.local.evicted_at};
    }
  }
  if (auto refused = refused_status_of(g.local)) return refused;
  return removal_of(g);
}

std::optional<Trouble> trouble_of_host(const GroupView& g, TimePoint now,
                                       const PlanConfig& config) {
  const std::string& name = g.local.cluster_name;
  const auto found = g.clusters.find(name);
  if (found == g.clusters.end()) return std::nullopt;
  const ClusterView& v = found->second;
  if (!v.connected) {
    if (v.unknown && v.certainty == Certainty::unreadable) {
      return Trouble{reasons::worker_lost,
                     "The MultiKueueCluster of worker cluster " + quoted(name) +
                         " cannot be read; the workload is left there until it can",
                     g.local.check_since};
    }
    if (!v.lost_since) return std::nullopt;
    return Trouble{reasons::worker_lost,
                   "Worker cluster " + quoted(name) + " is lost; the workload is given up at " +
                       format_rfc3339(given_up_at(g, v, now, config)),
                   *v.lost_since};
  }
  if (v.unreadable_since) {
    return Trouble{reasons::copy_unknown,
                   "Worker cluster " + quoted(name) +
                       " has a workload or a job of this name that cannot be read, or that another "
                       "hub or another origin has by now; the workload is left there until that "
                       "changes",
                   *v.unreadable_since};
  }
  if (v.copy && v.copy->finished && v.job == RemoteJob::ours && !v.job_ended) {
    return Trouble{reasons::waiting_for_last_status,
                   "The workload ended on worker cluster " + quoted(name) +
                       "; the last status of its job is not known yet",
                   v.copy->finished->at};
  }
  if (auto refused = refused_status_of(g.local); refused && v.copy && v.copy->finished) {
    return refused;
  }
  if (v.copy && v.copy->finished && is_kept_from_us(v)) {
    return Trouble{reasons::waiting_for_last_status,
                   "The workload ended on worker cluster " + quoted(name) +
                       ", which does not let the hub read how its job ended: " + v.reading->why,
                   v.reading->since};
  }
  if (g.local.takes_over && !v.job_ended && g.local.other_checks_ready) {
    const std::string why = v.copying ? " does not take the larger size: " + v.copying->why
                                      : " has no room for the larger size yet";
    return Trouble{
        reasons::waiting_for_room_to_grow,
        "Worker cluster " + quoted(name) + why + "; the job goes on with its present one",
        v.copying ? v.copying->since : g.local.quota_reserved_at};
  }
  const bool lacking = v.job == RemoteJob::absent || v.job_incomplete;
  if (lacking && v.creating_job) {
    return Trouble{
        reasons::job_not_created,
        "The job cannot be created on worker cluster " + quoted(name) + ": " + v.creating_job->why,
        v.creating_job->since};
  }
  if (auto obstacle = obstacle_of(g); obstacle && lacking) return obstacle;
  return removal_of(g);
}

/// Without a check nothing can take the workload back from its worker.
std::optional<Trouble> trouble_without_check(const GroupView& g) {
  const std::string& name = g.local.cluster_name;
  const auto found = g.clusters.find(name);
  const bool known = found != g.clusters.end();
  const bool lost = known && !found->second.connected && found->second.lost_since;
  if (known && !lost && (!found->second.connected || found->second.copy)) return std::nullopt;
  return Trouble{reasons::worker_lost,
                 "Worker cluster " + quoted(name) +
                     (lost ? " is lost" : " does not have the workload any more") +
                     ", and the workload has no admission check of MultiKueue that would send it "
                     "elsewhere; set spec.active to false and to true again",
                 lost ? *found->second.lost_since : g.local.quota_reserved_at};
}

/// A dispatcher that compares workers finds none that may have the workload.
std::optional<Trouble> misfit_of(const GroupView& g, TimePoint now, const PlanConfig& config) {
  if (!g.local.nominated.empty() || !compares(dispatcher_of(g.local, config))) return std::nullopt;
  const placement::Ranking ranking = ranking_of(g, now, config);
  if (!ranking.clusters.empty()) return std::nullopt;
  return Trouble{reasons::no_worker_fits,
                 "No worker cluster is nominated: " + not_elsewhere(ranking),
                 g.local.quota_reserved_at};
}

/// Since when workers may be asked.
TimePoint race_began(const LocalView& local) {
  return std::max(local.quota_reserved_at, local.other_checks_since);
}

/// An external dispatcher, or the Placement of a check, nominates no worker.
std::optional<Trouble> lack_of_nomination(const GroupView& g, const PlanConfig& config) {
  const bool external = dispatcher_of(g.local, config) == placement::Dispatcher::external;
  if (!external || !g.local.nominated.empty() || !g.local.other_checks_ready) return std::nullopt;
  return Trouble{reasons::no_worker_nominated,
                 std::string("No worker cluster is nominated: ") +
                     (g.local.placed ? "the Placement of its admission check selects none"
                                     : "the external dispatcher has written none into "
                                       "status.nominatedClusterNames"),
                 race_began(g.local)};
}

/// A workload that goes to the worker on which the rest of its job is.
std::optional<Trouble> trouble_of_follower(const GroupView& g) {
  const std::string& name = *g.local.follows;
  if (name.empty()) {
    return Trouble{reasons::waiting_for_first_group,
                   "The Workload of the job's first group decides the worker cluster, and has none",
                   g.local.quota_reserved_at};
  }
  const auto found = g.clusters.find(name);
  if (found == g.clusters.end() || found->second.connected) return removal_of(g);
  return Trouble{reasons::worker_lost,
                 "Worker cluster " + quoted(name) + ", where the rest of the job is, is lost",
                 std::max(g.local.quota_reserved_at,
                          found->second.lost_since.value_or(g.local.quota_reserved_at))};
}

/// Every worker that is asked and answers refuses the copy: no namespace there, no right, a
/// webhook.
std::optional<Trouble> refusal_of_copies(const GroupView& g) {
  std::string text;
  TimePoint since = g.local.quota_reserved_at;
  for (const auto& [name, v] : g.clusters) {
    if (!v.connected || !contains(g.local.nominated, name)) continue;
    if (!v.copying) return std::nullopt;
    since = std::max(since, v.copying->since);
    if (text.empty()) text = "; " + quoted(name) + " says: " + v.copying->why;
  }
  if (text.empty()) return std::nullopt;
  return Trouble{reasons::no_worker_accepts,
                 "No worker cluster that is asked takes the workload" + text, since};
}

/// The Job runs on a lost worker under a slice that was replaced, or is to be.
std::optional<Trouble> lost_before_it_grew(const GroupView& g, TimePoint now,
                                           const PlanConfig& config) {
  for (const auto& [name, v] : g.clusters) {
    const bool seen = v.job == RemoteJob::ours && v.job_left_behind;
    const bool there = v.listed && (seen || name == g.local.place_of_replaced);
    if (!there || v.connected) continue;
    if (v.unknown && v.certainty == Certainty::unreadable) {
      return Trouble{reasons::worker_lost,
                     "The MultiKueueCluster of worker cluster " + quoted(name) +
                         " cannot be read; the job goes on there with its former size",
                     g.local.quota_reserved_at};
    }
    if (!v.lost_since) continue;
    const TimePoint until = given_up_at(g, v, now, config);
    if (until <= now) continue;
    return Trouble{reasons::worker_lost,
                   "The job runs with its former size on worker cluster " + quoted(name) +
                       ", which is lost; it is given up at " + format_rfc3339(until),
                   *v.lost_since};
  }
  return std::nullopt;
}

std::optional<Trouble> trouble_of_race(const GroupView& g, TimePoint now,
                                       const PlanConfig& config) {
  if (const std::string* name = where_held(g)) {
    return Trouble{reasons::removals_held,
                   "The job runs on worker cluster " + quoted(*name) +
                       ", and the hub has no record of it; its MultiKueueCluster tells what to do",
                   g.local.quota_reserved_at};
  }
  if (auto lost = lost_before_it_grew(g, now, config)) return lost;
  if (g.local.follows) return trouble_of_follower(g);
  if (auto refusal = refusal_of_copies(g)) return refusal;
  std::vector<std::string> refusing, lacking, in_the_way;
  TimePoint since = g.local.quota_reserved_at;
  const std::vector<std::string>& nominated = g.local.nominated;
  bool any = g.roster != nullptr && nominated.empty();
  for (const auto& [name, v] : g.clusters) {
    if (!v.listed || (!nominated.empty() && !contains(nominated, name))) continue;
    if (contains(g.local.refused_by, name)) {
      refusing.push_back(name);
    } else if (v.connected && !v.kind_served) {
      lacking.push_back(name);
    } else if (v.connected && v.job == RemoteJob::foreign) {
      in_the_way.push_back(name);
    } else if (v.connected) {
      any = true;
    } else if (v.lost_since) {
      since = std::max(since, *v.lost_since);
    }
  }
  if (any) {
    if (auto misfit = misfit_of(g, now, config)) return misfit;
    if (auto lacking_any = lack_of_nomination(g, config)) return lacking_any;
    return removal_of(g);
  }
  if (!in_the_way.empty()) {
    return Trouble{reasons::no_worker_accepts,
                   "A job of this name that is not this hub's is on worker clusters: " +
                       joined(in_the_way, ", "),
                   since};
  }
  if (!lacking.empty()) {
    std::string text =
        "The API serves no jobs of this kind on worker clusters: " + joined(lacking, ", ");
    if (!refusing.empty()) text += "; the job is refused by: " + joined(refusing, ", ");
    return Trouble{reasons::no_worker_accepts, text, since};
  }
  if (refusing.empty()) {
    const std::string which = nominated.empty() ? "" : " that is nominated";
    const std::string names = nominated.empty() ? "" : ": " + joined(nominated, ", ");
    return Trouble{reasons::no_worker_connected,
                   "No worker cluster" + which + " is connected" + names, since};
  }
  return Trouble{
      reasons::no_worker_accepts,
      "The job is refused by every worker cluster that is connected: " + joined(refusing, ", "),
      since};
}

/// Nothing can be decided without it.
std::optional<Trouble> lack_of_config(const LocalView& local) {
  if (!local.other_checks_ready) return std::nullopt;
  return Trouble{reasons::config_missing,
                 "The MultiKueueConfig that the admission check of the workload names does not "
                 "exist, or cannot be read",
                 race_began(local)};
}

/// The configuration has changed since the job was sent.
Trouble lack_of_kind(const LocalView& local) {
  return {reasons::kind_not_managed,
          "The manager runs no such jobs on worker clusters (" + local.kind_dropped +
              "). The job goes on on worker cluster " + quoted(local.cluster_name) +
              ", and nothing is told of it here: list its kind in integrations.frameworks",
          local.leading_since.value_or(local.quota_reserved_at)};
}

/// It raced, and there is no check any more that would send it to a worker.
bool is_no_longer_sent(const LocalView& local) {
  const bool told = local.told == reasons::racing || is_trouble(local.told);
  return told && local.told != reasons::not_dispatched;
}

std::optional<Trouble> trouble_of(const GroupView& g, TimePoint now, const PlanConfig& config) {
  const LocalView& local = g.local;
  if (local.evicted) return stop_of(g);
  if (!local.kind_dropped.empty()) return lack_of_kind(local);
  if (local.check == CheckState::none) return trouble_without_check(g);
  if (local.job_missing || !local.rejection.empty()) return std::nullopt;
  if (local.config_missing && local.cluster_name.empty()) return lack_of_config(local);
  if (local.runs_on_hub && local.cluster_name.empty()) return removal_of(g);
  if (!local.cluster_name.empty()) return trouble_of_host(g, now, config);
  return trouble_of_race(g, now, config);
}

TellState racing_or_dispatched(const LocalView& local) {
  if (local.cluster_name.empty()) return racing_state(SetNominated{});
  return {std::string(reasons::dispatched),
          "Dispatched to worker cluster " + quoted(local.cluster_name)};
}

/// No write has told that it races: another program nominated the workers, or wrote the
/// reservation.
bool is_untold_race(const LocalView& local) {
  return local.told.empty() && local.check == CheckState::pending && local.cluster_name.empty() &&
         local.other_checks_ready && !local.evicted && !local.runs_on_hub && !local.job_missing &&
         !local.config_missing && local.rejection.empty();
}

}  // namespace

Telling what_to_tell(const GroupView& g, TimePoint now, const PlanConfig& config) {
  const LocalView& local = g.local;
  Telling out;
  const bool concerned = !local.deleted && !local.finished && local.quota_reserved &&
                         local.check != CheckState::retry && local.check != CheckState::rejected;
  if (!concerned) return out;
  const auto lasting = [&](TimePoint since, TellState state) {
    const Duration left = config.tell_after - (now - since);
    if (left > Duration(0)) {
      out.look_again = left;
    } else {
      out.state = std::move(state);
    }
  };
  const bool sent = local.check != CheckState::none || !local.cluster_name.empty();
  if (!sent) {
    if (local.evicted || !is_no_longer_sent(local)) return out;
    lasting(local.quota_reserved_at,
            {std::string(reasons::not_dispatched),
             "No admission check of MultiKueue sends the workload to a worker cluster any more"});
  } else if (const auto trouble = trouble_of(g, now, config)) {
    if (local.told == trouble->reason) return out;
    lasting(trouble->since, {std::string(trouble->reason), trouble->message});
  } else if (is_untold_race(local)) {
    lasting(race_began(local), racing_state(SetNominated{}));
  } else if (is_trouble(local.told) && !local.evicted) {
    out.state = racing_or_dispatched(local);  // it is over
  }
  return out;
}

}  // namespace regatta::dispatch
