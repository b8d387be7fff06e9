#include "controllers/live_fleet.h"

#include "controllers/live_slices.h"
#include "dispatch/parts.h"
#include "jobs/composed_job.h"
#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "lib/api/eviction_record.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regatta::controllers {
namespace {

using dispatch::Certainty;

/// `held`: the cache has the object.
template <class Informer, class Key>
Certainty certainty_of(const Informer& cache, const Key& key, bool held) {
  if (cache.unreadable(key)) return Certainty::unreadable;
  const bool unseen = !held && cache.absence(key) == kube::Absence::unseen;
  return unseen ? Certainty::unconfirmed : Certainty::certain;
}

/// The hub's job has the name that the worker's job has.
Certainty certainty_of_job(const clusters::RemoteCluster& remote, const jobs::JobPtr& hub_job) {
  Certainty worst = Certainty::certain;
  for (const jobs::JobPtr& one : jobs::objects_of(hub_job)) {
    const jobs::JobId id = jobs::id_of(*one);
    const bool held = remote.jobs.get(id) != nullptr;
    worst = dispatch::worse(worst, certainty_of(remote.jobs, id, held));
  }
  return worst;
}

jobs::JobPtr job_among(const std::vector<jobs::JobPtr>& found, const HubIdentity& identity,
                       const jobs::JobPtr& owner) {
  for (const jobs::JobPtr& job : found) {
    const bool named = !owner || jobs::id_of(*job) == jobs::id_of(*owner);
    if (named && identity.may_own(*job)) return job;
  }
  return nullptr;
}

/// The copy of the elastic job that runs under another of its slices, or null.
jobs::JobPtr copy_of_slices(const clusters::RemoteCluster& remote, const HubIdentity& identity,
                            const jobs::JobPtr& owner) {
  if (!owner || !jobs::is_marked_elastic(*owner)) return nullptr;
  const jobs::JobPtr found = remote.jobs.get(jobs::id_of(*owner));
  const bool ours = found && jobs::is_marked_elastic(*found) && identity.may_own(*found) &&
                    !identity.of_another_life(found->metadata(), owner->metadata().uid);
  return ours ? found : nullptr;
}

/// A Workload of the hub, or one that is gone.
struct OnHub {
  api::ObjectKey key;
  std::string index_value;
  jobs::WorkloadPtr workload;
  jobs::JobPtr job;
};

/// For use while `identity` is there.
dispatch::OtherLife other_life(const HubIdentity& identity) {
  return [&identity](const jobs::GenericJob& theirs, const jobs::GenericJob& ours) {
    return identity.of_another_life(theirs.metadata(), ours.metadata().uid);
  };
}

/// How far the deletion of the worker's job is, and whether this manager sent it.
void read_parts(const clusters::RemoteCluster& remote, dispatch::WorkerView* worker) {
  const std::vector<jobs::JobPtr> all = jobs::objects_of(worker->job);
  worker->removing_job = std::all_of(
      all.begin(), all.end(), [&](const jobs::JobPtr& one) { return remote.removing_job(*one); });
  worker->job_read = std::all_of(all.begin(), all.end(),
                                 [&](const jobs::JobPtr& one) { return remote.was_read(*one); });
  worker->job_unmarked = std::all_of(
      all.begin(), all.end(), [](const auto& one) { return hub_mark(one->metadata()).empty(); });
  for (const jobs::JobPtr& one : all) {
    worker->removing_job_for = std::max(worker->removing_job_for, remote.removing_job_for(*one));
    if (!worker->job_removal_asked) worker->job_removal_asked = remote.job_removal_asked(*one);
  }
}

bool unreadable_on(const clusters::RemoteCluster& remote, const OnHub& local) {
  if (remote.workloads.unreadable(local.key)) return true;
  if (!local.job) return false;
  if (!local.job->composed()) return remote.jobs.unreadable(jobs::id_of(*local.job));
  const auto parts = jobs::objects_of(local.job);
  return std::any_of(parts.begin(), parts.end(), [&](const jobs::JobPtr& one) {
    return remote.jobs.unreadable(jobs::id_of(*one));
  });
}

bool races(const api::Workload& workload) {
  const api::WorkloadStatus& status = workload.status;
  return !status.cluster_name && !api::is_true(status.conditions, api::conditions::evicted);
}

/// Of a worker that has nothing and is not the recorded one, nothing rests on how certain that is.
void read_objects(const clusters::RemoteCluster& remote, const clusters::LocalCluster& hub,
                  const OnHub& local, dispatch::WorkerView* worker) {
  const auto copy = remote.workloads.get(local.key);
  const auto jobs = remote.jobs.by_index(clusters::by_workload, local.index_value);
  const bool slice = local.job && jobs::is_marked_elastic(*local.job);
  const bool nothing = !copy && jobs.empty() && !slice;
  const bool recorded = local.workload && local.workload->status.cluster_name == remote.name();
  if (nothing && !recorded) {
    if (unreadable_on(remote, local)) worker->certainty = Certainty::unreadable;
    return;
  }
  worker->certainty = certainty_of(remote.workloads, local.key, copy != nullptr);
  if (local.job) {
    worker->certainty = dispatch::worse(worker->certainty, certainty_of_job(remote, local.job));
  }
  if (nothing) return;
  const HubIdentity identity(hub, remote);
  const Ownership whose = copy ? identity.owner_of(*copy).whose : Ownership::ours;
  worker->other_name = whose == Ownership::other_name;
  // What ran there may run on, whoever it belongs to by now.
  if (recorded && whose == Ownership::other_hub) worker->certainty = Certainty::unreadable;
  if (copy && whose == Ownership::ours) {
    worker->copy = copy;
    worker->made_through = made_through(copy->metadata);
    worker->removing_copy = remote.removing_workload(*copy);
    worker->removal_begun = remote.removal_begun(*copy);
    worker->of_another_life =
        local.workload &&
        ((races(*local.workload) && identity.may_be_of_another_name(copy->metadata)) ||
         identity.of_another_life(copy->metadata, local.workload->metadata.uid));
  }
  worker->job = job_among(jobs, identity, local.job);
  if (!worker->job) worker->job = copy_of_slices(remote, identity, local.job);
  if (!worker->job && worker->copy && !local.workload && jobs::is_slice(*worker->copy)) {
    worker->job = job_of_lost_slice(remote, identity, *worker->copy);
  }
  if (!worker->job) {
    worker->handing_over =
        worker->copy && local.workload && may_run_unseen(remote, hub, *local.workload, local.job);
    return;
  }
  read_parts(remote, worker);
  if (!worker->copy) worker->made_through = made_through(worker->job->metadata());
  worker->job_shared = is_shared(remote, *worker->job, local.key, hub);
  if (jobs::is_marked_elastic(*worker->job)) read_slices(remote, hub, local.key, worker);
  if (worker->job->composed()) {
    worker->strays = !strays_on(remote, hub, worker->job, local.job).empty();
    worker->namesakes = dispatch::namesakes_in(local.job, worker->job, other_life(identity));
  } else {
    worker->of_another_life |=
        local.job && identity.of_another_life(worker->job->metadata(), local.job->metadata().uid);
  }
}

/// For Workloads of a kind that can no longer be followed there the worker is lost.
void note_lost_kind(const clusters::RemoteCluster& remote, const jobs::JobPtr& hub_job,
                    dispatch::WorkerView* worker) {
  const jobs::JobPtr& job = hub_job ? hub_job : worker->job;
  const auto since = job ? remote.lost_since(job->kind()) : std::nullopt;
  if (!since) return;
  worker->connected = false;
  worker->lost_since = std::min(worker->lost_since.value_or(*since), *since);
}

/// The cluster that is recorded, or that the eviction remembers; empty: none.
std::string host_of(const api::Workload& workload) {
  const api::WorkloadStatus& status = workload.status;
  return status.cluster_name ? *status.cluster_name : api::evicted_from(status).value_or("");
}

/// The same, or of a larger slice of an elastic job that has none: where the job runs meanwhile.
std::string host_of_job(const clusters::LocalCluster& hub, const api::Workload& workload) {
  const std::string host = host_of(workload);
  if (!host.empty()) return host;
  return dispatch::place_of_replaced(hub.objects(), workload).value_or("");
}

/// When the Workload was sent to its recorded cluster, as far as that is known.
TimePoint sent_at(const clusters::LocalCluster& hub, const api::Workload& workload) {
  const auto* check = dispatch::multikueue_check(hub.objects(), workload.status);
  const bool ready = check && check->state == api::CheckState::Ready;
  return ready ? check->last_transition_time : TimePoint::min();
}

}  // namespace

jobs::JobPtr remote_job_of(const clusters::RemoteCluster& remote, const api::ObjectKey& workload,
                           const clusters::LocalCluster& hub) {
  const auto found = remote.jobs.by_index(clusters::by_workload, workload.str());
  const auto local = hub.workloads.get(workload);
  const bool slice = local && jobs::is_slice(*local);
  if (found.empty() && !slice) return nullptr;
  const jobs::JobPtr owner = local ? jobs::owner_of(hub.objects(), *local) : nullptr;
  const HubIdentity identity(hub, remote);
  const jobs::JobPtr job = job_among(found, identity, owner);
  return job ? job : copy_of_slices(remote, identity, owner);
}

bool is_shared(const clusters::RemoteCluster& remote, const jobs::GenericJob& job,
               const api::ObjectKey& workload, const clusters::LocalCluster& hub) {
  const auto needs = [&](const api::ObjectKey& key) {
    const auto other = hub.workloads.get(key);
    const auto copy = remote.workloads.get(key);
    if (!other) return copy && hub.workloads.absence(key) == kube::Absence::unseen;
    if (jobs::is_over(*other)) return false;
    if (other->status.cluster_name == remote.name()) return true;
    // An eviction takes the record. The hub keeps the quota until nothing runs there.
    const api::Conditions& conditions = other->status.conditions;
    const bool stops = api::is_true(conditions, api::conditions::evicted) &&
                       api::is_true(conditions, api::conditions::quota_reserved);
    if (stops && dispatch::has_ended(job) && api::evicted_from(other->status) == remote.name()) {
      return true;  // its end is to come home
    }
    return stops && copy && api::is_true(copy->status.conditions, api::conditions::admitted);
  };
  if (jobs::is_marked_elastic(job)) {
    if (hub.jobs.unreadable(jobs::id_of(job))) return true;
    const auto slices = slices_on_hub(job, hub, HubIdentity(hub, remote));
    return std::any_of(slices.begin(), slices.end(), [&](const api::ObjectKey& key) {
      return key != workload &&
             (needs(key) || may_take_place(remote.name(), hub, key, job, workload));
    });
  }
  const std::vector<std::string> names = jobs::workloads_of_copy(job);
  if (names.size() < 2) return false;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name != workload.name && needs({workload.ns, name});
  });
}

std::vector<jobs::JobPtr> namesakes_on(const clusters::RemoteCluster& remote,
                                       const clusters::LocalCluster& hub, const jobs::JobPtr& job,
                                       const jobs::JobPtr& owner) {
  const HubIdentity identity(hub, remote);
  return dispatch::namesakes_in(owner, job, other_life(identity));
}

std::vector<jobs::JobPtr> strays_on(const clusters::RemoteCluster& remote,
                                    const clusters::LocalCluster& hub, const jobs::JobPtr& job,
                                    const jobs::JobPtr& owner) {
  const HubIdentity identity(hub, remote);
  std::vector<jobs::JobPtr> found = dispatch::parts_to_remove(owner, job, other_life(identity));
  std::erase_if(found, [&](const jobs::JobPtr& one) { return remote.removing_job(*one); });
  return found;
}

dispatch::Certainty certainty_on_hub(const clusters::LocalCluster& hub,
                                     const api::ObjectKey& workload) {
  const auto found = hub.workloads.get(workload);
  const Certainty certainty = certainty_of(hub.workloads, workload, found != nullptr);
  if (certainty == Certainty::unreadable) return certainty;
  if (!found) return certainty;
  for (const api::AdmissionCheckState& check : found->status.admission_checks) {
    if (hub.checks.unreadable(api::ObjectKey(check.name))) return Certainty::unreadable;
  }
  return hub.unsure(workload) ? Certainty::unconfirmed : certainty;
}

std::set<std::string> may_hold(const clusters::Fleet& fleet, const api::ObjectKey& workload,
                               const jobs::JobPtr& job) {
  std::set<std::string> names;
  const bool elastic = job && jobs::is_marked_elastic(*job);
  const jobs::JobId id = elastic ? jobs::id_of(*job) : jobs::JobId();
  fleet.holders().add_to(&names, workload, elastic ? &id : nullptr);
  return names;
}

void LiveFleet::for_each_worker(const api::ObjectKey& workload,
                                const std::vector<std::string>& listed, const Visit& visit) const {
  OnHub local{workload, workload.str(), hub_.workloads.get(workload), nullptr};
  if (local.workload) local.job = jobs::owner_of(hub_.objects(), *local.workload);
  std::set<std::string> holders = may_hold(fleet_, workload, local.job);
  const std::string recorded = local.workload ? host_of_job(hub_, *local.workload) : "";
  if (!recorded.empty()) holders.insert(recorded);
  const TimePoint sent = local.workload ? sent_at(hub_, *local.workload) : TimePoint::min();
  const auto look = [&](const std::string& name, bool holds) {
    const clusters::Fleet::Member* member = fleet_.find(name);
    dispatch::WorkerView worker;
    worker.unknown = !member || !member->remote || !member->remote->workloads.has_synced();
    if (!member) {
      const bool unreadable = hub_.multikueue_clusters.unreadable(api::ObjectKey(name));
      if (unreadable) worker.certainty = Certainty::unreadable;
      if (recorded == name && fleet_.may_exist(name)) visit(name, worker);
      return;
    }
    worker.connected = member->ready();
    worker.lost_since =
        member->lost_since_for(recorded == name ? sent : TimePoint::min(), hub_.clock);
    if (member->remote && local.job) {
      worker.kind_served = member->remote->jobs.serves(local.job->kind());
    }
    if (member->remote && holds) {
      read_objects(*member->remote, hub_, local, &worker);
      note_lost_kind(*member->remote, local.job, &worker);
    }
    visit(name, worker);
  };
  for (const std::string& name : holders) look(name, true);
  for (const std::string& name : listed) {
    if (!holders.contains(name)) look(name, false);
  }
}

std::shared_ptr<const dispatch::Roster> LiveFleet::roster(
    const std::shared_ptr<const api::MultiKueueConfig>& config, const jobs::JobKind* kind) const {
  // Configurations that are gone are not kept for ever.
  constexpr std::size_t kept_max = 64;
  if (std::exchange(rosters_of_, fleet_.changes()) != fleet_.changes() ||
      rosters_.size() >= kept_max) {
    rosters_.clear();
  }
  Kept& kept = rosters_[{config.get(), kind}];
  if (kept.roster) return kept.roster;
  auto made = std::make_shared<dispatch::Roster>();
  for (const std::string& name : config->spec.clusters) {
    made->listed.insert(name);
    const clusters::Fleet::Member* member = fleet_.find(name);
    if (!member || !member->was_ready) continue;
    if (kind && contains(member->unserved, kind->resource().group_resource())) continue;
    made->able.push_back(name);
  }
  kept = {config, std::move(made)};
  return kept.roster;
}

}  // namespace regatta::controllers
