#include "lib/api/codec.h"
#include "lib/api/kueue.h"
#include "lib/base/json_access.h"
#include "tests/sim/invariant.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

const std::string queues = "clusterqueues.kueue.x-k8s.io";

/// Calls visit(key, object) for each object of a resource.
template <class Visit>
void each(const History& history, const std::string& cluster, const std::string& resource,
          Visit visit) {
  const apiserver::Shelf* shelf = history.store(cluster).find_shelf(resource);
  if (!shelf) return;
  for (const auto& [key, object] : shelf->objects()) visit(key, object->value());
}

/// Calls visit(object) for what such a worker holds and a hub should have removed in the end,
/// whatever made it.
template <class Visit>
void each_left_by_liar(const History& history, const Expectations& expected,
                       const std::string& worker, Visit visit) {
  if (!expected.repents) return;
  const auto look = [&](const Json& value) {
    if (!origin_of(value).empty()) visit(value);
  };
  each(history, worker, workloads, [&](const std::string&, const Json& value) { look(value); });
  history.each_job(worker, [&](const apiserver::StoredPtr& job) { look(job->value()); });
}

/// How long a manager may not know that its server went back.
constexpr Duration unaware = 2s;

class QuotaKept final : public Invariant {
 public:
  using Invariant::Invariant;

  void changed(const Changed& c) override {
    if (c.kind != Resource::workloads) return;
    if (!expected_.lying.contains(c.cluster)) count(c);
    note_eviction(c);
    if (c.previous && c.type != apiserver::ChangeType::deleted) given_back(c);
  }

  void stepped() override {
    for (const std::string& cluster : moved_) judge(cluster);
    moved_.clear();
    std::erase_if(evicted_, [&](const auto& entry) {
      return !comes_back(entry.first.first, entry.first.second, entry.second);
    });
  }

 private:
  /// How many pods of a pod set need nothing any more, because they have ended.
  static std::int64_t reclaimed(const Json& value, const Json& set) {
    for (const Json& pods : at_or_null(at_or_null(value, "status"), "reclaimablePods")) {
      if (at_or_null(pods, "name") == at_or_null(set, "name")) return pods.value("count", 0);
    }
    return 0;
  }

  /// How many pods the Workload asks for.
  static std::int64_t wanted(const Json& value, const Json& set) {
    for (const Json& pods : at_or_null(at_or_null(value, "spec"), "podSets")) {
      if (at_or_null(pods, "name") == at_or_null(set, "name")) return pods.value("count", 1);
    }
    return 0;
  }

  /// What that Workload reserves; in amounts as they are counted.
  std::int64_t reserved_by(const std::string& cluster, const Json& value) {
    std::int64_t used = 0;
    if (!condition_true(value, "QuotaReserved") || condition_true(value, "Finished")) return 0;
    const Json& admission = at_or_null(at_or_null(value, "status"), "admission");
    for (const Json& set : at_or_null(admission, "podSetAssignments")) {
      for (const auto& [resource, amount] : at_or_null(set, "resourceUsage").items()) {
        const auto parsed = api::Quantity::parse(amount.get<std::string>());
        const std::int64_t one = parsed ? api::resource_amount(resource, *parsed) : -1;
        if (one < 0) history_.violated(cluster + " reserves " + dump_json(amount));
        const std::int64_t pods = std::max<std::int64_t>(set.value("count", 1), 1);
        // Of a Job that has shrunk the admission still says what it was.
        const std::int64_t now = std::min(pods, wanted(value, set));
        used += one / pods * std::max<std::int64_t>(now - reclaimed(value, set), 0);
      }
    }
    return used;
  }

  /// Sums only what changed: there may be a hundred thousand Workloads. A store that went back
  /// tells no changes; judge() counts all of it.
  void count(const Changed& c) {
    moved_.insert(c.cluster);
    const std::string key = apiserver::store_key(c.object->ns(), c.object->name());
    const bool gone = c.type == apiserver::ChangeType::deleted;
    reserve(c.cluster, key, record_of(c.cluster, key, c.object->value()),
            gone ? 0 : reserved_by(c.cluster, c.object->value()));
  }

  /// A worker has copies of a hub's Workloads.
  std::string record_of(const std::string& cluster, const std::string& key,
                        const Json& value) const {
    const auto& hubs = history_.hubs();
    const bool hub = std::find(hubs.begin(), hubs.end(), cluster) != hubs.end();
    return history_.record_of(hub ? cluster : history_.creator(uid_of(value)), key);
  }

  /// Of the sizes of an elastic Job the largest one counts: it has the quota of the others.
  void reserve(const std::string& cluster, const std::string& key, const std::string& record,
               std::int64_t amount) {
    const auto most = [](const std::map<std::string, std::int64_t>& all) {
      std::int64_t out = 0;
      for (const auto& [name, one] : all) out = std::max(out, one);
      return out;
    };
    auto& sizes = reserved_[{cluster, record}];
    const std::int64_t before = most(sizes);
    if (amount == 0) {
      sizes.erase(key);
    } else {
      sizes[key] = amount;
    }
    used_[cluster] += most(sizes) - before;
    if (sizes.empty()) reserved_.erase({cluster, record});
  }

  void count_all(const std::string& cluster) {
    std::erase_if(reserved_, [&](const auto& entry) { return entry.first.first == cluster; });
    used_[cluster] = 0;
    each(history_, cluster, workloads, [&](const std::string& key, const Json& value) {
      const std::int64_t one = reserved_by(cluster, value);
      if (one != 0) reserve(cluster, key, record_of(cluster, key, value), one);
    });
  }

  /// Which Workloads hold quota there, and how much.
  std::string holders(const std::string& cluster) const {
    std::string all;
    for (const auto& [owner, sizes] : reserved_) {
      if (owner.first != cluster) continue;
      for (const auto& [key, amount] : sizes) all += " " + key + "=" + std::to_string(amount);
    }
    return all;
  }

  /// Reserved quota never exceeds the nominal quota, and is never below zero.
  void judge(const std::string& cluster) {
    const SteadyPoint last = std::exchange(judged_[cluster], history_.now());
    if (history_.restored_within(cluster, history_.now() - last)) count_all(cluster);
    const std::int64_t used = used_[cluster];
    const std::int64_t most = api::resource_amount(
        "cpu", api::Quantity::parse(std::to_string(expected_.cpus.at(cluster))).value());
    // A manager that has not seen yet that its server went back may give quota away twice. From
    // then on it only takes back.
    const auto before = exceeded_.find(cluster);
    const bool known = before != exceeded_.end() && used <= before->second;
    if (used <= most) {
      exceeded_.erase(cluster);
    } else if (known || history_.restored_within(cluster, unaware)) {
      exceeded_[cluster] = used;
    } else {
      history_.violated(cluster + " reserves " + std::to_string(used) + " of " +
                        std::to_string(most) + ":" + holders(cluster));
    }
  }

  /// The quota of a Workload is free only when its Job runs on no worker that the hub can see, and
  /// of which it could take note.
  void given_back(const Changed& c) {
    const auto& hubs = history_.hubs();
    if (std::find(hubs.begin(), hubs.end(), c.cluster) == hubs.end()) return;
    if (!condition_true(c.previous->value(), "QuotaReserved")) return;
    if (condition_true(c.object->value(), "QuotaReserved")) return;
    const std::string key = apiserver::store_key(c.object->ns(), c.object->name());
    const Record* record = history_.record(c.cluster, key);
    if (!record || reserved_.contains({c.cluster, history_.record_of(c.cluster, key)})) return;
    for (const Run& run : record->runs) {
      // The pods of a Job that was stopped run until they have ended.
      const bool over = run.end == Run::End::ended || run.end == Run::End::removed;
      // Of a Job that runs again, its pods are of the later run.
      const bool again = std::any_of(
          record->runs.begin(), record->runs.end(),
          [&](const Run& other) { return other.uid == run.uid && other.began > run.began; });
      if (over || again || expected_.lying.contains(run.worker) || !runs_pods(run)) continue;
      // What was seen through a second name, the first one may not have been told.
      const auto sound = record->by_second_name ? history_.hears_since(c.cluster, run.worker)
                                                : history_.sound_since(c.cluster, run.worker);
      // A standby whose watches were dead learns of it when it leads.
      const SteadyPoint known = std::max(run.began, history_.leads_since(c.author));
      // That the Job runs is what its status on the hub says, and must say when it can be written.
      const auto told = history_.sound_since(c.cluster, c.cluster);
      const bool says = says_active(c.cluster, *record) || (told && *told < run.recorded);
      const bool seen = sound && *sound < run.recorded && says && known + 2s < c.at;
      if (seen) {
        history_.violated("the quota of " + key + " is given back while it runs on " + run.worker);
      }
    }
  }

  /// Which Workloads of hubs are evicted and still hold quota.
  void note_eviction(const Changed& c) {
    const auto& hubs = history_.hubs();
    if (std::find(hubs.begin(), hubs.end(), c.cluster) == hubs.end()) return;
    const Json& value = c.object->value();
    const std::pair of(c.cluster, apiserver::store_key(c.object->ns(), c.object->name()));
    const bool holds = c.type != apiserver::ChangeType::deleted &&
                       condition_true(value, "Evicted") && condition_true(value, "QuotaReserved") &&
                       !condition_true(value, "Finished");
    if (holds) {
      evicted_.try_emplace(of, c.at);
    } else {
      evicted_.erase(of);
    }
  }

  /// Its quota is free once no worker that was recorded for it runs it any more, whatever another
  /// one says.
  bool comes_back(const std::string& hub, const std::string& key, SteadyPoint evicted) {
    const Duration most = expected_.worker_lost_timeout + 15s;
    const SteadyPoint from = history_.now() - most;
    const Record* record = history_.record(hub, key);
    if (!record || evicted > from || !at_peace(hub, hub, from)) return true;
    for (const std::string& worker : history_.workers()) {
      const bool lies = expected_.lying.contains(worker);
      if (lies ? record->ever.contains(worker) : !at_peace(hub, worker, from)) return true;
    }
    for (const Run& run : record->runs) {
      if (run.end == Run::End::none || run.over > from) return true;
    }
    history_.violated("the quota of " + key + " does not come back");
    return false;
  }

  /// Both ends are at work, and hear each other and themselves, since then.
  bool at_peace(const std::string& hub, const std::string& cluster, SteadyPoint since) const {
    const auto at_work = history_.at_work_since(cluster);
    const auto heard = history_.hears_since(hub, cluster);
    const auto own = history_.hears_since(cluster, cluster);
    return at_work && *at_work <= since && heard && *heard <= since && own && *own <= since &&
           !history_.restored_within(cluster, 1h);
  }

  /// By the worker's own count. A Job that was scaled to none is unsuspended and runs nothing.
  bool runs_pods(const Run& run) const {
    bool pods = false;
    history_.each_job(run.worker, [&](const apiserver::StoredPtr& job) {
      if (uid_of(job->value()) == run.uid) pods = has_pods(job->value());
    });
    return pods;
  }

  /// The hub's Job counts running pods.
  bool says_active(const std::string& hub, const Record& record) const {
    bool active = false;
    history_.each_job(hub, [&](const apiserver::StoredPtr& job) {
      if (uid_of(job->value()) == record.job_uid) active = has_pods(job->value());
    });
    return active;
  }

  std::map<std::pair<std::string, std::string>, SteadyPoint> evicted_;  ///< by hub and key
  std::set<std::string> moved_;
  /// What the sizes of each record reserve, by cluster and record.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::int64_t>> reserved_;
  std::map<std::string, std::int64_t> used_;
  std::map<std::string, SteadyPoint> judged_;     ///< when last
  std::map<std::string, std::int64_t> exceeded_;  ///< by how much is reserved, for that reason
};

class CleanEnd final : public Invariant {
 public:
  using Invariant::Invariant;

  /// A job that is removed after its end is not there at rest.
  void changed(const Changed& c) override {
    const auto& hubs = history_.hubs();
    if (c.kind != Resource::jobs || c.type != apiserver::ChangeType::deleted) return;
    if (std::find(hubs.begin(), hubs.end(), c.cluster) == hubs.end()) return;
    if (!outcome_of(c.object->value()).empty()) check_job(c.cluster, c.object->value());
  }

  /// Each Job ends within a time that follows from the configuration.
  void at_bound() override {
    if (every_job_ended(history_)) return;
    for (const std::string& hub : history_.hubs()) check_hub(hub);
  }

  /// Everything has ended, so no queue may count a waiting workload or reserved quota, and workers
  /// hold nothing.
  void at_rest() override {
    for (const std::string& hub : history_.hubs()) {
      const std::string left = counted(history_, hub);
      if (!left.empty()) history_.violated(hub + ": " + left);
      check_hub(hub);
    }
    for (const std::string& worker : history_.workers()) {
      if (expected_.lying.contains(worker)) {
        each_left_by_liar(history_, expected_, worker, [&](const Json& value) {
          history_.violated(title_of(value) + " is left on " + worker + ":" + summary(value));
        });
        continue;
      }
      const std::string left = counted(history_, worker);
      if (!left.empty()) history_.violated(worker + ": " + left);
      each(history_, worker, workloads,
           [&](const std::string&, const Json& value) { left_on(worker, value); });
      history_.each_job(worker,
                        [&](const apiserver::StoredPtr& job) { left_on(worker, job->value()); });
    }
  }

 private:
  void left_on(const std::string& worker, const Json& value) {
    if (history_.creator(uid_of(value)).empty()) return;
    history_.violated(title_of(value) + " is left on " + worker + ":" + summary(value));
  }

  void check_hub(const std::string& hub) {
    history_.each_job(hub, [&](const apiserver::StoredPtr& job) { check_job(hub, job->value()); });
    each(history_, hub, workloads, [&](const std::string& key, const Json& value) {
      if (!condition_true(value, "Finished")) {
        history_.violated("workload " + key + " never ended:" + summary(value));
        return;
      }
      const std::string outcome = outcome_of_owner(hub, value);
      const std::string reason = condition_reason(value, "Finished");
      const bool differs = (reason == "Succeeded" && outcome == "Failed") ||
                           (reason == "Failed" && outcome == "Complete");
      if (differs) {
        history_.violated("workload " + key + " is Finished: " + reason + ", its job " + outcome);
      }
    });
  }

  /// Empty when there is no such job.
  std::string outcome_of_owner(const std::string& hub, const Json& workload) const {
    std::string outcome;
    history_.each_job(hub, [&](const apiserver::StoredPtr& job) {
      if (uid_of(job->value()) == owner_uid_of(workload)) outcome = outcome_of(job->value());
    });
    return outcome;
  }

  void check_job(const std::string& hub, const Json& job) {
    const std::string title = title_of(job), outcome = outcome_of(job);
    if (outcome.empty()) {
      history_.violated(title + " never ended:" + summary(job));
      return;
    }
    const auto wanted = expected_.outcomes.find(title);
    if (wanted != expected_.outcomes.end() && wanted->second != outcome &&
        !lied_about(hub, title)) {
      history_.violated(title + " is " + outcome + " instead of " + wanted->second);
    }
  }

  /// The Job was recorded on a worker that says anything.
  bool lied_about(const std::string& hub, const std::string& job) const {
    for (const auto& [key, record] : history_.records(hub)) {
      if (record.job != job) continue;
      for (const std::string& worker : record.ever) {
        if (expected_.lying.contains(worker)) return true;
      }
    }
    return false;
  }
};

}  // namespace

bool every_job_ended(const History& history) {
  bool all = true;
  for (const std::string& hub : history.hubs()) {
    history.each_job(hub, [&](const apiserver::StoredPtr& job) {
      all = all && !outcome_of(job->value()).empty();
    });
    if (!all) return false;
    each(history, hub, workloads,
         [&](const auto&, const Json& w) { all = all && condition_true(w, "Finished"); });
  }
  return all;
}

int jobs_ended(const History& history) {
  int count = 0;
  for (const std::string& hub : history.hubs()) {
    history.each_job(
        hub, [&](const apiserver::StoredPtr& job) { count += !outcome_of(job->value()).empty(); });
  }
  return count;
}

bool workers_clean(const History& history, const Expectations& expected) {
  bool clean = true;
  for (const std::string& worker : history.workers()) {
    if (expected.lying.contains(worker)) {
      each_left_by_liar(history, expected, worker, [&](const Json&) { clean = false; });
      continue;
    }
    const auto look = [&](const Json& value) {
      clean = clean && history.creator(uid_of(value)).empty();
    };
    each(history, worker, workloads, [&](const auto&, const Json& value) { look(value); });
    history.each_job(worker, [&](const apiserver::StoredPtr& job) { look(job->value()); });
  }
  return clean;
}

std::string counted(const History& history, const std::string& cluster) {
  std::string left;
  each(history, cluster, queues, [&](const std::string& key, const Json& value) {
    const auto queue = api::from_json<api::ClusterQueue>(value);
    if (!queue) return;
    const api::ClusterQueueStatus& status = queue->status;
    bool used =
        status.pending_workloads + status.reserving_workloads + status.admitted_workloads != 0;
    for (const auto* list : {&status.flavors_reservation, &status.flavors_usage}) {
      for (const auto& flavor : *list) {
        for (const auto& resource : flavor.resources) used = used || !resource.total.is_zero();
      }
    }
    if (used) left = key + " still counts " + dump_json(at_or_null(value, "status"));
  });
  return left;
}

bool queues_empty(const History& history, const Expectations& expected) {
  for (const std::string& hub : history.hubs()) {
    if (!counted(history, hub).empty()) return false;
  }
  return std::all_of(history.workers().begin(), history.workers().end(),
                     [&](const std::string& worker) {
                       return expected.lying.contains(worker) || counted(history, worker).empty();
                     });
}

std::unique_ptr<Invariant> quota_kept(History& history, const Expectations& expected) {
  return std::make_unique<QuotaKept>(history, expected);
}
std::unique_ptr<Invariant> clean_end(History& history, const Expectations& expected) {
  return std::make_unique<CleanEnd>(history, expected);
}

}  // namespace regatta::simtest
