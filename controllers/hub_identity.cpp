#include "controllers/hub_identity.h"

#include "jobs/read_job.h"
#include "lib/api/eviction_record.h"
#include "lib/api/own_names.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regatta::controllers {
namespace {

bool shows(const clusters::RemoteCluster& worker, const api::Workload& copy) {
  const auto there = worker.workloads.get(copy.metadata.key());
  return there && there->metadata.uid == copy.metadata.uid;
}

/// It has a copy of one of these Workloads that cannot be read.
bool shows_unreadably(const clusters::RemoteCluster& worker, const std::string& ns,
                      const std::vector<std::string>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(), [&](const std::string& name) {
    return worker.workloads.unreadable(api::ObjectKey{ns, name});
  });
}

/// Of one of them it was neither seen nor asked whether it is without a copy.
bool may_show(const clusters::RemoteCluster& worker, const std::string& ns,
              const std::vector<std::string>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(), [&](const std::string& name) {
    const api::ObjectKey key{ns, name};
    return !worker.workloads.get(key) && worker.workloads.absence(key) == kube::Absence::unseen;
  });
}

bool shows(const clusters::RemoteCluster& worker, const jobs::GenericJob& job,
           const std::vector<std::string>& workloads) {
  // By now it may name another Workload there; a job of several objects has no such id.
  const jobs::JobPtr same = worker.jobs.get(jobs::id_of(job));
  if (same && same->metadata().uid == job.metadata().uid) return true;
  const std::string& ns = job.metadata().ns;
  return std::any_of(workloads.begin(), workloads.end(), [&](const std::string& name) {
    const auto there = worker.jobs.by_index(clusters::by_workload, ns + "/" + name);
    return std::any_of(there.begin(), there.end(), [&](const jobs::JobPtr& one) {
      return one->metadata().uid == job.metadata().uid;
    });
  });
}

}  // namespace

const std::string& hub_mark(const api::ObjectMeta& metadata) {
  static const std::string key(api::annotations::hub_uid);
  return metadata.annotation(key);
}

const std::string& made_through(const api::ObjectMeta& metadata) {
  static const std::string key(api::annotations::worker);
  return metadata.annotation(key);
}

HubIdentity::HubIdentity(const clusters::LocalCluster& hub, const clusters::RemoteCluster& worker)
    : hub_(hub), worker_(worker), uid_(hub.uid()) {
  const auto object = hub.multikueue_clusters.get(api::ObjectKey(worker.name()));
  if (object) adopted_ = object->metadata.annotation(std::string(api::annotations::adopt_hub));
}

bool HubIdentity::of_another_hub(const api::ObjectMeta& metadata) const {
  const std::string& mark = hub_mark(metadata);
  return !mark.empty() && !uid_.empty() && mark != uid_ && mark != adopted_;
}

template <class Shows>
std::string HubIdentity::other_name(const api::ObjectMeta& metadata,
                                    const std::vector<std::string>& workloads,
                                    const Shows& shown_by) const {
  const clusters::Siblings* siblings = worker_.siblings();
  if (!siblings) return "";
  const std::string& through = made_through(metadata);
  std::set<std::string> recorded, names;
  for (const std::string& name : workloads) {
    const auto found = hub_.workloads.get({metadata.ns, name});
    if (!found) continue;
    const auto& place = found->status.cluster_name;
    const auto evicted_from = api::evicted_from(found->status);
    if (place == worker_.name() || evicted_from == worker_.name()) return "";
    if (place) recorded.insert(*place);
    if (evicted_from) names.insert(*evicted_from);
  }
  names.insert(recorded.begin(), recorded.end());
  if (!through.empty()) names.insert(through);
  names.erase(worker_.name());
  for (const std::string& name : names) {
    const clusters::RemoteCluster* other = siblings->connection_of(name);
    if (!other || !other->ready()) continue;
    if (shown_by(*other)) return name;
    if (through == name && shows_unreadably(*other, metadata.ns, workloads)) return name;
  }
  for (const std::string& name : recorded) {
    const clusters::RemoteCluster* other = siblings->connection_of(name);
    const bool lacks = other && other->ready() && !may_show(*other, metadata.ns, workloads);
    const bool unknown = siblings->may_exist(name) && !lacks;
    if (unknown && (through == name || (other && shown_by(*other)))) return name;
  }
  return "";
}

template <class Shows>
Owner HubIdentity::owner_of(const api::ObjectMeta& metadata,
                            const std::vector<std::string>& workloads,
                            const Shows& shown_by) const {
  if (of_another_hub(metadata)) return {Ownership::other_hub, hub_mark(metadata)};
  std::string name = other_name(metadata, workloads, shown_by);
  if (name.empty()) return {};
  return {Ownership::other_name, std::move(name)};
}

Owner HubIdentity::owner_of(const api::Workload& copy) const {
  return owner_of(copy.metadata, {copy.metadata.name},
                  [&](const clusters::RemoteCluster& other) { return shows(other, copy); });
}

Owner HubIdentity::owner_of(const jobs::GenericJob& job) const {
  const std::vector<std::string> workloads = jobs::workloads_of_copy(job);
  return owner_of(job.metadata(), workloads, [&](const clusters::RemoteCluster& other) {
    if (shows(other, job, workloads)) return true;
    // Its watch of the jobs may be behind, and so may the one here of the copies. It was there
    // already that the copy was admitted.
    return std::any_of(workloads.begin(), workloads.end(), [&](const std::string& name) {
      const api::ObjectKey key{job.metadata().ns, name};
      const auto copy = worker_.workloads.get(key);
      if (copy) return shows(other, *copy);
      return made_through(job.metadata()) == other.name() && other.workloads.get(key) != nullptr;
    });
  });
}

bool HubIdentity::may_be_of_another_name(const api::ObjectMeta& metadata) const {
  const std::string& through = made_through(metadata);
  const clusters::Siblings* siblings = worker_.siblings();
  return siblings && !through.empty() && through != worker_.name() && siblings->may_exist(through);
}

bool HubIdentity::of_another_life(const api::ObjectMeta& metadata, const std::string& uid) const {
  const std::string& mark = hub_mark(metadata);
  if (mark.empty() || mark != uid_) return false;
  return metadata.annotation(std::string(api::annotations::multikueue_origin_uid)) != uid;
}

}  // namespace regatta::controllers
