#include "lib/base/json_access.h"
#include "lib/kube/lease.h"
#include "tests/sim/invariant.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

/// Nothing was wrong on the way from the hub to the worker, at its ends and at what holds them.
bool undisturbed(const History& history, const Run& run, SteadyPoint since) {
  for (const auto& [from, to] : {std::pair(run.hub, run.hub), std::pair(run.hub, run.worker),
                                 std::pair(run.worker, run.worker)}) {
    const auto sound = history.sound_since(from, to);
    if (!sound || *sound > std::min(since, run.recorded)) return false;
  }
  for (const std::string& cluster : {run.hub, run.worker}) {
    const auto at_work = history.at_work_since(cluster);
    if (!at_work || *at_work >= since) return false;
  }
  return !history.restored_within(run.worker, 1h) && !history.restored_within(run.hub, 1h);
}

class NoNeedlessStop final : public Invariant {
 public:
  using Invariant::Invariant;

  void changed(const Changed& c) override {
    if (c.resource == "admissionchecks.kueue.x-k8s.io") {
      const std::pair key(c.cluster, c.object->name());
      if (c.type == apiserver::ChangeType::added) checks_[key] = c.at;
      if (c.type == apiserver::ChangeType::deleted) checks_.erase(key);
      return;
    }
    if (c.kind == Resource::workloads && !cluster_name_of(c.object->value()).empty()) {
      const std::string key = c.object->ns() + "/" + c.object->name();
      sent_by_[{c.cluster, key}] = sending_check(c.object->value());
    }
    const bool keeps = c.kind == Resource::jobs && expected_.keeping.contains(c.cluster);
    // A copy may be believed to be one that cannot be decoded.
    const bool garbles = c.kind == Resource::workloads && c.cluster == expected_.garbled;
    const bool job_there = c.kind == Resource::jobs && is_worker(c.cluster);
    if (!job_there && !garbles) return;
    const Json& job = c.object->value();
    const std::string workload =
        c.object->ns() + "/" + (job_there ? prebuilt_of(job) : c.object->name());
    auto& all = keeps || garbles ? kept_ : jobs_;
    std::vector<Kept>& kept = all[history_.record_of(history_.hubs().front(), workload)];
    if (c.type == apiserver::ChangeType::added) kept.push_back({c.cluster, uid_of(job), c.at});
    if (c.type != apiserver::ChangeType::deleted) return;
    for (Kept& one : kept) {
      if (one.uid == uid_of(job)) one.until = c.at;
    }
  }

  void run_over(const Run& run) override {
    if (run.end != Run::End::ended && run.worker != expected_.garbled && !strayed(run) &&
        history_.reason_to_stop(run, expected_.worker_lost_timeout / 2, &used_).empty()) {
      history_.violated(run.workload +
                        (run.end == Run::End::stopped ? " is stopped" : " is removed") + " on " +
                        run.worker + " while it runs, for no reason");
    }
    again(run);
    orderly(run);
    listed(run);
    in_time(run);
  }

 private:
  bool is_worker(const std::string& cluster) const {
    const std::vector<std::string>& all = history_.workers();
    return std::find(all.begin(), all.end(), cluster) != all.end();
  }

  /// A Job on a worker, or a copy on one that answers anything.
  struct Kept {
    std::string worker, uid;
    SteadyPoint since;
    SteadyPoint until = SteadyPoint::max();

    bool was_there_before(const Run& run) const {
      return since <= run.created && until >= run.recorded;
    }
  };

  /// Of what the hub did not see go it asks again within a minute, once it has a way there.
  SteadyPoint unseen_until(const Kept& one, const Run& run) const {
    const auto heard = history_.hears_since(run.hub, one.worker);
    if (heard && *heard <= one.until) return run.recorded;
    const auto sound = history_.sound_since(run.hub, one.worker);
    const SteadyPoint gone = std::min(one.until, run.created);
    const SteadyPoint from = std::max({run.recorded, gone, sound.value_or(run.recorded)});
    return std::min(from + 1min, run.created);
  }

  /// What happened then on any cluster was heard there at once.
  bool heard_everywhere(const std::string& hub, SteadyPoint then) const {
    std::vector<std::string> all = history_.workers();
    all.push_back(hub);
    return std::all_of(all.begin(), all.end(), [&](const std::string& cluster) {
      const auto heard = history_.hears_since(hub, cluster);
      return heard && *heard <= then;
    });
  }

  /// From when on nothing kept the Job from being created. A copy of its Workload that cannot be
  /// decoded did, and that of a worker that keeps one of the same Workload, if the hub saw all of
  /// it; also its job on another worker that the hub could not remove for want of a way there.
  SteadyPoint free_to_start(const Run& run) const {
    SteadyPoint from = run.recorded;
    if (const auto until = history_.unreadable_until(run.hub, run.workload)) {
      from = heard_everywhere(run.hub, *until) ? std::max(from, std::min(*until, run.created))
                                               : run.created;
    }
    if (const auto jobs = jobs_.find(run.workload); jobs != jobs_.end()) {
      for (const Kept& one : jobs->second) {
        if (one.worker == run.worker) continue;
        const auto sound = history_.sound_since(run.hub, one.worker);
        from = std::max(from, unseen_until(one, run));
        if (!one.was_there_before(run) || (sound && *sound <= run.recorded)) continue;
        from = std::max(from, std::min(one.until, run.created));
      }
    }
    const auto found = kept_.find(run.workload);
    if (found == kept_.end()) return from;
    for (const Kept& one : found->second) {
      from = std::max(from, unseen_until(one, run));
      if (!one.was_there_before(run)) continue;
      const auto sound = history_.sound_since(run.hub, one.worker);
      const bool seen = sound && *sound <= std::min(one.since, run.recorded) &&
                        !history_.restored_within(one.worker, 1h);
      from = seen ? std::max(from, std::min(one.until, run.created)) : run.created;
    }
    return from;
  }

  /// The Job is created soon after its worker was recorded.
  void in_time(const Run& run) const {
    const SteadyPoint free = free_to_start(run);
    if (expected_.refusals || run.created < free + 15s) return;
    if (!undisturbed(history_, run, run.recorded - 1s)) return;
    // A larger size gets the place of what the hub believes to run there, and waits for its quota
    // even if nothing does, or if that is gone before it gets the quota.
    const Record* record = history_.record(run.hub, run.workload);
    const auto heard = history_.hears_since(run.hub, run.worker);
    const bool larger = record && record->latest != run.workload;
    if (larger && (free > run.recorded || !heard || *heard > run.recorded)) return;
    if (larger && took_its_place(run, *record)) return;
    history_.violated("the job of " + run.workload + " comes to " + run.worker +
                      " long after that worker was recorded");
  }

  /// What had its place ran there when it was recorded, and went before it came.
  static bool took_its_place(const Run& run, const Record& record) {
    return std::any_of(record.runs.begin(), record.runs.end(), [&](const Run& other) {
      return other.worker == run.worker && other.uid != run.uid && other.began < run.recorded &&
             other.end != Run::End::none && other.over > run.recorded;
    });
  }

  /// A Job does not go on for long on a worker that is no longer listed.
  void listed(const Run& run) const {
    const auto since = history_.unlisted_since(run.hub, run.worker);
    if (!since || expected_.lying.contains(run.worker) || run.over < *since + 5s) return;
    if (run.began + 2s > *since || !undisturbed(history_, run, *since - 1s)) return;
    // A Workload whose check is gone, or was meanwhile, is followed to its end. When it is evicted,
    // it loses that check.
    const apiserver::Shelf* all = history_.store(run.hub).find_shelf(workloads);
    if (!all->objects().contains(run.workload)) return;
    const auto by = sent_by_.find({run.hub, run.workload});
    if (by == sent_by_.end()) return;
    const auto check = checks_.find({run.hub, by->second});
    if (check == checks_.end() || check->second > *since) return;
    history_.violated(run.workload + " goes on for long on " + run.worker +
                      ", which is not listed");
  }

  /// What the hub evicts is stopped soon, and in such a way that it can say how far it came.
  void orderly(const Run& run) {
    const Record* record = history_.record(run.hub, run.workload);
    if (!record) return;
    for (const Fact& fact : record->facts) {
      const bool evicted = fact.what.starts_with("the hub evicts it");
      // An edit by itself stops nothing.
      if (fact.at < run.recorded || fact.what == "a user edits its Workload") continue;
      if (!evicted) return;
      if (fact.at < run.began + 2s || !undisturbed(history_, run, fact.at - 1s)) return;
      if (run.end == Run::End::ended && run.over > fact.at + 5s && own_watches_work(run, fact.at)) {
        history_.violated(run.workload + " goes on for long on " + run.worker + " although " +
                          fact.what);
      }
      if (run.end == Run::End::removed) {
        history_.violated(run.workload + " is removed on " + run.worker +
                          " instead of stopped, although only " + fact.what);
      }
      return;
    }
  }

  /// A watch of either manager's own server that an earlier disturbance has silenced is found out.
  bool own_watches_work(const Run& run, SteadyPoint since) const {
    for (const std::string& cluster : {run.hub, run.worker}) {
      const auto heard = history_.hears_since(cluster, cluster);
      if (!heard || *heard >= since) return false;
    }
    return true;
  }

  /// Why the hub may have given up a run that is over by that time. A way to a worker that fails
  /// for half of the grace may seem lost for all of it, because what finds out that it works again
  /// has backoffs.
  std::string reason_before(Run run, SteadyPoint time) const {
    run.over = time;
    return history_.reason_to_stop(run, expected_.worker_lost_timeout / 2);
  }

  /// A Job that ended is not run again, unless the hub could not learn of its end.
  void again(const Run& run) {
    const Record* record = history_.record(run.hub, run.workload);
    if (!record) return;
    const SteadyPoint began = first_began(run, *record);
    for (const Run& earlier : record->runs) {
      if (earlier.end != Run::End::ended || earlier.over > began) continue;
      // Its end may not have counted.
      if (expected_.lying.contains(earlier.worker)) continue;
      if (!reason_before(earlier, run.began).empty()) continue;
      if ((run.late || given_up(run, earlier)) && stopped_soon(run)) continue;
      history_.violated(run.workload + " runs on " + run.worker + " although it ended on " +
                        earlier.worker + ", for no reason");
    }
  }

  /// The request for its Job arrived after another worker had been recorded.
  bool strayed(const Run& run) const {
    const Record* record = history_.record(run.hub, run.workload);
    return record && record->cluster != run.worker && record->since < run.created;
  }

  /// Its worker was given up for a reason before the other one was recorded, and starts the Job
  /// only now.
  bool given_up(const Run& run, const Run& other) const {
    return run.created < other.recorded && !reason_before(run, other.recorded).empty();
  }

  /// What a request that came too late has made is stopped as soon as the hub can.
  bool stopped_soon(const Run& run) const {
    return run.over < run.began + 5s || !undisturbed(history_, run, run.began - 1s);
  }

  /// A worker that is restored to an older state may show a run again that was over: no manager
  /// started that one.
  static SteadyPoint first_began(const Run& run, const Record& record) {
    SteadyPoint out = run.began;
    for (const Run& other : record.runs) {
      if (other.worker == run.worker && other.uid == run.uid) out = std::min(out, other.began);
    }
    return out;
  }

  std::map<std::string, std::vector<Kept>> kept_;  ///< by Workload
  std::map<std::string, std::vector<Kept>> jobs_;  ///< on workers that keep nothing; by Workload
  /// Since when there are checks, by cluster and name.
  std::map<std::pair<std::string, std::string>, SteadyPoint> checks_;
  /// By hub and Workload: the check that sent it to the worker that was recorded last.
  std::map<std::pair<std::string, std::string>, std::string> sent_by_;
  UsedFacts used_;
};

class TrueCompletion final : public Invariant {
 public:
  using Invariant::Invariant;

  void changed(const Changed& c) override {
    const auto& hubs = history_.hubs();
    if (c.kind != Resource::jobs || std::find(hubs.begin(), hubs.end(), c.cluster) == hubs.end()) {
      return;
    }
    const std::string outcome = outcome_of(c.object->value());
    if (outcome.empty() || !c.previous || !outcome_of(c.previous->value()).empty()) return;
    const std::string why = judge(c, outcome);
    if (!why.empty()) {
      history_.violated(c.object->name() + " is " + outcome + " on " + c.cluster + ", but " + why);
    }
  }

 private:
  /// What is wrong with that end, or empty.
  std::string judge(const Changed& c, const std::string& outcome) const {
    const Json& job = c.object->value();
    std::string problem = "it has no Workload that was recorded anywhere";
    for (const std::string& key : history_.workloads_of_job(c.cluster, uid_of(job))) {
      const Record& record = *history_.record(c.cluster, key);
      for (const std::string& worker : record.ever) {
        if (expected_.lying.contains(worker)) return "";
      }
      if (record.runs.empty()) continue;
      const Run* last = last_run(c.cluster, record);
      if (!last) {
        problem = "it never ran on " + record.cluster;
      } else if (last->end != Run::End::ended) {
        problem = "it has not ended on " + last->worker;
        if (last->end == Run::End::removed) return "";  // judged as a needless stop
        if (ended_before_restore(record, *last, outcome)) return "";
      } else if (last->outcome != outcome) {
        problem = "it is " + last->outcome + " on " + last->worker;
      } else {
        return late(*last) ? "it ended long ago on " + last->worker : counts(job, *last, record);
      }
    }
    return problem;
  }

  /// It had ended so before the server of the worker went back to an older state. Its Workload
  /// there may say so all the same.
  bool ended_before_restore(const Record& record, const Run& last,
                            const std::string& outcome) const {
    return history_.restored_within(last.worker, 1h) &&
           std::any_of(record.runs.begin(), record.runs.end(), [&](const Run& run) {
             return run.worker == last.worker && run.uid == last.uid &&
                    run.end == Run::End::ended && run.outcome == outcome;
           });
  }

  /// The run that decides how the Job ended: the last one on the recorded worker. When that worker
  /// is given up, one that ended on a worker that was recorded before it may count as well.
  const Run* last_run(const std::string& hub, const Record& record) const {
    const auto& present = history_.store(hub).find_shelf(workloads)->objects();
    const auto workload = present.find(record.latest);
    const bool given_up = workload == present.end() ||
                          cluster_name_of(workload->second->value()).empty() ||
                          condition_true(workload->second->value(), "Evicted");
    const Run* last = nullptr;
    for (const Run& run : record.runs) {
      if (run.worker == record.cluster) last = &run;
    }
    if (!given_up || (last && last->end == Run::End::ended)) return last;
    for (const Run& run : record.runs) {
      if (was_left(run, record) && !runs_elsewhere(run, record)) last = &run;
    }
    return last;
  }

  /// The Job ended on a worker that had been recorded, and that was then left for a reason.
  bool was_left(const Run& run, const Record& record) const {
    if (run.end != Run::End::ended || !record.ever.contains(run.worker)) return false;
    Run until = run;
    until.over = history_.now();
    return !history_.reason_to_stop(until, expected_.worker_lost_timeout / 2).empty();
  }

  /// The hub must know that the Job runs on another worker.
  bool runs_elsewhere(const Run& ended, const Record& record) const {
    return std::any_of(record.runs.begin(), record.runs.end(), [&](const Run& run) {
      const auto sound = history_.sound_since(run.hub, run.worker);
      return run.worker != ended.worker && run.end == Run::End::none && sound &&
             std::max(*sound, run.began) + expected_.sees_within < history_.now();
    });
  }

  /// The hub makes an end up once the true one is lost; that is for disturbed histories.
  bool late(const Run& run) const {
    for (const std::string& cluster : {run.hub, run.worker}) {
      const auto heard = history_.hears_since(run.hub, cluster);
      if (!heard || *heard >= run.over) return false;
    }
    return run.over + 30s < history_.now() && undisturbed(history_, run, run.over - 1s);
  }

  /// The counts of pods are those of the worker's Job; a second attempt starts from zero there.
  std::string counts(const Json& job, const Run& run, const Record& record) const {
    std::string problem;
    history_.each_job(run.worker, [&](const apiserver::StoredPtr& object) {
      if (uid_of(object->value()) != run.uid) return;
      auto here = counts_of(job), there = counts_of(object->value());
      // Each has the fields of both.
      for (const auto& [field, count] : here) there.try_emplace(field, 0);
      for (const auto& [field, count] : there) {
        const bool more = here[field] > count && record.runs.size() == 1;
        if (here[field] >= count && !more) continue;
        problem = field.substr(1) + " is " + std::to_string(here[field]) + " instead of " +
                  std::to_string(count);
        return;
      }
    });
    return problem;
  }
};

class GoodManners final : public Invariant {
 public:
  using Invariant::Invariant;

  void changed(const Changed& c) override {
    if (c.author.role != Role::dispatcher) return;
    if (c.kind != Resource::workloads && c.kind != Resource::jobs) return;
    if (expected_.lying.contains(c.cluster)) return;
    const std::string what = c.object->name() + " on " + c.cluster;
    const std::string creator = history_.creator(uid_of(c.object->value()));
    if (c.previous && creator != c.author.cluster) {
      history_.violated(c.author.text() + " touches " + what + ", which " +
                        (creator.empty() ? "no hub" : creator) + " created");
    }
    if (c.type != apiserver::ChangeType::added) return;
    if (c.kind == Resource::jobs && !suspended(c.object->value())) {
      history_.violated("the job " + what + " is not created suspended");
    }
    if (origin_of(c.object->value()).empty()) {
      history_.violated(what + " is created without the origin");
    }
  }
};

class OneLeader final : public Invariant {
 public:
  using Invariant::Invariant;

  void sent(const Sent& sent) override {
    if (!expected_.fenced || sent.request->method == "GET") return;
    if (sent.author.role != Role::manager && sent.author.role != Role::dispatcher) return;
    for (const char* allowed : {"/leases", "/events"}) {
      if (sent.request->target.find(allowed) != std::string::npos) return;
    }
    // In an older state an earlier process leads. The present one learns it when it renews.
    const Duration until_renewal = kube::LeaderElectionOptions().renew_deadline;
    if (history_.restored_within(sent.author.cluster, until_renewal)) return;
    const std::string holder = holder_of(sent.author.cluster);
    if (holder.empty() || holder == sent.author.identity) return;
    history_.violated(sent.author.identity + " sends " + sent.request->method + " " +
                      sent.request->target + " to " + sent.to + " although " + holder + " leads");
  }

 private:
  std::string holder_of(const std::string& hub) const {
    const apiserver::Shelf* shelf = history_.store(hub).find_shelf("leases.coordination.k8s.io");
    if (!shelf || shelf->objects().empty()) return "";
    return text_at(at_or_null(shelf->objects().begin()->second->value(), "spec"), "holderIdentity");
  }
};

}  // namespace

std::unique_ptr<Invariant> no_needless_stop(History& history, const Expectations& expected) {
  return std::make_unique<NoNeedlessStop>(history, expected);
}
std::unique_ptr<Invariant> true_completion(History& history, const Expectations& expected) {
  return std::make_unique<TrueCompletion>(history, expected);
}
std::unique_ptr<Invariant> good_manners(History& history, const Expectations& expected) {
  return std::make_unique<GoodManners>(history, expected);
}
std::unique_ptr<Invariant> one_leader(History& history, const Expectations& expected) {
  return std::make_unique<OneLeader>(history, expected);
}

Invariants all_invariants(History& history, const Expectations& expected) {
  Invariants all;
  for (const auto make : {start_lock, no_double_start, no_needless_stop, true_completion,
                          quota_kept, placed, good_manners, one_leader, clean_end}) {
    all.push_back(make(history, expected));
  }
  return all;
}

}  // namespace regatta::simtest
