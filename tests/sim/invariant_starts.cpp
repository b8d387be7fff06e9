#include "lib/base/json_access.h"
#include "tests/sim/invariant.h"
#include "tests/sim/network.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

bool sends_job(const Sent& sent) {
  return sent.author.role == Role::dispatcher && creates_job(*sent.request);
}

class StartLock final : public Invariant {
 public:
  using Invariant::Invariant;

  void changed(const Changed& c) override {
    if (c.kind != Resource::workloads || !c.previous) return;
    const std::string before = cluster_name_of(c.previous->value());
    const std::string after = cluster_name_of(c.object->value());
    if (before.empty() || after.empty() || before == after) return;
    history_.violated("clusterName of " + c.object->name() + " changed from " + before + " to " +
                      after);
  }

  void sent(const Sent& sent) override {
    if (sent.author.role != Role::dispatcher) return;
    if (sent.request->method == "PATCH" &&
        sent.request->target.find("/jobs/") != std::string::npos) {
      const auto patch = parse_json(sent.request->body);
      // A Job that gets a larger size gets the name of the Workload that has it.
      if (patch) checks_are_ready(sent, team, prebuilt_of(*patch));
    }
    if (!sends_job(sent)) return;
    const auto job = parse_json(sent.request->body);
    if (!job) return;
    const std::string name = prebuilt_of(*job);
    const std::string ns = text_at(at_or_null(*job, "metadata"), "namespace");
    const Record* record = history_.record(sent.author.cluster, ns + "/" + name);
    if (!record || (record->cluster != sent.to && !has_place_there(sent, ns, name))) {
      history_.violated("the job of " + name + " is sent to " + sent.to +
                        ", which is not its recorded cluster");
    }
    const auto unlisted = history_.unlisted_since(sent.author.cluster, sent.to);
    const auto known = history_.hears_since(sent.author.cluster, sent.author.cluster);
    if (unlisted && known && *known < *unlisted && *unlisted + 2s < sent.at) {
      history_.violated("the job of " + name + " is sent to " + sent.to + ", which is not listed");
    }
    checks_are_ready(sent, ns, name);
  }

 private:
  /// Of the sizes of an elastic Job each has a place of its own.
  bool has_place_there(const Sent& sent, const std::string& ns, const std::string& name) const {
    const apiserver::Shelf* present = history_.store(sent.author.cluster).find_shelf(workloads);
    const auto workload = present->find(ns, name);
    return workload && is_elastic(workload->value()) &&
           cluster_name_of(workload->value()) == sent.to;
  }
  void checks_are_ready(const Sent& sent, const std::string& ns, const std::string& name) {
    const apiserver::Shelf* present = history_.store(sent.author.cluster).find_shelf(workloads);
    const auto workload = present->find(ns, name);
    if (!workload || cluster_name_of(workload->value()) != sent.to) return;
    // A check that is added later asks nothing of a Workload that is admitted.
    if (condition_true(workload->value(), "Admitted")) return;
    for (const Json& check :
         at_or_null(at_or_null(workload->value(), "status"), "admissionChecks")) {
      if (sends_to_workers(text_at(check, "name")) || text_at(check, "state") != "Pending")
        continue;
      history_.violated("the job of " + name + " is sent to " + sent.to + " before the check " +
                        text_at(check, "name"));
    }
  }
};

/// The moment of the hub's decision counts, because anything may come back while its request
/// travels.
class NoDoubleStart final : public Invariant {
 public:
  using Invariant::Invariant;

  void sent(const Sent& sent) override {
    if (!sends_job(sent)) return;
    const auto job = parse_json(sent.request->body);
    if (!job) return;
    const std::string name = record_of(sent.author.cluster, *job);
    const std::set<std::string>& holders = holders_[name];
    for (const std::string& other : history_.workers()) {
      // A store that goes back tells no changes.
      if (!holders.contains(other) && !history_.restored_within(other, ever)) continue;
      if (other != sent.to && sees_job(sent, other, name)) {
        history_.violated("the job of " + name + " is sent to " + sent.to + " while " + other +
                          " holds one");
      }
    }
  }

  void changed(const Changed& c) override {
    if (c.kind != Resource::jobs) return;
    const std::string uid = uid_of(c.object->value());
    holders_[record_of(history_.creator(uid), c.object->value())].insert(c.cluster);
    if (c.type == apiserver::ChangeType::added) since_[uid] = c.at;
    if (c.type == apiserver::ChangeType::deleted) since_.erase(uid);
  }

 private:
  /// The name of the record of a worker's job, of which that hub is the creator.
  std::string record_of(const std::string& hub, const Json& job) const {
    const std::string ns = text_at(at_or_null(job, "metadata"), "namespace");
    return history_.record_of(hub, ns + "/" + prebuilt_of(job));
  }
  /// That worker holds the Job, and has done so for so long that the sender knows it.
  bool sees_job(const Sent& sent, const std::string& worker, const std::string& name) {
    const auto sound = history_.sound_since(sent.author.cluster, worker);
    if (!sound) return false;
    const SteadyPoint began = history_.reaches_since(sent.author, worker);
    const SteadyPoint seen_since = std::max(*sound, began);
    // A watch that was never disturbed shows the Job at once, and that of a new process soon. A
    // disturbance may have silenced one that is older; it goes on with a new token.
    const bool undisturbed = seen_since < SteadyPoint{} + Duration(1000);
    const bool anew = *sound <= history_.started(sent.author);
    const Duration takes = undisturbed ? Duration(0) : anew ? Duration(10s) : expected_.sees_within;
    SteadyPoint back = seen_since + takes;
    // A hub that went back may have lost the record of a worker that it cannot read now.
    const auto hidden = history_.hidden_until(sent.author.cluster, worker);
    if (hidden && history_.restored_within(sent.author.cluster, ever)) {
      back = std::max(back, *hidden + Duration(10s));
    }
    bool seen = false;
    history_.each_job(worker, [&](const apiserver::StoredPtr& object) {
      const std::string uid = uid_of(object->value());
      if (history_.creator(uid) != sent.author.cluster) return;
      if (record_of(sent.author.cluster, object->value()) != name) return;
      seen = seen || std::max(since_[uid] + Duration(1000), back) < sent.at;
    });
    return seen;
  }

  static constexpr Duration ever = std::chrono::hours(100);

  std::map<std::string, SteadyPoint> since_;
  /// By Workload: the clusters that have, or had, a job of it.
  std::map<std::string, std::set<std::string>> holders_;
};

/// Each cluster's nodes are a pool of their own, so that what one cluster's admission adds to pods
/// is not taken for that of another.
class Placed final : public Invariant {
 public:
  using Invariant::Invariant;

  void changed(const Changed& c) override {
    if (!expected_.pools || c.kind != Resource::jobs) return;
    const Json& job = c.object->value();
    const std::string what = title_of(job) + " on " + c.cluster;
    const bool sent = c.author.role == Role::dispatcher && !c.previous;
    const bool here = c.author.role == Role::manager && c.author.cluster == c.cluster;
    const bool starts = here && c.previous && suspended(c.previous->value()) && !suspended(job);
    if (sent && !node_selectors(job).empty()) {
      history_.violated(what + " is created with nodes " + dump_json(node_selectors(job).front()));
    }
    if (!starts) return;
    const std::vector<Json> wanted(templates_of(job), Json{{"pool", c.cluster}});
    const std::vector<Json> there = node_selectors(job);
    if (there == wanted) return;
    history_.violated(what + " starts with nodes " + dump_json(Json(there)) + " instead of " +
                      dump_json(Json(wanted)));
  }
};

}  // namespace

std::unique_ptr<Invariant> placed(History& history, const Expectations& expected) {
  return std::make_unique<Placed>(history, expected);
}

std::unique_ptr<Invariant> start_lock(History& history, const Expectations& expected) {
  return std::make_unique<StartLock>(history, expected);
}

std::unique_ptr<Invariant> no_double_start(History& history, const Expectations& expected) {
  return std::make_unique<NoDoubleStart>(history, expected);
}

}  // namespace regatta::simtest
