#include "tests/sim/checks.h"

#include "lib/api/codec.h"
#include "lib/api/kueue.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::simtest {
namespace {

const std::string workloads = "workloads.kueue.x-k8s.io";
const std::string jobs = "jobs.batch";
constexpr std::size_t violations_max = 20;

bool condition_true(const Json& object, const char* type) {
  for (const Json& condition : at_or_null(at_or_null(object, "status"), "conditions")) {
    if (text_at(condition, "type") == type) return text_at(condition, "status") == "True";
  }
  return false;
}

bool of_hub(const Json& object) {
  const Json& labels = at_or_null(at_or_null(object, "metadata"), "labels");
  return !text_at(labels, "kueue.x-k8s.io/multikueue-origin").empty();
}

bool deleting(const Json& object) {
  return !text_at(at_or_null(object, "metadata"), "deletionTimestamp").empty();
}

std::string prebuilt(const Json& job) {
  return text_at(at_or_null(at_or_null(job, "metadata"), "annotations"),
                 "kueue.x-k8s.io/prebuilt-workload-name");
}

bool job_ended(const Json& job) {
  return condition_true(job, "Complete") || condition_true(job, "Failed");
}

/// The important parts of an object's state, in a few words.
std::string summary(const Json& object) {
  std::string out;
  for (const Json& condition : at_or_null(at_or_null(object, "status"), "conditions")) {
    if (text_at(condition, "status") != "True") continue;
    out += " " + text_at(condition, "type") + "(" + text_at(condition, "reason") + ")";
  }
  const std::string cluster = text_at(at_or_null(object, "status"), "clusterName");
  if (!cluster.empty()) out += " on " + cluster;
  const Json& nominated = at_or_null(at_or_null(object, "status"), "nominatedClusterNames");
  if (nominated.is_array() && !nominated.empty()) out += " nominated " + dump_json(nominated);
  for (const Json& check : at_or_null(at_or_null(object, "status"), "admissionChecks")) {
    out += " check=" + text_at(check, "state");
  }
  if (at_or_null(at_or_null(object, "spec"), "suspend").is_boolean()) {
    out += at_or_null(at_or_null(object, "spec"), "suspend").get<bool>() ? " suspended"
                                                                         : " unsuspended";
  }
  return out;
}

}  // namespace

Checks::Checks(sim::World& world, SimCluster& hub, std::vector<SimCluster*> workers,
               bool keep_history)
    : world_(world), hub_(hub), workers_(std::move(workers)), keep_history_(keep_history) {
  for (const std::string& shelf : {workloads, jobs}) {
    seen_.push_back({&hub_, shelf});
    for (SimCluster* worker : workers_) seen_.push_back({worker, shelf});
  }
}

void Checks::violated(std::string what) {
  if (violations_.size() >= violations_max) return;
  violations_.push_back(format_rfc3339_micro(world_.now()) + " " + std::move(what));
  if (keep_history_) history_ += "!!! " + violations_.back() + "\n";
}

void Checks::step() {
  for (Seen& seen : seen_) {
    const apiserver::Shelf* shelf = seen.cluster->server().store().find_shelf(seen.shelf);
    if (!shelf || shelf->end_change() == seen.next) continue;
    seen.next = std::max(seen.next, shelf->first_change());
    const bool quota_moves = seen.shelf == workloads;
    for (; seen.next < shelf->end_change(); ++seen.next) {
      change(*seen.cluster, seen.shelf, shelf->change(seen.next));
    }
    if (quota_moves) quota_kept(*seen.cluster);
  }
}

void Checks::record(const SimCluster& cluster, const std::string& shelf,
                    const apiserver::Change& change) {
  if (!keep_history_) return;
  static const char* const words[] = {"added", "changed", "deleted"};
  history_ += format_rfc3339_micro(world_.now()).substr(11, 12) + " " + cluster.name() + " " +
              shelf.substr(0, shelf.find('.') - 1) + " " + change.object->name() + " " +
              words[int(change.type)] + summary(change.object->value()) + "\n";
}

void Checks::change(SimCluster& cluster, const std::string& shelf,
                    const apiserver::Change& change) {
  record(cluster, shelf, change);
  const Json& object = change.object->value();
  if (shelf == jobs && change.type == apiserver::ChangeType::added && &cluster != &hub_ &&
      of_hub(object)) {
    job_created(cluster, object);
  }
  if (shelf == workloads && &cluster == &hub_ && change.previous) {
    cluster_name_kept(change.previous->value(), object);
  }
}

bool Checks::hub_sees(const SimCluster& worker) {
  manager::Core* core = hub_.core();
  if (!core || worker.hub_link->partitioned) return false;
  const auto* member = core->fleet().find(worker.name());
  return member && member->ready();
}

void Checks::requested(const SimCluster& cluster, const net::HttpRequest& request) {
  if (request.target.find("/jobs") == std::string::npos) return;
  if (request.method == "DELETE") return removal_requested(cluster, request.target);
  if (request.method != "POST") return;
  const auto job = parse_json(request.body);
  if (job) job_requested(cluster, *job);
}

/// No Job is created on a cluster while another reachable cluster holds one. The moment of the
/// hub's decision counts, because anything may come back while its request travels.
void Checks::job_requested(const SimCluster& cluster, const Json& job) {
  const std::string name = prebuilt(job);
  for (SimCluster* other : workers_) {
    if (other == &cluster || !hub_sees(*other)) continue;
    const apiserver::Shelf* shelf = other->server().store().find_shelf(jobs);
    if (!shelf) continue;
    for (const auto& [key, object] : shelf->objects()) {
      if (of_hub(object->value()) && prebuilt(object->value()) == name) {
        violated("job of " + name + " requested on " + cluster.name() + " while " + other->name() +
                 " holds one");
      }
    }
  }
}

/// No Job is removed that the hub records there, and that its worker runs. What is true in the
/// stores at the moment of the request counts, not what the hub believes.
void Checks::removal_requested(const SimCluster& cluster, const std::string& target) {
  const std::string path = target.substr(0, target.find('?'));
  const std::string name = path.substr(path.rfind('/') + 1);
  for (SimCluster* worker : workers_) {
    if (worker != &cluster) continue;
    const apiserver::Shelf* shelf = worker->server().store().find_shelf(jobs);
    const apiserver::Shelf* copies = worker->server().store().find_shelf(workloads);
    const apiserver::Shelf* hub_shelf = hub_.server().store().find_shelf(workloads);
    const auto job = shelf ? shelf->find("team", name) : nullptr;
    if (!job || !of_hub(job->value()) || job_ended(job->value())) return;
    const std::string workload = prebuilt(job->value());
    const auto copy = copies ? copies->find("team", workload) : nullptr;
    const auto local = hub_shelf ? hub_shelf->find("team", workload) : nullptr;
    if (!copy || !local) return;
    const Json& there = copy->value();
    const Json& here = local->value();
    const bool runs = condition_true(there, "Admitted") && !condition_true(there, "Finished") &&
                      !condition_true(there, "Evicted") && !deleting(there);
    const bool wanted = condition_true(here, "QuotaReserved") &&
                        !condition_true(here, "Finished") && !condition_true(here, "Evicted") &&
                        !deleting(here) &&
                        text_at(at_or_null(here, "status"), "clusterName") == worker->name();
    const bool retried = summary(here).find("check=Re") != std::string::npos &&
                         summary(here).find("check=Ready") == std::string::npos;
    if (runs && wanted && !retried) {
      violated("job of " + workload + " is removed from " + worker->name() +
               ", which is recorded and runs it");
    }
  }
}

void Checks::job_created(SimCluster& cluster, const Json& job) {
  const std::string name = prebuilt(job);
  const apiserver::Shelf* hub_workloads = hub_.server().store().find_shelf(workloads);
  const std::string ns = text_at(at_or_null(job, "metadata"), "namespace");
  const auto local = hub_workloads ? hub_workloads->find(ns, name) : nullptr;
  if (local && text_at(at_or_null(local->value(), "status"), "clusterName") != cluster.name()) {
    violated("job of " + name + " created on " + cluster.name() +
             ", which is not its recorded cluster");
  }
}

/// clusterName never changes from one cluster to another without being empty in between.
void Checks::cluster_name_kept(const Json& before, const Json& after) {
  const std::string old_name = text_at(at_or_null(before, "status"), "clusterName");
  const std::string new_name = text_at(at_or_null(after, "status"), "clusterName");
  if (!old_name.empty() && !new_name.empty() && old_name != new_name) {
    violated("clusterName changed from " + old_name + " to " + new_name);
  }
}

/// Reserved quota never exceeds the nominal quota, and the queue's status is the sum of the
/// reservations.
void Checks::quota_kept(SimCluster& cluster) {
  const apiserver::Shelf* queues =
      cluster.server().store().find_shelf("clusterqueues.kueue.x-k8s.io");
  const apiserver::Shelf* shelf = cluster.server().store().find_shelf(workloads);
  if (!queues || !shelf) return;
  std::map<std::pair<std::string, std::string>, std::int64_t> used;
  for (const auto& [key, object] : shelf->objects()) {
    const Json& value = object->value();
    if (!condition_true(value, "QuotaReserved") || condition_true(value, "Finished")) continue;
    const Json& admission = at_or_null(at_or_null(value, "status"), "admission");
    for (const Json& set : at_or_null(admission, "podSetAssignments")) {
      for (const auto& [resource, amount] : at_or_null(set, "resourceUsage").items()) {
        used[{text_at(admission, "clusterQueue"), resource}] +=
            api::resource_amount(resource, api::Quantity::parse(amount.get<std::string>()).value());
      }
    }
  }
  for (const auto& [key, object] : queues->objects()) {
    const auto queue = api::from_json<api::ClusterQueue>(object->value());
    if (!queue) continue;
    for (const auto& group : queue->spec.resource_groups) {
      for (const auto& flavor : group.flavors) {
        for (const auto& quota : flavor.resources) {
          const auto amount = api::resource_amount(quota.name, quota.nominal_quota);
          const auto reserved = used[{object->name(), quota.name}];
          if (reserved > amount) {
            violated(cluster.name() + ": " + std::to_string(reserved) + " of " +
                     std::to_string(amount) + " " + quota.name + " reserved");
          }
        }
      }
    }
  }
}

bool Checks::every_job_ended() const {
  const apiserver::Shelf* shelf = hub_.server().store().find_shelf(jobs);
  if (!shelf) return true;
  for (const auto& [key, object] : shelf->objects()) {
    if (!job_ended(object->value())) return false;
  }
  const apiserver::Shelf* all = hub_.server().store().find_shelf(workloads);
  for (const auto& [key, object] : all->objects()) {
    if (!condition_true(object->value(), "Finished")) return false;
  }
  return true;
}

int Checks::jobs_ended() const {
  int count = 0;
  const apiserver::Shelf* shelf = hub_.server().store().find_shelf(jobs);
  if (!shelf) return 0;
  for (const auto& [key, object] : shelf->objects()) count += job_ended(object->value());
  return count;
}

bool Checks::workers_clean() const {
  for (SimCluster* worker : workers_) {
    for (const std::string& name : {workloads, jobs}) {
      const apiserver::Shelf* shelf = worker->server().store().find_shelf(name);
      if (!shelf) continue;
      for (const auto& [key, object] : shelf->objects()) {
        if (of_hub(object->value())) return false;
      }
    }
  }
  return true;
}

/// What the queues of a cluster still count; empty when they count nothing.
std::string Checks::counted(SimCluster& cluster) const {
  const apiserver::Shelf* shelf =
      cluster.server().store().find_shelf("clusterqueues.kueue.x-k8s.io");
  if (!shelf) return "";
  for (const auto& [key, object] : shelf->objects()) {
    const auto queue = api::from_json<api::ClusterQueue>(object->value());
    if (!queue) continue;
    const api::ClusterQueueStatus& status = queue->status;
    bool used =
        status.pending_workloads + status.reserving_workloads + status.admitted_workloads > 0;
    for (const auto* list : {&status.flavors_reservation, &status.flavors_usage}) {
      for (const auto& flavor : *list) {
        for (const auto& resource : flavor.resources) used = used || !resource.total.is_zero();
      }
    }
    if (used) return key + " still counts " + dump_json(at_or_null(object->value(), "status"));
  }
  return "";
}

bool Checks::queues_empty() const {
  if (!counted(hub_).empty()) return false;
  return std::all_of(workers_.begin(), workers_.end(),
                     [this](SimCluster* worker) { return counted(*worker).empty(); });
}

void Checks::at_rest() {
  // Everything has ended, so no queue may count a waiting workload or reserved quota.
  if (const std::string left = counted(hub_); !left.empty()) violated("hub: " + left);
  for (SimCluster* worker : workers_) {
    const std::string left = counted(*worker);
    if (!left.empty()) violated(worker->name() + ": " + left);
  }
  for (const Seen& seen : seen_) {
    const apiserver::Shelf* shelf = seen.cluster->server().store().find_shelf(seen.shelf);
    if (!shelf) continue;
    for (const auto& [key, object] : shelf->objects()) {
      const Json& value = object->value();
      if (seen.cluster == &hub_) {
        const bool ended =
            seen.shelf == jobs ? job_ended(value) : condition_true(value, "Finished");
        if (!ended) violated(seen.shelf + " " + key + " never ended:" + summary(value));
      } else if (of_hub(value)) {
        violated(seen.shelf + " " + key + " is left on " + seen.cluster->name() + ":" +
                 summary(value));
      }
    }
  }
}

}  // namespace regatta::simtest
