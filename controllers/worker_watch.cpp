#include "controllers/worker_watch.h"

#include "controllers/live_fleet.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regatta::controllers {
namespace {

constexpr Duration judgement_holds = std::chrono::seconds(1);

/// The Workloads of the hub that such a job may run for.
std::vector<api::ObjectKey> workloads_of(const jobs::GenericJob& job) {
  std::vector<api::ObjectKey> keys;
  for (std::string& name : jobs::workloads_of_copy(job)) {
    keys.emplace_back(job.metadata().ns, std::move(name));
  }
  return keys;
}

clusters::Notice other_hub_notice(const std::string& origin, const std::string& hub) {
  return {std::string(api::reasons::other_hub),
          "Another hub uses the origin \"" + origin +
              "\" on this worker. Its objects are left alone. Give each hub an origin of its own; "
              "if this hub takes over from the other one, annotate this MultiKueueCluster with " +
              std::string(api::annotations::adopt_hub) + "=" + hub};
}

clusters::Notice other_name_notice(const std::string& name) {
  return {std::string(api::reasons::other_name),
          "This worker has objects that this hub made through the MultiKueueCluster \"" + name +
              "\": both lead to the same cluster. They are left to that name. Delete one of the "
              "two MultiKueueClusters, best the one without running workloads"};
}

bool vanished(const clusters::LocalCluster& hub, const api::ObjectKey& workload) {
  return !hub.workloads.get(workload) && !hub.workloads.unreadable(workload) &&
         hub.workloads.absence(workload) != kube::Absence::deleted;
}

}  // namespace

bool record_lost(const clusters::LocalCluster& hub, const jobs::GenericJob& job,
                 const api::ObjectKey& key) {
  const auto workload = hub.workloads.get(key);
  if (!workload || !dispatch::never_sent(*workload)) return false;
  const auto& owners = workload->metadata.owner_references;
  const std::string& made_for =
      job.metadata().annotation(std::string(api::annotations::multikueue_origin_uid));
  return std::any_of(owners.begin(), owners.end(),
                     [&](const api::OwnerReference& one) { return one.uid == made_for; });
}

dispatch::RunningThere WorkerWatch::count(const clusters::RemoteCluster& worker) const {
  const HubIdentity identity(hub_, worker);
  std::set<api::ObjectKey> running, lost;
  for (const auto& copy : worker.workloads.list()) {
    const auto& conditions = copy->status.conditions;
    const bool runs = api::is_true(conditions, api::conditions::admitted) &&
                      !api::is_true(conditions, api::conditions::finished);
    if (runs && identity.may_own(*copy)) running.insert(copy->metadata.key());
  }
  for (const jobs::JobPtr& job : worker.jobs.list()) {
    if (job->finished() || !identity.may_own(*job)) continue;
    std::vector<api::ObjectKey> keys = workloads_of(*job);
    // Of a job that has several, copies say which of them run.
    if (keys.size() > 1) {
      std::erase_if(keys, [&](const api::ObjectKey& key) { return !running.contains(key); });
    }
    for (const api::ObjectKey& key : keys) {
      running.insert(key);
      if (record_lost(hub_, *job, key)) lost.insert(key);
    }
  }
  dispatch::RunningThere there;
  there.all = running.size();
  for (const api::ObjectKey& key : running) {
    there.vanished += vanished(hub_, key) || lost.contains(key) ? 1 : 0;
  }
  return there;
}

bool WorkerWatch::holds_removals(const std::string& cluster) {
  const auto known = judged_.find(cluster);
  const SteadyPoint now = hub_.clock.steady();
  if (known != judged_.end() && now < known->second.until) return known->second.holds;
  const auto* member = fleet_.find(cluster);
  if (!member || !member->ready()) return false;
  const bool holds = judge(cluster, *member->remote, false);
  judged_[cluster] = {now + judgement_holds, holds};
  return holds;
}

bool WorkerWatch::judge(const std::string& cluster, const clusters::RemoteCluster& worker,
                        bool refresh) {
  const dispatch::RunningThere there = count(worker);
  const auto object = hub_.multikueue_clusters.get(api::ObjectKey(cluster));
  std::optional<std::size_t> allowed;
  if (object) {
    const std::string name(api::annotations::remove_vanished);
    allowed = dispatch::allowed_removals(object->metadata.annotation(name));
  }
  const bool held = fleet_.told(cluster, api::conditions::removals_held);
  const bool holds = dispatch::holds_removals(there, config_, allowed, held);
  // The count in the message changes with each Job that ends; it is written from time to time.
  if (!refresh && holds == held) return holds;
  std::optional<clusters::Notice> notice;
  if (holds) notice = {std::string(api::reasons::vanished_on_hub), dispatch::held_message(there)};
  fleet_.tell(cluster, api::conditions::removals_held, std::move(notice));
  return holds;
}

void WorkerWatch::look_for_others(const std::string& cluster,
                                  const clusters::RemoteCluster& worker) {
  const HubIdentity identity(hub_, worker);
  std::string other_hub, other_name;
  const auto see = [&](Owner owner) {
    if (owner.whose == Ownership::other_hub) other_hub = std::move(owner.name);
    if (owner.whose == Ownership::other_name) other_name = std::move(owner.name);
  };
  for (const auto& copy : worker.workloads.list()) see(identity.owner_of(*copy));
  for (const jobs::JobPtr& job : worker.jobs.list()) see(identity.owner_of(*job));
  std::optional<clusters::Notice> hub, name;
  if (!other_hub.empty()) hub = other_hub_notice(origin_, other_hub);
  if (!other_name.empty()) name = other_name_notice(other_name);
  fleet_.tell(cluster, api::conditions::origin_shared, std::move(hub));
  fleet_.tell(cluster, api::conditions::same_cluster, std::move(name));
}

void WorkerWatch::look(const std::string& cluster) {
  const auto* member = fleet_.find(cluster);
  if (!member || !member->ready()) return;
  look_for_others(cluster, *member->remote);
  judged_[cluster] = {hub_.clock.steady() + judgement_holds, judge(cluster, *member->remote, true)};
}

}  // namespace regatta::controllers
