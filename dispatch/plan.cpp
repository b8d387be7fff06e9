#include "dispatch/plan.h"

#include "dispatch/ranking.h"
#include "dispatch/telling.h"
#include "lib/api/names.h"
#include "lib/base/contains.h"
#include "lib/base/fnv.h"
#include "lib/base/human.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace regatta::dispatch {
namespace {

/// The hub and the worker count the time of a Job each by itself, in whole seconds of their own.
constexpr Duration own_limit_within = std::chrono::seconds(10);
/// A worker may end the former size of a Job before the larger one has its quota.
constexpr Duration quota_again_within = std::chrono::seconds(10);

using Clusters = std::map<std::string, ClusterView>;

/// Orders clusters differently for each workload, so that no name is favoured. The order is the
/// same on every machine. FNV-1a, then one multiplication to spread the last bytes.
std::uint64_t rank_of(const std::string& uid, const std::string& cluster) {
  std::uint64_t hash = fnv1a(cluster, fnv1a(uid));
  hash ^= hash >> 32;
  return hash * 0x9E3779B97F4A7C15ull;
}

/// The worker refused the job a short time ago.
bool refused(const LocalView& local, const std::string& name) {
  return contains(local.refused_by, name);
}

bool holds_job(const ClusterView& v) {
  return v.job == RemoteJob::ours;
}

/// The Job there runs for this Workload alone: it is removed with it, and it is in the way of a new
/// attempt.
bool holds_own_job(const ClusterView& v) {
  return holds_job(v) && !v.job_shared && !v.job_under_other_slice;
}

/// Nothing there is in the way of a Job for this Workload.
bool is_free(const ClusterView& v) {
  return v.job == RemoteJob::absent || (holds_job(v) && v.job_shared && !v.job_under_other_slice);
}

/// Whether a removal has something to do. Objects that are already being deleted are left alone,
/// and so is the slice under which an elastic job runs until a later one has its place.
bool removable(const ClusterView& v) {
  if (!v.connected || v.job_handing_over) return false;
  if (holds_own_job(v) && !v.job_deleting) return true;
  return v.copy && (!v.copy->deleting || v.copy->has_finalizers);
}

void look_again(Plan* plan, Duration after) {
  plan->look_again = plan->look_again ? std::min(*plan->look_again, after) : after;
}

void remove(Plan* plan, const std::string& name, const ClusterView& v) {
  if (removable(v)) plan->actions.push_back(RemoveRemote{name, holds_own_job(v)});
}

/// Its worker, or something there, has made of the copy what is not to be had.
bool is_spoilt(const RemoteCopy& copy) {
  return copy.finished || copy.deactivating || copy.drift == Drift::other;
}

/// Its worker took the admission back. There is no Job to stop, and so nothing that would take the
/// quota back, unless the worker does so by itself.
bool is_stuck(const ClusterView& v) {
  return v.copy && v.copy->evicted && v.copy->admitted_at && v.job == RemoteJob::absent;
}

/// It is about to be gone, or is another Workload's.
bool is_leaving(const RemoteCopy& copy) {
  return copy.deleting || copy.removal_begun || copy.of_another_life;
}

/// Removes a copy that is spoilt, stuck or of an earlier attempt. In the last case the next one
/// does not wait.
void remove_useless(Plan* plan, const std::string& name, const ClusterView& v) {
  const std::size_t before = plan->actions.size();
  remove(plan, name, v);
  if (plan->actions.size() == before || !v.copy) return;
  std::get<RemoveRemote>(plan->actions.back()).useless =
      (is_spoilt(*v.copy) || is_stuck(v)) && !is_leaving(*v.copy);
}

void remove_all_but(Plan* plan, const Clusters& clusters, const std::string& kept) {
  for (const auto& [name, v] : clusters) {
    if (name != kept) remove(plan, name, v);
  }
}

/// A connected cluster is still seen to hold the Job, or an object that may be the Job.
bool may_hold_job(const ClusterView& v) {
  return v.connected && (holds_job(v) || v.certainty == Certainty::unreadable);
}

/// Another cluster than `name` does.
bool job_elsewhere(const Clusters& clusters, const std::string& name) {
  return std::any_of(clusters.begin(), clusters.end(), [&](const auto& entry) {
    return entry.first != name && may_hold_job(entry.second);
  });
}

/// A Job whose copy is being removed is not the one that the hub had chosen, or was given up. It
/// does not run, and its end is not that of the hub's.
bool ended_in_vain(const ClusterView& v) {
  return v.copy && v.copy->deleting && v.job_ended;
}

/// What is left of the grace of a lost cluster; zero when it is over.
Duration grace_left(const GroupView& g, const ClusterView& v, TimePoint now,
                    const PlanConfig& config) {
  return std::max(Duration(0), given_up_at(g, v, now, config) - now);
}

Plan set_check(Plan plan, CheckState state, std::string message, bool warning = false) {
  plan.actions.push_back(SetCheck{state, std::move(message), warning});
  return plan;
}

/// Why a worker's Finished is not the Job's end, or null when it is.
const char* not_an_end(const LocalView& local, const Finish& finish) {
  if (finish.reason == "OutOfSync") return "is out of sync with its user job";
  if (finish.reason == "OwnerNotFound") return "lost its job";
  if (finish.reason == api::reasons::workload_slice_replaced && !local.has_successor) {
    return "was replaced by a larger size that the hub has lost";
  }
  return nullptr;
}

/// The copy is Finished and the watch of the Jobs has not shown yet how the Job ended.
bool awaits_last_status(const ClusterView& v) {
  return holds_job(v) && !v.job_ended && ended_by_job(v.copy->finished->reason);
}

/// The Job ended on that worker: its last status comes home, then the end of its Workload.
Plan finish_with(Plan plan, const std::string& name, const ClusterView& v, TimePoint now,
                 const PlanConfig& config) {
  const Finish& finish = *v.copy->finished;
  if (awaits_last_status(v) && v.job_tells_no_end) {
    // Its last status may be newer than what the watch has shown.
    if (!v.job_read) {
      plan.actions.push_back(Confirm{name, true});
      return plan;
    }
    if (v.job_news) plan.actions.push_back(CopyJobStatus{name, false});
    plan.actions.push_back(FinishLocal{finish.reason, finish.message, name});
    return plan;
  }
  if (awaits_last_status(v) && !(v.job_rests && v.job_read)) {
    // The watch of the Jobs will show it, unless it has fallen silent; but a server that went back
    // to an older state has lost it, and a Job that its Workload does not let run never has another
    // one. The server is asked before it is told that the status is waited for.
    if (!v.job_rests) return plan;
    const Duration left = finish.at + config.tell_after / 2 - now;
    if (left > Duration(0)) {
      look_again(&plan, left);
    } else {
      plan.actions.push_back(Confirm{name, true});
    }
    return plan;
  }
  // The Job goes on with its next size, also if it is still to be created.
  const bool goes_on = finish.reason == api::reasons::workload_slice_replaced;
  const bool ended = v.job_ended || (!goes_on && (!holds_job(v) || awaits_last_status(v)));
  if (ended || v.job_news) plan.actions.push_back(CopyJobStatus{name, ended});
  plan.actions.push_back(FinishLocal{finish.reason, finish.message, name});
  return plan;
}

/// The check says already that the attempt is over; the eviction follows.
bool taken_back(const LocalView& local) {
  return local.check == CheckState::retry || local.check == CheckState::rejected;
}

/// The status of the Job there is believed: it is that of the recorded cluster, or of the one that
/// an eviction remembers. If that is not remembered it may have been any cluster that is listed, or
/// any at all if it is not known which are; none if it is known that none was recorded.
bool may_report(const GroupView& g, const std::string& name, const ClusterView& v) {
  if (!g.local.cluster_name.empty()) return name == g.local.cluster_name;
  if (g.local.evicted_from) return name == *g.local.evicted_from;
  if (g.local.never_ran) return false;
  return v.listed || g.local.config_missing || g.local.check == CheckState::none;
}

/// The copy is Finished although its Job has not ended, as OutOfSync: the worker's manager is about
/// to stop it.
bool finished_before_its_job(const RemoteCopy& copy) {
  return copy.finished && !ended_by_job(copy.finished->reason);
}

/// The worker's manager lets the Job run, or has not stopped it yet.
bool copy_lets_run(const ClusterView& v) {
  if (!v.copy || v.copy->of_another_life) return false;
  const bool over = v.copy->finished && !finished_before_its_job(*v.copy);
  return v.copy->admitted_at && !over && !v.copy->deleting;
}

/// The worker may run the Job although the cache lacks it.
bool may_run_unseen_on(const GroupView& g, const std::string& name, const ClusterView& v) {
  if (v.unknown) return g.local.evicted_from == name;
  const bool unseen = !holds_job(v) && v.certainty != Certainty::certain;
  return unseen && may_report(g, name, v) && copy_lets_run(v);
}

/// How long a worker that was not heard of yet may hold the Job.
Duration hearing_left(const GroupView& g, TimePoint now, const PlanConfig& config) {
  if (!g.local.unheard || !g.local.leading_since) return Duration(0);
  return std::max(Duration(0), *g.local.leading_since + config.hear_within - now);
}

/// How long a new leader starts no Job for what is older than its leadership: a worker that it has
/// not heard of yet may hold the Job.
Duration hearing_left_for(TimePoint since, const GroupView& g, TimePoint now,
                          const PlanConfig& config) {
  const Duration left = hearing_left(g, now, config);
  return left > Duration(0) && since <= *g.local.leading_since ? left : Duration(0);
}

/// When no worker is left that could report it, the hub's Job is told that its pods are gone.
/// Otherwise it would count them, and hold its quota, for ever.
void release_job(Plan* plan, const GroupView& g, TimePoint now, const PlanConfig& config) {
  const bool held = std::any_of(g.clusters.begin(), g.clusters.end(), [&](const auto& entry) {
    const auto& [name, v] = entry;
    if (v.connected && may_run_unseen_on(g, name, v)) return true;
    return may_be_evicted_from(g.local, name) && may_hold_job(v) && !ended_in_vain(v);
  });
  if (!g.local.job_active || held) return;
  Duration grace = hearing_left(g, now, config);
  for (const auto& [name, v] : g.clusters) {
    if (!v.connected) grace = std::max(grace, grace_left(g, v, now, config));
  }
  // A lost worker may still run the Job, and has its grace.
  if (grace > Duration(0)) {
    look_again(plan, grace);
  } else {
    plan->actions.push_back(ReleaseJob{});
  }
}

/// The Workload is Finished because its Job ended, and neither the hub's Job nor the worker has
/// that end any more: their API servers went back to older states, or the worker has left the
/// fleet. What the Workload says is left. An eviction may have taken the record of the worker away.
void end_after_all(Plan* plan, const GroupView& g, TimePoint now, const PlanConfig& config) {
  if (!g.local.ended_at || !g.local.job_unended || g.local.deleted) return;
  Duration left = *g.local.ended_at + config.tell_after - now;
  for (const auto& [name, v] : g.clusters) {
    const bool ran_there = g.local.cluster_name.empty() ? may_be_evicted_from(g.local, name)
                                                        : name == g.local.cluster_name;
    if (!ran_there) continue;
    const bool copy = v.copy && !(v.copy->deleting && g.local.cluster_name.empty());
    if (v.connected && (copy || v.job != RemoteJob::absent)) return;
    // A lost worker may still tell it, and has its grace.
    if (!v.connected) left = std::max(left, grace_left(g, v, now, config));
  }
  if (left > Duration(0)) {
    look_again(plan, left);
  } else {
    plan->actions.push_back(EndJob{});
  }
}

/// No copy or Job of the workload may stay on any worker, unless the hub has lost too much there.
Plan clean_up(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan;
  for (const auto& [name, v] : g.clusters) {
    if (v.removals_held) continue;
    // A Job that has stopped or ended is removed after its last status was copied. A hub that was
    // restored may have a Workload that is Finished and a Job that knows nothing of its end.
    const bool stopped = v.connected && holds_job(v) && (!v.job_active || v.job_ended);
    const bool end =
        g.local.finished && g.local.job_unended && v.job_ended && name == g.local.cluster_name;
    const bool says_so = g.local.job_active && !g.local.never_reserved && !ended_in_vain(v) &&
                         may_report(g, name, v);
    if (!g.local.replaced && stopped && v.job_news && (says_so || end)) {
      plan.actions.push_back(CopyJobStatus{name, end});
    }
    remove(&plan, name, v);
  }
  if (g.local.replaced) return plan;
  release_job(&plan, g, now, config);
  end_after_all(&plan, g, now, config);
  return plan;
}

/// The workload runs on a worker and lost its check: the AdmissionCheck was taken off the
/// ClusterQueue. The Job goes on to its end there. Nothing can be taken back without a check.
Plan follow_to_the_end(const GroupView& g, TimePoint now, const PlanConfig& config) {
  const std::string& name = g.local.cluster_name;
  Plan plan;
  remove_all_but(&plan, g.clusters, name);
  const auto found = g.clusters.find(name);
  if (found == g.clusters.end() || !found->second.connected || !found->second.copy) return plan;
  const ClusterView& v = found->second;
  if (v.copy->finished && !not_an_end(g.local, *v.copy->finished)) {
    return finish_with(std::move(plan), name, v, now, config);
  }
  if (holds_job(v) && v.job_news) plan.actions.push_back(CopyJobStatus{name, false});
  return plan;
}

/// By what is known of the worker, the Job was started there and has not stopped.
bool may_run_on(const ClusterView& v) {
  const bool stopped = v.job_ended || v.job_stopped || v.job_deleting;
  if (!holds_job(v) || stopped) return false;
  return v.job_under_other_slice || copy_lets_run(v);
}

/// Its worker is about to stop the Job, or need not.
bool is_stopping(const RemoteCopy& copy) {
  return copy.evicted || copy.deactivating || copy.finished;
}

DeactivateRemote stop(const GroupView& g, const std::string& name) {
  return {name, "Evicted on manager: " + g.local.evicted_message};
}

/// The worker may run the Job, and its cache lacks it.
void wind_down_unseen(Plan* plan, const GroupView& g, const std::string& name, const ClusterView& v,
                      TimePoint now, const PlanConfig& config) {
  if (v.certainty == Certainty::unconfirmed) plan->actions.push_back(Confirm{name});
  // A worker that does not let the hub read the Job may stop it all the same.
  if (v.reading && !is_stopping(*v.copy)) plan->actions.push_back(stop(g, name));
  if (!v.reading || !v.copy || !v.copy->finished) return;
  // Its manager has stopped the Job of a copy that it has finished, or does not run.
  const Duration left = g.local.evicted_at + config.worker_lost_timeout - now;
  if (left > Duration(0)) {
    look_again(plan, left);
  } else {
    remove(plan, name, v);
  }
}

/// The workload is evicted on the hub, and keeps its quota there until the Job no longer runs
/// anywhere. Stop the Job in an orderly way where it runs, copy the status that it stopped, and
/// remove copies that never ran.
Plan wind_down(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan;
  if (const Duration left = hearing_left(g, now, config); left > Duration(0)) {
    look_again(&plan, left);
  }
  for (const auto& [name, v] : g.clusters) {
    const bool unseen = may_run_unseen_on(g, name, v);
    if (!v.connected) {
      const Duration grace = grace_left(g, v, now, config);
      if ((may_run_on(v) || unseen) && grace > Duration(0)) look_again(&plan, grace);
      continue;
    }
    if (unseen) {
      wind_down_unseen(&plan, g, name, v, now, config);
      continue;
    }
    // The Job ended before its larger size was admitted. The hub's Job learns that, and ends this.
    if (holds_job(v) && v.job_under_other_slice && v.job_ended && may_report(g, name, v)) {
      if (v.job_news) plan.actions.push_back(CopyJobStatus{name, true});
      continue;
    }
    // The slice under which the Job runs there removes it, since no other one takes over any more.
    const bool follows = holds_job(v) && v.copy && !v.copy->of_another_life;
    if (!follows || ended_in_vain(v) || v.job_under_other_slice) {
      remove(&plan, name, v);
      continue;
    }
    // An end that no worker may tell would be waited for in vain.
    if (!may_report(g, name, v)) {
      remove(&plan, name, v);
      continue;
    }
    // While another worker holds the Job, too, neither says how it ended, unless it is remembered
    // which of them ran it.
    const bool counts = g.local.evicted_from || !job_elsewhere(g.clusters, name);
    if (v.copy->finished && !not_an_end(g.local, *v.copy->finished) && counts) {
      // The Job ended before it could be stopped. Its result counts.
      return finish_with(std::move(plan), name, v, now, config);
    }
    // Its manager waits for the next size, and stops nothing.
    if (v.copy->finished && v.copy->finished->reason == api::reasons::workload_slice_replaced) {
      remove(&plan, name, v);
      continue;
    }
    const auto unanswered = stop_unanswered_since(g, v);
    const Duration left =
        unanswered ? *unanswered + config.worker_lost_timeout - now : Duration::max();
    if (left <= Duration(0)) {
      // No manager runs there that could stop the Job. Its removal needs none.
      remove(&plan, name, v);
      continue;
    }
    if (unanswered) look_again(&plan, left);
    if (!is_stopping(*v.copy)) {
      plan.actions.push_back(stop(g, name));
    } else if (g.local.status_refused && v.job_stopped && !v.job_ended) {
      // The hub cannot show that the Job stopped. When it is gone, that needs no showing.
      remove(&plan, name, v);
    } else if (v.job_news && (counts || !v.job_ended)) {
      plan.actions.push_back(CopyJobStatus{name, false});
    }
  }
  release_job(&plan, g, now, config);
  return plan;
}

/// The recorded cluster is lost: nothing happens until its grace is over.
Plan wait_for_lost(Plan plan, const GroupView& g, const ClusterView& v, TimePoint now,
                   const PlanConfig& config) {
  if (taken_back(g.local)) return plan;
  const Duration grace = grace_left(g, v, now, config);
  if (grace > Duration(0)) {
    look_again(&plan, grace);
    return plan;
  }
  return set_check(std::move(plan), CheckState::retry, "Admitting remote lost");
}

Plan remote_finished(Plan plan, const GroupView& g, const ClusterView& v, TimePoint now,
                     const PlanConfig& config) {
  const std::string& name = g.local.cluster_name;
  if (const char* why = not_an_end(g.local, *v.copy->finished)) {
    if (taken_back(g.local)) return plan;
    return set_check(
        std::move(plan), CheckState::retry,
        "Remote workload on worker cluster \"" + name + "\" " + why + ", resetting for re-dispatch",
        true);
  }
  return finish_with(std::move(plan), name, v, now, config);
}

Plan reject_overlong(Plan plan, const std::string& name) {
  return set_check(std::move(plan), CheckState::rejected,
                   "The job exceeded its maximum execution time on worker cluster \"" + name + "\"",
                   true);
}

/// The worker has taken the Job back. The hub ends one that ran for too long by itself, a moment
/// later. By the hub's count it may have run for less: the worker admitted it long before the hub
/// heard of that, or has a clock that is wrong.
Plan remote_evicted(Plan plan, const LocalView& local, const RemoteCopy& copy, TimePoint now) {
  const std::string& name = local.cluster_name;
  const bool may_run_on = local.may_run_until && *local.may_run_until > now + own_limit_within;
  if (copy.out_of_time && !may_run_on) {
    const Duration left = *copy.out_of_time + own_limit_within - now;
    // A clock of the worker that is ahead says nothing of when.
    if (left > Duration(0) && left <= own_limit_within) {
      look_again(&plan, left);
      return plan;
    }
    return reject_overlong(std::move(plan), name);
  }
  plan =
      set_check(std::move(plan), CheckState::retry,
                "Workload evicted on worker cluster: \"" + name + "\", resetting for re-admission");
  std::get<SetCheck>(plan.actions.back()).own_sentence = true;
  return plan;
}

/// The worker lacks the Job, or a part of it.
Plan create_job(Plan plan, const GroupView& g, const ClusterView& v, TimePoint now,
                const PlanConfig& config) {
  const std::string& name = g.local.cluster_name;
  if (v.certainty == Certainty::unreadable || g.local.superseded || g.local.job_over) return plan;
  // One that was added later asks nothing of a workload that is admitted.
  if (!g.local.other_checks_ready && !g.local.admitted) return plan;
  if (!v.job_refused.empty()) {
    plan = set_check(std::move(plan), CheckState::retry,
                     "Worker cluster \"" + name + "\" refuses the job (" + v.job_refused +
                         "), resetting for re-dispatch",
                     true);
    std::get<SetCheck>(plan.actions.back()).refused_by = name;
    std::get<SetCheck>(plan.actions.back()).refusal = v.job_refused;
    return plan;
  }
  // What an earlier leader recorded may have run elsewhere before, and be left there.
  const Duration hearing = hearing_left_for(g.local.check_since, g, now, config);
  if (!name.empty() && hearing > Duration(0)) {
    look_again(&plan, hearing);
    return plan;
  }
  // Another cluster may still be seen to hold the Job while its removal is under way.
  if (!job_elsewhere(g.clusters, name)) plan.actions.push_back(CreateJob{name});
  return plan;
}

/// The copy on the recorded cluster is admitted and in order: create the Job there, or follow it.
Plan run_job(Plan plan, const GroupView& g, const ClusterView& v, TimePoint now,
             const PlanConfig& config) {
  const std::string& name = g.local.cluster_name;
  switch (v.job) {
    case RemoteJob::absent:
      return create_job(std::move(plan), g, v, now, config);
    case RemoteJob::foreign:
      return set_check(std::move(plan), CheckState::retry,
                       "A job of the same name that was not created by MultiKueue exists on "
                       "worker cluster \"" +
                           name + "\", resetting for re-dispatch",
                       true);
    case RemoteJob::ours:
      if (v.job_news) plan.actions.push_back(CopyJobStatus{name, false});
      if (v.job_strays) plan.actions.push_back(RemoveStrays{name});
      if (v.job_behind) plan.actions.push_back(UpdateJob{name});
      return v.job_incomplete ? create_job(std::move(plan), g, v, now, config) : plan;
  }
  return plan;
}

/// The worker has not admitted the larger size of a Job yet. It waits there only while the Job goes
/// on with the size that it has.
Plan wait_for_room(Plan plan, const GroupView& g, const ClusterView& v, TimePoint now,
                   const PlanConfig& config) {
  const bool stopped = v.job == RemoteJob::ours && v.job_stopped;
  if (!stopped && v.job != RemoteJob::absent) return plan;
  // The slice before it may have had no time to create the Job.
  const Duration left = g.local.quota_reserved_at + config.tell_after - now;
  if (!stopped && left > Duration(0)) {
    look_again(&plan, left);
    return plan;
  }
  return set_check(std::move(plan), CheckState::retry,
                   std::string("The job ") + (stopped ? "was stopped" : "does not run") +
                       " on worker cluster \"" + g.local.cluster_name +
                       "\", which has not admitted its larger size, resetting for re-dispatch",
                   true);
}

/// The copy of a larger size never wins, or no longer.
bool is_useless(const RemoteCopy& copy) {
  return copy.evicted || is_leaving(copy) || is_spoilt(copy);
}

/// The worker runs the Job under an earlier slice, and is asked for the larger size.
Plan take_over(Plan plan, const GroupView& g, const ClusterView& v, TimePoint now,
               const PlanConfig& config) {
  const std::string& name = g.local.cluster_name;
  if (v.job == RemoteJob::ours && v.job_news) {
    plan.actions.push_back(CopyJobStatus{name, v.job_ended});
  }
  // The hub's Job learns its end, and ends its Workload.
  if (v.job_ended || g.local.job_over || v.certainty == Certainty::unreadable) return plan;
  if (g.local.superseded) return plan;
  if (v.job_out_of_time) return reject_overlong(std::move(plan), name);
  const bool useless = v.copy && is_useless(*v.copy);
  // Its copy would be made to replace that of the later size, which is about to replace this one.
  const bool has_quota = v.copy && !useless && v.copy->admitted_at;
  if (g.local.overtaken && !useless && !has_quota) return plan;
  // A copy that is gone by now had taken over there, and the Job runs without quota.
  if (v.job_without_quota && !has_quota) {
    const Duration left = quota_again_within - v.job_without_quota_for;
    if (v.copy && !useless && left > Duration(0)) {
      look_again(&plan, left);
      return plan;
    }
    return set_check(std::move(plan), CheckState::retry,
                     "The job lost its quota on worker cluster \"" + name +
                         "\" while its larger size took over, resetting for re-dispatch",
                     true);
  }
  if (!v.copy) {
    if (v.kind_served && g.local.other_checks_ready) plan.actions.push_back(CreateCopy{name});
    return wait_for_room(std::move(plan), g, v, now, config);
  }
  if (useless) {
    remove_useless(&plan, name, v);
    return plan;
  }
  const RemoteCopy& copy = *v.copy;
  if (copy.drift == Drift::updatable) plan.actions.push_back(UpdateCopy{name});
  // The larger size is for when all of them are Ready.
  if (!g.local.other_checks_ready) return plan;
  if (!copy.admitted_at) {
    // No other worker is asked any more. The gate is that of a race.
    if (copy.blocked_since && !copy.gate_opening && !must_not_preempt(g)) {
      plan.actions.push_back(OpenGate{name});
    }
    return wait_for_room(std::move(plan), g, v, now, config);
  }
  plan.actions.push_back(RecordWinner{name, "The workload was admitted on \"" + name + "\""});
  return run_job(std::move(plan), g, v, now, config);
}

/// The recorded cluster has no copy that counts. One that ended counts until it is gone, unless it
/// was the hub that asked for its removal.
bool is_gone(const ClusterView& v) {
  if (!v.copy || v.copy->of_another_life) return true;
  return v.copy->deleting && (!v.copy->finished || v.copy->removal_begun);
}

/// The Job ended, and what the hub may learn of it is all that is left.
bool ended_alone(const GroupView& g, const ClusterView& v) {
  const bool ours = holds_job(v) && !(v.copy && v.copy->of_another_life);
  return ours && v.job_ended && !v.removals_held && (v.job_news || g.local.job_over);
}

/// A cluster is recorded. Only its copy counts.
Plan hosted(const GroupView& g, TimePoint now, const PlanConfig& config) {
  const std::string& name = g.local.cluster_name;
  Plan plan;
  remove_all_but(&plan, g.clusters, name);

  const auto found = g.clusters.find(name);
  const bool leaving = taken_back(g.local);
  // 8a. The cluster no longer exists, or is no longer listed.
  if (found == g.clusters.end() || !found->second.listed) {
    if (found != g.clusters.end()) remove(&plan, name, found->second);
    if (leaving) return plan;
    return set_check(std::move(plan), CheckState::retry, "Admitting remote no longer exists");
  }
  const ClusterView& v = found->second;
  // 8b. The cluster is lost: it has its grace.
  if (!v.connected) return wait_for_lost(std::move(plan), g, v, now, config);
  if (g.local.takes_over && !leaving) return take_over(std::move(plan), g, v, now, config);
  // 8c. The copy is gone, or another one has its name.
  if (is_gone(v)) {
    // Its manager may have removed it since it was Finished. The hub's Job learns how it ended.
    if (!leaving && ended_alone(g, v)) {
      if (v.job_news) plan.actions.push_back(CopyJobStatus{name, true});
      return plan;
    }
    remove(&plan, name, v);
    if (leaving) return plan;
    return set_check(std::move(plan), CheckState::retry, "Admitting remote no longer exists");
  }
  const RemoteCopy& copy = *v.copy;
  // 8d. The copy finished.
  if (copy.finished) return remote_finished(std::move(plan), g, v, now, config);
  // 8e. The hub is already taking the workload back; the eviction will wind it down.
  if (leaving) return plan;
  // Two Workloads of one job have won on different clusters, which no write of ours leads to.
  if (g.local.follows && !g.local.follows->empty() && *g.local.follows != name) {
    return set_check(std::move(plan), CheckState::retry,
                     "The other Workloads of the job are on worker cluster \"" + *g.local.follows +
                         "\", resetting for re-dispatch",
                     true);
  }
  // 8f. The copy is evicted.
  if (copy.evicted) return remote_evicted(std::move(plan), g.local, copy, now);
  // 8g. The copy has drifted from the hub's Workload.
  if (copy.drift == Drift::other) {
    remove(&plan, name, v);
    return plan;
  }
  if (copy.drift == Drift::updatable) plan.actions.push_back(UpdateCopy{name});
  // 8h. The worker took the admission back without an eviction.
  if (!copy.admitted_at) {
    return set_check(std::move(plan), CheckState::retry, "Admitting remote no longer exists");
  }
  // 8i. The start lock is set but the check is not Ready: the rest of that write was lost.
  if (g.local.check != CheckState::ready) {
    plan.actions.push_back(RecordWinner{name, "The workload was admitted on \"" + name + "\""});
  }
  // 8j. The Job may run.
  return run_job(std::move(plan), g, v, now, config);
}

/// The first Workload of the job has no cluster yet, so this one asks none.
bool waits_for_first(const LocalView& local) {
  return local.follows && local.follows->empty();
}

/// A manager that was replaced in the middle of a race has sent the Job there, and has not come to
/// recording the cluster.
bool was_sent_unrecorded(const ClusterView& v) {
  return holds_own_job(v) && v.job_unmarked && !v.job_deleting;
}

/// The copy can win. A copy with a Job of ours cannot: it is left over from an attempt that was
/// given up.
bool eligible(const GroupView& g, const std::string& name, const ClusterView& v) {
  if (g.local.follows && *g.local.follows != name) return false;
  // A worker that was not connected for a moment is no longer nominated.
  const bool may_have_it =
      was_sent_unrecorded(v) || (is_free(v) && contains(g.local.nominated, name));
  return v.connected && v.listed && v.copy && v.copy->admitted_at && !v.copy->finished &&
         !v.copy->evicted && !v.copy->deactivating && !v.copy->deleting && !v.copy->removal_begun &&
         v.copy->drift != Drift::other && !v.copy->of_another_life && may_have_it &&
         v.certainty != Certainty::unreadable && !refused(g.local, name);
}

/// The cluster that has the Job already, otherwise the one with the earliest admission. Admission
/// times are whole seconds, so ties are common. They are broken by a rank that differs from
/// workload to workload.
std::optional<std::string> winner(const GroupView& g) {
  std::optional<std::string> best;
  for (const auto& [name, v] : g.clusters) {
    if (!eligible(g, name, v)) continue;
    if (!best) {
      best = name;
      continue;
    }
    const ClusterView& other = g.clusters.at(*best);
    const auto mine = std::pair(!was_sent_unrecorded(v), *v.copy->admitted_at);
    const auto theirs = std::pair(!was_sent_unrecorded(other), *other.copy->admitted_at);
    const bool earlier = mine < theirs;
    const bool tie = mine == theirs;
    if (earlier || (tie && rank_of(g.local.uid, name) < rank_of(g.local.uid, *best))) best = name;
  }
  return best;
}

/// A worker that was given up has come back, and the Job ended there: it is not run again.
std::optional<std::string> ended_there(const GroupView& g) {
  for (const auto& [name, v] : g.clusters) {
    const bool shown = v.connected && v.listed && v.copy && v.copy->finished && holds_job(v);
    if (shown && !v.copy->deleting && !v.job_deleting && v.copy->drift != Drift::other &&
        !v.copy->of_another_life && !v.copy->unmarked && (v.job_ended || v.job_tells_no_end) &&
        ended_by_job(v.copy->finished->reason)) {
      return name;
    }
  }
  return std::nullopt;
}

/// What is left of the head start of the worker with the only copy; nullopt when all may have one.
std::optional<Duration> head_start_left(const GroupView& g, TimePoint now,
                                        const PlanConfig& config) {
  if (config.head_start <= Duration(0)) return std::nullopt;
  if (!g.local.racing_since) {
    if (any_copy(g)) return std::nullopt;
    return config.head_start;
  }
  for (const auto& [name, v] : g.clusters) {
    if (v.copy && (v.copy->waiting || !v.connected)) return std::nullopt;
  }
  const Duration whole = g.local.head_start.value_or(config.head_start);
  const Duration left = whole - (now - *g.local.racing_since);
  if (left <= Duration(0)) return std::nullopt;
  return left;
}

/// Creates missing copies on nominated workers; removes stale copies and those on other workers.
void place_copies(Plan* plan, const GroupView& g, const std::vector<std::string>& nominated,
                  TimePoint now, const PlanConfig& config) {
  std::vector<std::string> missing;
  for (const auto& [name, v] : g.clusters) {
    const bool wanted =
        v.listed && v.kind_served && contains(nominated, name) && !refused(g.local, name);
    // Without a recorded cluster a Job or a finished copy is left over from an earlier attempt.
    const bool stale =
        holds_own_job(v) || is_stuck(v) ||
        (v.copy && (is_spoilt(*v.copy) || v.copy->removal_begun || v.copy->of_another_life));
    if (!wanted) {
      remove(plan, name, v);
    } else if (stale) {
      remove_useless(plan, name, v);
    } else if (v.connected && v.copy && v.copy->drift == Drift::updatable) {
      plan->actions.push_back(UpdateCopy{name});
    } else if (v.connected && !v.copy && v.job != RemoteJob::foreign &&
               v.certainty != Certainty::unreadable) {
      missing.push_back(name);
    }
  }
  if (!g.local.other_checks_ready) return;
  const auto place = [&](const std::string& name) {
    const ClusterView& v = g.clusters.at(name);
    return std::tuple(v.copying.has_value(), v.passed_over, v.busy, rank_of(g.local.uid, name));
  };
  std::sort(missing.begin(), missing.end(),
            [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  if (missing.empty()) return;
  // What a worker refused is asked for again after a pause, for which the others do not wait.
  const bool refused_lately = g.clusters.at(missing.front()).copying.has_value();
  const auto left = refused_lately ? std::nullopt : head_start_left(g, now, config);
  if (left) {
    if (!any_copy(g)) plan->actions.push_back(CreateCopy{missing.front()});
    look_again(plan, *left);
    return;
  }
  for (std::string& name : missing) plan->actions.push_back(CreateCopy{std::move(name)});
}

bool may_preempt(const GroupView& g, const std::string& name, const ClusterView& v) {
  if (g.local.follows && *g.local.follows != name) return false;
  return v.connected && v.listed && v.copy && v.copy->blocked_since && !v.copy->finished &&
         !v.copy->evicted && !v.copy->deactivating && !v.copy->deleting && !v.copy->removal_begun &&
         v.copy->drift == Drift::none && is_free(v) && contains(g.local.nominated, name);
}

/// Of the workers that would have to preempt, the first one may, unless another one was allowed to
/// a short time ago, or may have been. The gate of an existing copy is opened even if new copies
/// get none.
void open_gate(Plan* plan, const GroupView& g, TimePoint now, const PlanConfig& config) {
  if (must_not_preempt(g)) return;
  const std::string* first = nullptr;
  std::optional<TimePoint> since, opened;
  for (const auto& [name, v] : g.clusters) {
    if (!v.copy) continue;
    // A worker whose clock is wrong by more than a turn must not close the others out for ever.
    if (v.copy->gate_open_since && *v.copy->gate_open_since <= now + config.between_gates) {
      opened = std::max(opened.value_or(*v.copy->gate_open_since), *v.copy->gate_open_since);
    }
    if (!may_preempt(g, name, v) || (since && *since <= *v.copy->blocked_since)) continue;
    first = &name;
    since = v.copy->blocked_since;
  }
  if (!first) return;
  const bool opening = std::any_of(g.clusters.begin(), g.clusters.end(), [&](const auto& cluster) {
    return cluster.first != *first && cluster.second.copy && cluster.second.copy->gate_opening;
  });
  if (opening) return look_again(plan, config.between_gates);
  const Duration left = opened ? config.between_gates - (now - *opened) : Duration(0);
  if (left <= Duration(0)) plan->actions.push_back(OpenGate{*first});
  look_again(plan, left > Duration(0) ? left : config.between_gates);
}

/// Of a dispatcher that compares workers.
std::string why_not_elsewhere(const GroupView& g, const std::string& winner, TimePoint now,
                              const PlanConfig& config) {
  if (g.local.follows || !compares(dispatcher_of(g.local, config))) return {};
  return not_elsewhere(ranking_of(g, now, config), winner);
}

/// The Job runs there, or is to, under a slice that is replaced, and that had no place yet when
/// this larger one got its quota; or it ended so.
bool is_left_behind(const LocalView& local, const std::string& name, const ClusterView& v) {
  const bool stops = v.job_stopped || v.job_stopping || v.job_deleting;
  const bool left = (holds_job(v) && v.job_left_behind) || name == local.place_of_replaced;
  return v.listed && left && !stops;
}

/// This slice takes its place where such a Job is. A lost worker has its grace. Nothing when there
/// is none.
std::optional<Plan> follow_left_behind(Plan plan, const GroupView& g, TimePoint now,
                                       const PlanConfig& config) {
  for (const auto& [name, v] : g.clusters) {
    if (!is_left_behind(g.local, name, v)) continue;
    if (v.connected) {
      if (contains(g.local.nominated, name)) {
        plan.actions.push_back(TakePlace{name});
      } else {
        plan.actions.push_back(SetNominated{{name}});
      }
      return plan;
    }
    if (const Duration grace = grace_left(g, v, now, config); grace > Duration(0)) {
      look_again(&plan, grace);
      return plan;
    }
  }
  return std::nullopt;
}

/// No cluster is recorded: record the winner, or make it possible that a worker wins.
Plan race(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan;
  // 9a. The check is Ready without a recorded cluster, which no write of ours leads to.
  if (g.local.check == CheckState::ready) {
    return set_check(std::move(plan), CheckState::retry,
                     "Admission check is Ready but no admitting cluster is recorded; this is "
                     "unexpected, please report it");
  }
  // 9b. The hub is already taking the workload back; or it has lost the record of the worker that
  // runs the Job, and the operator has to say what is to happen.
  if (g.local.check == CheckState::retry || where_held(g) || g.local.superseded) return plan;
  if (config.attempts_max > 0 && g.local.retries >= config.attempts_max) {
    return set_check(std::move(plan), CheckState::rejected,
                     "The workload lost its worker cluster " + std::to_string(g.local.retries) +
                         " times in a row",
                     true);
  }
  // 9c. The Job ended on a worker that was lost meanwhile. Rule 8 brings the result home.
  if (const auto there = ended_there(g)) {
    plan.actions.push_back(RecordWinner{*there, "The workload ended on \"" + *there + "\""});
    return plan;
  }
  // The Workload is about to be Finished.
  if (g.local.job_over) return plan;
  // The Job goes on where it is, and the larger size is asked for there.
  if (auto there = follow_left_behind(plan, g, now, config)) return *there;
  // 9d. A copy was admitted: write the start lock, remove the losers, create the Job.
  // Before the other checks are Ready there are only copies that an earlier attempt has left.
  if (const auto best = g.local.other_checks_ready ? winner(g) : std::nullopt) {
    const bool sent = was_sent_unrecorded(g.clusters.at(*best));
    // The hub may have come back from a backup that lacks the record of the worker with the Job.
    const Duration hearing = hearing_left_for(g.local.created_at, g, now, config);
    if (!sent && hearing > Duration(0)) {
      look_again(&plan, hearing);
      return plan;
    }
    plan.actions.push_back(RecordWinner{*best, "The workload was admitted on \"" + *best + "\"",
                                        why_not_elsewhere(g, *best, now, config)});
    remove_all_but(&plan, g.clusters, *best);
    if (!sent && !job_elsewhere(g.clusters, *best)) plan.actions.push_back(CreateJob{*best});
    return plan;
  }
  // 9e. The workload has raced for long enough.
  if (config.give_up_after > Duration(0)) {
    const Duration left = config.give_up_after - (now - g.local.quota_reserved_at);
    if (left <= Duration(0)) {
      return set_check(
          std::move(plan), CheckState::rejected,
          "No worker cluster admitted the workload within " + human_duration(config.give_up_after),
          true);
    }
    look_again(&plan, left);
  }
  if (!g.local.refused_by.empty()) look_again(&plan, g.local.refused_until - now);
  // 9f. No worker has room: one of them may preempt to make some.
  open_gate(&plan, g, now, config);
  // 9g. Nominate workers, and create copies on them.
  const Nomination wanted = nomination_of(g, now, config);
  if (wanted.nominated.clusters != g.local.nominated) plan.actions.push_back(wanted.nominated);
  if (wanted.look_again) look_again(&plan, *wanted.look_again);
  const bool waits = waits_for_first(g.local);
  place_copies(&plan, g, waits ? std::vector<std::string>() : wanted.nominated.clusters, now,
               config);
  return plan;
}

/// The job runs on the hub as if the queue had no workers. Copies are left from before it asked for
/// that.
Plan run_on_hub(const GroupView& g) {
  Plan plan;
  remove_all_but(&plan, g.clusters, "");
  if (g.local.check == CheckState::pending && !job_elsewhere(g.clusters, "")) {
    plan.actions.push_back(RunOnHub{});
  }
  return plan;
}

/// A workload that loses its admission as soon as it has it would be retried as fast as writes are
/// answered. The first loss costs nothing. Then the pause doubles each time, less the time for
/// which the workload was admitted.
std::chrono::seconds pause_before_retry(const LocalView& local, TimePoint now) {
  using std::chrono::seconds;
  constexpr seconds longest = std::chrono::minutes(5);
  constexpr std::int32_t doublings_max = 9;
  if (local.retries <= 0) return seconds(0);
  const seconds pause(std::int64_t{1} << std::min(local.retries - 1, doublings_max));
  const Duration left = std::min(pause, longest) - (now - local.check_since);
  return std::clamp(std::chrono::ceil<seconds>(left), seconds(0), longest);
}

Plan plan_once(const GroupView& g, TimePoint now, const PlanConfig& config) {
  const LocalView& local = g.local;
  // 1. The workload is deleted: nothing may stay. Lost workers are cleaned up when they return.
  if (local.deleted) return clean_up(g, now, config);
  // 2. The workload finished, or has no quota.
  if (local.finished || !local.quota_reserved) return clean_up(g, now, config);
  // 3. The workload is evicted and still holds quota.
  if (local.evicted) return wind_down(g, now, config);
  // 3a. A cluster is recorded, and the manager no longer looks at the job: it goes on there.
  if (!local.kind_dropped.empty()) return {};
  // 4. MultiKueue does not dispatch the workload, or no longer does.
  if (local.check == CheckState::none) {
    return local.cluster_name.empty() ? clean_up(g, now, config)
                                      : follow_to_the_end(g, now, config);
  }
  // 5. The check is Rejected: the eviction follows.
  if (local.check == CheckState::rejected) return {};
  // 6. The owner or the config is not known yet. The workload is planned again when it is.
  const bool recorded = !local.cluster_name.empty();
  if (local.job_missing || (local.config_missing && !recorded)) return {};
  if (local.runs_on_hub && !recorded) return run_on_hub(g);
  // 7. The job cannot run on a worker.
  if (!local.rejection.empty()) return set_check({}, CheckState::rejected, local.rejection, true);
  // 8. A cluster is recorded.
  if (recorded) return hosted(g, now, config);
  // 9. No cluster is recorded: the race.
  return race(g, now, config);
}

bool writes_workload(const Action& action) {
  return std::holds_alternative<SetNominated>(action) ||
         std::holds_alternative<RecordWinner>(action) ||
         std::holds_alternative<TakePlace>(action) || std::holds_alternative<RunOnHub>(action) ||
         std::holds_alternative<SetCheck>(action) || std::holds_alternative<FinishLocal>(action);
}

}  // namespace

TimePoint given_up_at(const GroupView& g, const ClusterView& v, TimePoint now,
                      const PlanConfig& config) {
  TimePoint since = v.lost_since.value_or(now);
  const bool recorded = !g.local.cluster_name.empty() && g.local.check == CheckState::ready;
  if (recorded && g.local.check_since <= now) since = std::max(since, g.local.check_since);
  TimePoint end = since + config.worker_lost_timeout;
  if (const auto& leading = g.local.leading_since) {
    end = std::max(end, *leading + config.worker_lost_timeout / 3);
  }
  return end;
}

bool may_be_evicted_from(const LocalView& local, const std::string& cluster) {
  return local.evicted_from ? *local.evicted_from == cluster : !local.never_ran;
}

bool may_still_run(const GroupView& g, TimePoint now, const PlanConfig& config) {
  if (hearing_left(g, now, config) > Duration(0)) return true;
  return std::any_of(g.clusters.begin(), g.clusters.end(), [&](const auto& entry) {
    const auto& [name, v] = entry;
    const bool seen = may_run_on(v) && may_be_evicted_from(g.local, name);
    if (!seen && !may_run_unseen_on(g, name, v)) return false;
    return v.connected || grace_left(g, v, now, config) > Duration(0);
  });
}

std::optional<TimePoint> stop_unanswered_since(const GroupView& g, const ClusterView& v) {
  if (!v.connected || !v.copy) return std::nullopt;
  if (v.copy->stop_asked_at) return v.copy->stop_asked_at;
  if (v.stopping && !v.job_stopping && may_run_on(v)) {
    return std::max(v.stopping->since, g.local.evicted_at);
  }
  const bool to_be_stopped =
      v.copy->evicted || v.copy->deactivating || finished_before_its_job(*v.copy);
  if (!to_be_stopped || v.job_stopping || !may_run_on(v)) return std::nullopt;
  return g.local.evicted_at;
}

const std::string* where_held(const GroupView& group) {
  for (const auto& [name, v] : group.clusters) {
    if (v.removals_held) return &name;
  }
  return nullptr;
}

const std::string* any_copy(const GroupView& group) {
  for (const auto& [name, v] : group.clusters) {
    if (v.copy) return &name;
  }
  return nullptr;
}

Plan plan(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan out = only_certain(plan_once(g, now, config), g);
  const bool writes =
      std::any_of(out.actions.begin(), out.actions.end(), [&g](const Action& action) {
        // An end whose status the hub refuses may be long in coming.
        const bool waits = g.local.status_refused && std::holds_alternative<FinishLocal>(action);
        return writes_workload(action) && !waits;
      });
  // What is not certain is not told.
  if (!writes && g.local.certainty == Certainty::certain) {
    const Telling telling = what_to_tell(g, now, config);
    // First, because a turn ends at the removal of a Job, which may be what is told.
    if (telling.state) out.actions.insert(out.actions.begin(), *telling.state);
    if (telling.look_again) look_again(&out, *telling.look_again);
  }
  for (const auto& [name, v] : g.clusters) {
    if (v.job_removed_for > Duration(0)) look_again(&out, v.job_removed_for);
  }
  for (Action& action : out.actions) {
    auto* check = std::get_if<SetCheck>(&action);
    if (check && check->state == CheckState::retry) {
      check->pause = pause_before_retry(g.local, now);
    }
  }
  return out;
}

namespace {

std::string text(const RemoveRemote& a) {
  return (a.holds_job ? "remove job and copy on " : "remove copy on ") + a.cluster;
}
std::string text(const CreateCopy& a) {
  return "copy to " + a.cluster;
}
std::string text(const UpdateCopy& a) {
  return "update copy on " + a.cluster;
}
std::string text(const OpenGate& a) {
  return "open gate on " + a.cluster;
}
std::string text(const SetNominated& a) {
  return "nominate [" + joined(a.clusters, " ") + "]";
}
std::string text(const RecordWinner& a) {
  return "record winner " + a.cluster;
}
std::string text(const TakePlace& a) {
  return "take place on " + a.cluster;
}
std::string text(const RunOnHub&) {
  return "run on the hub";
}
std::string text(const SetCheck& a) {
  const std::string pause =
      a.pause.count() > 0 ? " in " + std::to_string(a.pause.count()) + "s" : std::string();
  return std::string("check ") + (a.state == CheckState::retry ? "Retry" : "Rejected") + pause +
         " (" + a.message + ")";
}
std::string text(const CreateJob& a) {
  return "create job on " + a.cluster;
}
std::string text(const UpdateJob& a) {
  return "update job on " + a.cluster;
}
std::string text(const RemoveStrays& a) {
  return "remove strays on " + a.cluster;
}
std::string text(const CopyJobStatus& a) {
  return (a.final ? "copy final status from " : "copy status from ") + a.cluster;
}
std::string text(const ReleaseJob&) {
  return "release job";
}
std::string text(const EndJob&) {
  return "end job as its workload ended";
}
std::string text(const DeactivateRemote& a) {
  return "deactivate on " + a.cluster + " (" + a.message + ")";
}
std::string text(const TellState& a) {
  return "tell " + a.reason + " (" + a.message + ")";
}
std::string text(const FinishLocal& a) {
  return "finish " + a.reason + " (" + a.message + ")";
}
std::string text(const Confirm& a) {
  if (a.cluster.empty()) return "confirm on the hub";
  return (a.job_anew ? "read job anew on " : "confirm on ") + a.cluster;
}

}  // namespace

std::string describe(const Plan& plan) {
  std::string out;
  for (const Action& action : plan.actions) {
    const std::string one = std::visit([](const auto& a) { return text(a); }, action);
    out += (out.empty() ? "" : ", ") + one;
  }
  if (plan.look_again) {
    const auto millis = plan.look_again->count();
    out += (out.empty() ? "look again in " : ", look again in ") +
           (millis < 1000 ? std::to_string(millis) + "ms" : std::to_string(millis / 1000) + "s");
  }
  return out;
}

}  // namespace regatta::dispatch
