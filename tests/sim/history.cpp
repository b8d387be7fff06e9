#include "tests/sim/history.h"

#include "lib/base/json_access.h"
#include "tests/sim/network.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;
using apiserver::ChangeType;

constexpr std::size_t violations_max = 20;
/// Backoffs after a loss end within this time, so that shorter recoveries may pass unnoticed.
constexpr Duration recovery = 30s;
/// A watch that fell silent is dead after three minutes, and then the objects are listed.
constexpr Duration silence = 4min;
/// So late a manager may learn what the operator changed, and may have chosen a worker meanwhile.
constexpr Duration belated = 5s;

Resource meaning_of(const std::string& resource) {
  if (resource == workloads) return Resource::workloads;
  if (is_shelf_of_jobs(resource)) return Resource::jobs;
  if (resource == "leases.coordination.k8s.io") return Resource::leases;
  return Resource::other;
}

std::string key_of(const apiserver::Stored& object) {
  return apiserver::store_key(object.ns(), object.name());
}

bool became(const Changed& c, const char* condition) {
  return condition_true(c.object->value(), condition) &&
         !(c.previous && condition_true(c.previous->value(), condition));
}

/// The object is going away, since this change.
bool removed(const Changed& c) {
  if (c.type == ChangeType::deleted) return !being_deleted(c.previous->value());
  return being_deleted(c.object->value()) && !(c.previous && being_deleted(c.previous->value()));
}

const Json& spec_of(const apiserver::Stored& object) {
  return at_or_null(object.value(), "spec");
}

/// The only selector in these worlds is that of fleets which are too large to be named: it selects
/// every MultiKueueCluster.
bool lists(const Json& config, const std::string& cluster) {
  const Json& annotations = at_or_null(at_or_null(config, "metadata"), "annotations");
  if (!at_or_null(annotations, select_clusters).empty()) return true;
  for (const Json& name : at_or_null(at_or_null(config, "spec"), "clusters")) {
    if (name == cluster) return true;
  }
  return false;
}

/// A check of another controller took back what it had granted, or refuses.
bool refused_by_other_check(const Json& workload) {
  for (const Json& check : at_or_null(at_or_null(workload, "status"), "admissionChecks")) {
    const std::string state = text_at(check, "state");
    if (!sends_to_workers(text_at(check, "name")) && (state == "Retry" || state == "Rejected")) {
      return true;
    }
  }
  return false;
}

/// The MultiKueueCluster of that worker; null when there is none.
apiserver::StoredPtr member_of(apiserver::Store& hub, const std::string& worker) {
  const apiserver::Shelf* members = hub.find_shelf("multikueueclusters.kueue.x-k8s.io");
  return members ? members->find("", worker) : nullptr;
}

}  // namespace

std::string Author::text() const {
  switch (role) {
    case Role::user:
      return "user";
    case Role::machinery:
      return "machinery";
    case Role::manager:
    case Role::dispatcher:
      return identity;
  }
  return "";
}

History::History(sim::World& world, bool keep_text) : world_(world), keep_text_(keep_text) {}

void History::follow(const std::string& cluster, apiserver::Store& store, bool hub) {
  (hub ? hubs_ : workers_).push_back(cluster);
  if (hub) records_[cluster];
  stores_[cluster] = &store;
  store.on_change = [this, cluster](const apiserver::Shelf& shelf, const apiserver::Change& c) {
    change(cluster, shelf.name(), c);
  };
}

void History::follow_link(const std::string& hub, const std::string& worker,
                          std::shared_ptr<const LinkFaults> faults) {
  links_[{hub, worker}].faults = std::move(faults);
}

void History::end_writes(const Author* author) {
  if (author_ == author) author_ = nullptr;
}

void History::disturbed(const Author& process, const char* how) {
  disturbed_[process.cluster] = now();
  note(process.identity + " " + how);
}

void History::process_started(const Author& process) {
  started_[process.identity] = now();
  disturbed(process, "starts");
  for (auto& [ends, link] : links_) {
    if (ends.first != process.cluster || ends.first == ends.second) continue;
    const auto member = member_of(*stores_.at(ends.first), ends.second);
    link.hidden = link.hidden || (member && is_newer(member->value()));
  }
}

void History::process_leads(const Author& process) {
  leader_[process.cluster] = process.identity;
  leads_[process.identity] = now();
  disturbed(process, "leads");
}

void History::process_leads_no_longer(const Author& process) {
  const auto found = leader_.find(process.cluster);
  if (found != leader_.end() && found->second == process.identity) leader_.erase(found);
  disturbed(process, "leads no longer");
}

void History::process_ended(const Author& process) {
  process_leads_no_longer(process);
  ended_.insert(process.identity);
  disturbed(process, "ends");
}

void History::process_paused(const Author& process) {
  paused_.insert(process.identity);
  disturbed(process, "is paused");
}

void History::process_resumed(const Author& process) {
  paused_.erase(process.identity);
  disturbed(process, "goes on");
}

void History::becomes_unreadable(const std::string& cluster, const api::ObjectKey& key) {
  ++unreadable_[cluster];
  ++unreadable_of_[key.str()];
  disturbed_[cluster] = now();
  note(cluster + " has an object of a newer version: " + key.str());
}

void History::becomes_readable(const std::string& cluster, const api::ObjectKey& key) {
  --unreadable_[cluster];
  --unreadable_of_[key.str()];
  disturbed_[cluster] = unreadable_until_[key.str()] = now();
  note(cluster + " has one object less that is of a newer version: " + key.str());
}

std::optional<SteadyPoint> History::unreadable_until(const std::string& hub,
                                                     const std::string& record) const {
  std::optional<SteadyPoint> last;
  for (const auto& [key, until] : unreadable_until_) {
    if (record_of(hub, key) == record) last = std::max(last.value_or(until), until);
  }
  for (const auto& [key, some] : unreadable_of_) {
    if (some > 0 && record_of(hub, key) == record) return now();
  }
  return last;
}

void History::note(const std::string& what) {
  if (keep_text_) text_ += format_rfc3339_micro(world_.now()).substr(11, 12) + " " + what + "\n";
}

void History::excuse(const std::string& hub, const std::string& what, const std::string& cluster) {
  excuses_[hub].push_back({now(), what, cluster});
  note(hub + ": " + what + " " + cluster);
}

void History::refuse(const std::string& hub, const std::string& worker, const std::string& token) {
  refused_[{hub, worker}].insert(token);
  configuration_changed_ = true;
  note(worker + " refuses " + token + " of " + hub);
}

bool History::refuses(const std::string& hub, const std::string& worker,
                      const std::string& token) const {
  const auto found = refused_.find({hub, worker});
  return found != refused_.end() && found->second.contains(token);
}

void History::is_late(const std::string& cluster, const std::string& target) {
  late_[cluster].insert(target);
}

void History::is_there(const std::string& cluster, const std::string& target) {
  std::multiset<std::string>& late = late_[cluster];
  late.erase(late.find(target));
}

bool History::awaits_write(const std::string& cluster, const std::string& path) const {
  const auto late = late_.find(cluster);
  if (late == late_.end()) return false;
  return std::any_of(late->second.begin(), late->second.end(), [&](const std::string& target) {
    if (!target.starts_with(path)) return false;
    return target.size() == path.size() || target[path.size()] == '/' || target[path.size()] == '?';
  });
}

void History::went_back(const std::string& cluster) {
  for (const std::string& hub : hubs_) {
    const bool own = hub == cluster;
    excuse(hub, "an older state is restored on", own ? "" : cluster);
    excuses_[hub].back().lasting = true;
  }
  configuration_changed_ = true;
  restored_[cluster] = now();
  const auto own = records_.find(cluster);
  if (own != records_.end()) read_records(cluster, &own->second);
  if (own == records_.end()) read_runs(cluster);
}

/// Runs on a worker that went back are over, or go on from an earlier point.
void History::read_runs(const std::string& worker) {
  std::map<std::string, apiserver::StoredPtr> running;
  each_job(worker, [&](const apiserver::StoredPtr& job) {
    const Json& value = job->value();
    const bool runs = !suspended(value) && outcome_of(value).empty();
    if (runs && !creator(uid_of(value)).empty()) running[uid_of(value)] = job;
  });
  std::erase_if(open_, [&](const auto& entry) {
    Run& run = records_.at(entry.second.hub).at(entry.second.workload).runs[entry.second.index];
    if (run.worker != worker || running.contains(run.uid)) return false;
    run.end = Run::End::removed;
    run.over = now();
    return true;
  });
  for (const auto& [uid, job] : running) {
    if (open_.contains(uid)) continue;
    Changed c;
    c.cluster = worker;
    c.object = job.get();
    begin_run(c, creator(uid), job->ns() + "/" + prebuilt_of(job->value()));
  }
}

/// A larger size of that one has a place of its own. What is written for this one came late.
bool History::has_moved_on(const std::string& hub, const std::string& workload) const {
  if (!first_.contains({hub, workload})) return false;
  const auto& all = stores_.at(hub)->find_shelf(workloads)->objects();
  return std::any_of(all.begin(), all.end(), [&](const auto& entry) {
    const Json& other = entry.second->value();
    const Json& annotations = at_or_null(at_or_null(other, "metadata"), "annotations");
    return text_at(annotations, "kueue.x-k8s.io/workload-slice-replacement-for") == workload &&
           !cluster_name_of(other).empty();
  });
}

/// What a hub that went back has recorded now.
void History::read_records(const std::string& hub, std::map<std::string, Record>* records) {
  const apiserver::Shelf* present = stores_.at(hub)->find_shelf(workloads);
  for (auto& [key, record] : *records) {
    auto found = present->objects().find(record.latest);
    if (found == present->objects().end()) found = present->objects().find(key);
    if (found == present->objects().end()) continue;
    const std::string name = cluster_name_of(found->second->value());
    if (name.empty() || name == record.cluster) continue;
    record.previous = std::exchange(record.cluster, name);
    record.since = now();
  }
}

void History::violated(const std::string& what) {
  if (violations_.size() >= violations_max) return;
  violations_.push_back(format_rfc3339_micro(world_.now()) + " " + what);
  if (keep_text_) text_ += "!!! " + violations_.back() + "\n";
}

/// Which workers the hubs can reach, as far as the hubs' objects say it.
void History::read_configuration() {
  for (auto& [ends, link] : links_) {
    if (ends.first == ends.second) continue;
    apiserver::Store& hub = *stores_.at(ends.first);
    const apiserver::StoredPtr member = member_of(hub, ends.second);
    if (link.hidden && !(member && is_newer(member->value()))) {
      link.hidden = false;
      link.hidden_until = now();
    }
    const auto secret =
        hub.find_shelf("secrets")->find("kueue-system", ends.second + "-kubeconfig");
    const apiserver::Shelf* configs = hub.find_shelf("multikueueconfigs.kueue.x-k8s.io");
    const auto config = configs ? configs->find("", "all") : nullptr;
    if (!config || lists(config->value(), ends.second)) {
      link.unlisted.reset();
    } else if (!link.unlisted) {
      link.unlisted = now();
    }
    const std::string given =
        secret ? text_at(at_or_null(secret->value(), "data"), "kubeconfig") : std::string();
    if (given != link.kubeconfig) link.given = now();
    link.kubeconfig = given;
    link.configured =
        member && secret && !given.empty() &&
        !(refused_.contains(ends) && refuses(ends.first, ends.second, token_in(secret->value())));
  }
}

bool History::knows_token(const std::string& hub, const std::string& worker) const {
  if (!refused_.contains({hub, worker})) return true;
  const auto hears = hears_since(hub, hub);
  return hears && *hears <= now();
}

void History::look() {
  if (std::exchange(configuration_changed_, false)) read_configuration();
  for (auto& [ends, link] : links_) {
    const bool sound = link.configured && link.faults->sound() &&
                       (ends.first == ends.second || knows_token(ends.first, ends.second));
    if (sound == link.sound) continue;
    if (sound) link.cuts.emplace_back(link.since, now());
    link.sound = sound;
    link.since = now();
    note("link from " + ends.first + " to " + ends.second + (sound ? " is sound" : " is broken"));
  }
}

void History::sent(const Author& author, const std::string& to, const net::HttpRequest& request) {
  if (on_sent) on_sent(Sent{now(), author, to, &request});
}

// --- what a change means ---

void History::change(const std::string& cluster, const std::string& resource,
                     const apiserver::Change& change) {
  Changed c;
  c.at = now();
  c.cluster = cluster;
  c.resource = resource;
  c.kind = meaning_of(resource);
  c.type = change.type;
  c.object = change.object.get();
  c.previous = change.previous.get();
  if (author_) c.author = *author_;
  const bool hub = records_.contains(cluster);
  if (c.kind == Resource::workloads || c.kind == Resource::jobs) write(c);
  if (c.kind == Resource::workloads) hub ? hub_workload(c) : worker_workload(c);
  if (c.kind == Resource::jobs) hub ? hub_job(c) : worker_job(c);
  if (c.kind == Resource::other && hub) hub_configuration(c);
  if (c.resource == "pods" && c.type == ChangeType::added) ++pods_;
  if (on_change) on_change(c);
}

void History::write(const Changed& c) {
  if (!keep_text_) return;
  static const char* const words[] = {"added", "changed", "deleted"};
  note(c.cluster + " " + c.resource.substr(0, c.resource.find('.') - 1) + " " + c.object->name() +
       " " + words[int(c.type)] + " by " + c.author.text() + summary(c.object->value()));
}

void History::fact(const std::string& hub, const std::string& workload, std::string what,
                   std::string cluster) {
  records_.at(hub)[record_of(hub, workload)].facts.push_back(
      {now(), std::move(what), std::move(cluster)});
}

void History::hub_workload(const Changed& c) {
  const std::string name_here = key_of(*c.object);
  const Json& value = c.object->value();
  if (is_elastic(value) && !first_.contains({c.cluster, name_here})) {
    const auto& known = workloads_of_job(c.cluster, owner_uid_of(value));
    first_[{c.cluster, name_here}] = known.empty() ? name_here : *known.begin();
  }
  const std::string key = record_of(c.cluster, name_here);
  Record& record = records_.at(c.cluster)[key];
  if (record.latest.empty()) record.latest = name_here;
  if (const std::string owner = owner_of(value); !owner.empty()) {
    record.job = owner_kind_of(value) + " " + owner;
    if (const std::string uid = owner_uid_of(value); uid != record.job_uid) {
      if (!record.job_uid.empty()) of_job_[{c.cluster, record.job_uid}].erase(key);
      of_job_[{c.cluster, uid}].insert(key);
      record.job_uid = uid;
    }
  }
  const std::string name = cluster_name_of(value);
  const std::string before = c.previous ? cluster_name_of(c.previous->value()) : "";
  if (!name.empty() && name != before && !has_moved_on(c.cluster, name_here)) {
    if (name != record.cluster) record.previous = record.cluster;
    record.cluster = name;
    record.by_second_name = text_at(value.at("status"), "clusterName") != name;
    record.since = now();
    record.latest = name_here;
    record.ever.insert(name);
  }
  const bool another = runs_as_another(c.cluster, name_here);
  if (removed(c) && !another) fact(c.cluster, key, "its Workload is deleted");
  if (became(c, "Evicted")) {
    const std::string reason = condition_reason(value, "Evicted");
    const char* what = another ? "the hub evicts a size of it: " : "the hub evicts it: ";
    if (reason != "AdmissionCheck") fact(c.cluster, key, what + reason);
  }
  if (refused_by_other_check(value)) fact(c.cluster, key, "another check refuses it");
  if (c.author.role == Role::user && c.previous && spec_of(*c.object) != spec_of(*c.previous)) {
    fact(c.cluster, key, "a user edits its Workload");
  }
}

void History::hub_job(const Changed& c) {
  const auto spec = [](const apiserver::Stored& job) {
    Json all = spec_of(job);
    if (is_elastic(job.value())) all.erase("parallelism");
    return all;
  };
  const bool edited =
      c.author.role == Role::user && c.previous && spec(*c.object) != spec(*c.previous);
  const bool relabelled = c.author.role == Role::user && c.previous &&
                          at_or_null(at_or_null(c.object->value(), "metadata"), "labels") !=
                              at_or_null(at_or_null(c.previous->value(), "metadata"), "labels");
  if (!removed(c) && !edited && !relabelled) return;
  for (const std::string& key : workloads_of_job(c.cluster, uid_of(c.object->value()))) {
    fact(c.cluster, key, removed(c) ? "its Job is deleted" : "a user edits its Job");
  }
}

std::set<std::string> History::admitted(const std::string& hub) const {
  std::set<std::string> out;
  for (const auto& [key, workload] : stores_.at(hub)->find_shelf(workloads)->objects()) {
    const Json& value = workload->value();
    if (condition_true(value, "Admitted") && !condition_true(value, "Evicted")) {
      out.insert(record_of(hub, key));
    }
  }
  return out;
}

void History::hub_configuration(const Changed& c) {
  configuration_changed_ = true;
  const bool config = c.resource == "multikueueconfigs.kueue.x-k8s.io";
  if (config && keep_text_) {
    note(c.cluster + " lists " + (removed(c) ? "nothing" : dump_json(spec_of(*c.object))));
  }
  if (c.author.role != Role::user) return;
  if (config) {
    for (const std::string& worker : workers_) {
      const auto was = [&](const std::string& name) {
        return c.previous && lists(c.previous->value(), name);
      };
      const std::string second = second_name_of(worker);
      // A config that is gone says nothing about the worker that runs a Job.
      if (removed(c)) continue;
      const bool gone = (!c.previous || was(worker)) && !lists(c.object->value(), worker);
      const bool second_gone = was(second) && !lists(c.object->value(), second);
      if (gone || second_gone) excuse(c.cluster, "no longer listed:", worker);
    }
  }
  if (!c.previous) return;
  if (c.resource == "multikueueclusters.kueue.x-k8s.io" && removed(c)) {
    excuse(c.cluster, "MultiKueueCluster deleted:", worker_of(c.object->name()));
  }
  if (c.resource == "secrets" && !c.object->value().contains("data")) {
    const std::string name = c.object->name();
    excuse(c.cluster, "no kubeconfig:", name.substr(0, name.rfind("-kubeconfig")));
  }
  if (c.resource == "clusterqueues.kueue.x-k8s.io" &&
      at_or_null(spec_of(*c.object), "admissionChecksStrategy") !=
          at_or_null(spec_of(*c.previous), "admissionChecksStrategy")) {
    excuse(c.cluster, "checks of the queue changed");
    excuses_[c.cluster].back().spares = admitted(c.cluster);
  }
}

void History::worker_workload(const Changed& c) {
  const std::string uid = uid_of(c.object->value());
  if (c.type == ChangeType::added && c.author.role == Role::dispatcher) {
    creators_[uid] = c.author.cluster;
  }
  const std::string hub = creator(uid);
  if (hub.empty()) return;
  const std::string key = key_of(*c.object);
  const Json& value = c.object->value();
  const bool asked = condition_reason(value, "DeactivationTarget") == "EvictedOnManagerCluster";
  if (became(c, "Evicted") && !asked) {
    fact(hub, key, "the worker evicts it: " + condition_reason(value, "Evicted"), c.cluster);
  }
  const bool lost_admission = c.previous && condition_true(c.previous->value(), "Admitted") &&
                              !condition_true(value, "Admitted");
  if (lost_admission && !asked && c.author.role != Role::dispatcher) {
    fact(hub, key, "the worker takes the admission back", c.cluster);
  }
  const bool own = c.author.role == Role::dispatcher || c.author.role == Role::manager;
  if (removed(c) && !own) fact(hub, key, "its copy is deleted on the worker", c.cluster);
  const bool edited = c.previous && c.author.role == Role::user;
  if (edited && is_newer(value) == is_newer(c.previous->value())) {
    fact(hub, key, "a user edits its copy", c.cluster);
  }
}

void History::worker_job(const Changed& c) {
  const Json& value = c.object->value();
  const std::string uid = uid_of(value);
  if (c.type == ChangeType::added && c.author.role == Role::dispatcher) {
    creators_[uid] = c.author.cluster;
    created_[uid] = now();
    const auto leader = leader_.find(c.author.cluster);
    const bool leads = leader != leader_.end() && leader->second == c.author.identity;
    if (!leads) created_late_.insert(uid);
  }
  const std::string hub = creator(uid);
  if (hub.empty()) return;
  const std::string workload = c.object->ns() + "/" + prebuilt_of(value);
  if (c.author.role == Role::user && c.previous) {
    fact(hub, workload, "a user touches its Job on the worker", c.cluster);
  }
  const bool ran = open_.contains(uid);
  if (!ran && !suspended(value) && outcome_of(value).empty() && c.type != ChangeType::deleted) {
    begin_run(c, hub, workload);
    return;
  }
  if (!ran) return;
  if (const std::string outcome = outcome_of(value); !outcome.empty()) {
    end_run(uid, Run::End::ended, outcome);
  } else if (removed(c) || c.type == ChangeType::deleted) {
    end_run(uid, Run::End::removed, "");
  } else if (suspended(value)) {
    end_run(uid, Run::End::stopped, "");
  }
}

bool History::runs_as_another(const std::string& hub, const std::string& workload) const {
  if (!first_.contains({hub, workload})) return false;
  for (const auto& [uid, run] : open_) {
    if (run.hub != hub || run.workload != record_of(hub, workload)) continue;
    bool another = false;
    each_job(records_.at(hub).at(run.workload).runs[run.index].worker,
             [&, &of = uid](const apiserver::StoredPtr& job) {
               if (uid_of(job->value()) != of) return;
               another = job->ns() + "/" + prebuilt_of(job->value()) != workload;
             });
    if (another) return true;
  }
  return false;
}

void History::begin_run(const Changed& c, const std::string& hub, const std::string& slice) {
  const std::string workload = record_of(hub, slice);
  Record& record = records_.at(hub)[workload];
  Run run;
  run.hub = hub;
  run.workload = workload;
  run.worker = c.cluster;
  run.uid = uid_of(c.object->value());
  run.created = created_[run.uid];
  run.late = created_late_.contains(run.uid);
  run.recorded = record.cluster == c.cluster ? std::min(record.since, run.created) : run.created;
  run.began = now();
  open_[run.uid] = {hub, workload, record.runs.size()};
  record.runs.push_back(std::move(run));
}

void History::end_run(const std::string& uid, Run::End end, const std::string& outcome) {
  const OpenRun open = open_.at(uid);
  open_.erase(uid);
  Run& run = records_.at(open.hub).at(open.workload).runs[open.index];
  run.end = end;
  run.over = now();
  run.outcome = outcome;
  if (on_run_over) on_run_over(run);
}

// --- conclusions ---

const std::string& History::record_of(const std::string& hub, const std::string& workload) const {
  const auto found = first_.find({hub, workload});
  return found == first_.end() ? workload : found->second;
}

const Record* History::record(const std::string& hub, const std::string& workload) const {
  const auto& all = records_.at(hub);
  const auto found = all.find(record_of(hub, workload));
  return found == all.end() ? nullptr : &found->second;
}

const std::map<std::string, Record>& History::records(const std::string& hub) const {
  return records_.at(hub);
}

const std::set<std::string>& History::workloads_of_job(const std::string& hub,
                                                       const std::string& uid) const {
  static const std::set<std::string> none;
  const auto found = of_job_.find({hub, uid});
  return found == of_job_.end() ? none : found->second;
}

std::string History::creator(const std::string& uid) const {
  const auto found = creators_.find(uid);
  return found == creators_.end() ? "" : found->second;
}

std::optional<SteadyPoint> History::sound_since(const std::string& hub,
                                                const std::string& worker) const {
  const auto found = links_.find({hub, worker});
  if (found == links_.end() || !found->second.sound) return std::nullopt;
  return found->second.since;
}

std::optional<SteadyPoint> History::hidden_until(const std::string& hub,
                                                 const std::string& worker) const {
  const auto found = links_.find({hub, worker});
  if (found == links_.end()) return std::nullopt;
  return found->second.hidden ? now() : found->second.hidden_until;
}

std::optional<SteadyPoint> History::hears_since(const std::string& hub,
                                                const std::string& worker) const {
  const auto sound = sound_since(hub, worker);
  if (!sound) return std::nullopt;
  return links_.at({hub, worker}).cuts.empty() ? *sound : *sound + silence;
}

Duration History::cut_off(const std::string& hub, const std::string& worker, SteadyPoint from,
                          SteadyPoint to) const {
  const auto found = links_.find({hub, worker});
  if (found == links_.end()) return Duration(0);
  auto cuts = found->second.cuts;
  if (!found->second.sound) cuts.emplace_back(found->second.since, now());
  Duration longest(0);
  SteadyPoint begin{}, end = SteadyPoint::min();
  for (const auto& [b, e] : cuts) {
    if (end == SteadyPoint::min() || b > end + recovery) begin = b;
    end = e;
    if (begin <= to && end + recovery >= from) longest = std::max(longest, end - begin);
  }
  return longest;
}

SteadyPoint History::started(const Author& process) const {
  const auto found = started_.find(process.identity);
  return found == started_.end() ? SteadyPoint{} : found->second;
}

bool History::was_cut_off(const Author& process) const {
  const auto found = restored_.find(process.cluster);
  return ended_.contains(process.identity) && found != restored_.end() &&
         found->second >= started(process);
}

SteadyPoint History::reaches_since(const Author& process, const std::string& worker) const {
  const SteadyPoint began = started(process);
  const SteadyPoint given = links_.at({process.cluster, worker}).given;
  if (given <= began) return began;
  const auto own = hears_since(process.cluster, process.cluster);
  return own ? std::clamp(*own, given, given + silence) : given + silence;
}

SteadyPoint History::leads_since(const Author& process) const {
  const auto found = leads_.find(process.identity);
  return found == leads_.end() ? started(process) : found->second;
}

std::optional<SteadyPoint> History::at_work_since(const std::string& cluster) const {
  const auto leader = leader_.find(cluster);
  if (leader == leader_.end() || paused_.contains(leader->second)) return std::nullopt;
  const auto unreadable = unreadable_.find(cluster);
  if (unreadable != unreadable_.end() && unreadable->second > 0) return std::nullopt;
  return disturbed_.at(cluster);
}

std::optional<SteadyPoint> History::unlisted_since(const std::string& hub,
                                                   const std::string& worker) const {
  const auto found = links_.find({hub, worker});
  return found == links_.end() ? std::nullopt : found->second.unlisted;
}

bool History::restored_within(const std::string& cluster, Duration span) const {
  const auto found = restored_.find(cluster);
  return found != restored_.end() && now() - found->second <= span;
}

std::string History::reason_to_stop(const Run& run, Duration lost_after, UsedFacts* used) const {
  // A manager that did not know yet that the worker is not listed may have chosen it.
  if (unlisted_since(run.hub, run.worker)) return "its worker is not listed";
  const SteadyPoint end = run.end == Run::End::none ? now() : run.over;
  if (cut_off(run.hub, run.worker, run.recorded, end) >= lost_after) return "its worker is lost";
  // What is written for one size of an elastic Job may not know what has become of another. Nor may
  // it know what has become of the fleet.
  const bool elastic = first_.contains({run.hub, run.workload});
  const auto first_of = [&](const std::deque<Fact>& facts, Duration news) -> const Fact* {
    for (const Fact& fact : facts) {
      const bool here = fact.cluster.empty() || fact.cluster == run.worker;
      if (!here || fact.at + news < run.recorded || fact.at > end) continue;
      if (fact.spares.contains(run.workload)) continue;
      if (!used || fact.lasting || used->emplace(run.workload, &fact).second) return &fact;
    }
    return nullptr;
  };
  if (const Record* all = record(run.hub, run.workload)) {
    const Fact* found = first_of(all->facts, elastic ? belated : Duration(0));
    if (found) return found->what;
  }
  if (const auto all = excuses_.find(run.hub); all != excuses_.end()) {
    if (const Fact* found = first_of(all->second, belated)) return found->what;
  }
  return "";
}

}  // namespace regatta::simtest
