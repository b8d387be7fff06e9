#include "controllers/worker_room.h"

#include "dispatch/group.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>

namespace regatta::controllers {
namespace {

std::int32_t priority_of(const api::Workload& workload) {
  return workload.spec.priority.value_or(0);
}

/// What all pods of each set ask for together, as the hub has counted it.
std::vector<placement::Amounts> asked_of(const api::WorkloadStatus& status) {
  std::vector<placement::Amounts> out;
  if (!status.admission) return out;
  for (const api::PodSetAssignment& set : status.admission->pod_set_assignments) {
    out.push_back(placement::amounts_of(set.resource_usage));
  }
  return out;
}

placement::Amounts sum_of(const std::vector<placement::Amounts>& sets) {
  placement::Amounts sum;
  for (const placement::Amounts& set : sets) placement::add(&sum, set);
  return sum;
}

api::ObjectKey local_queue_of(const api::Workload& workload) {
  return {workload.metadata.ns, workload.spec.queue_name};
}

bool has_quota(const api::Workload& copy) {
  return copy.status.admission &&
         api::is_true(copy.status.conditions, api::conditions::quota_reserved);
}

bool waits(const api::Workload& copy) {
  return api::is_false(copy.status.conditions, api::conditions::quota_reserved);
}

/// What our copies hold and wait for on a worker.
void read_copies(const clusters::RemoteCluster& remote, placement::WorkerQueues* out) {
  std::map<api::ObjectKey, std::string> ways;
  for (const auto& queue : remote.queues()->local_queues.list()) {
    ways[queue->metadata.key()] = queue->spec.cluster_queue;
  }
  for (const auto& copy : remote.workloads.list()) {
    if (waits(*copy)) {
      const auto way = ways.find(local_queue_of(*copy));
      if (way != ways.end()) ++out->waiting[way->second][priority_of(*copy)];
    }
    if (!has_quota(*copy)) continue;
    const api::Admission& admission = *copy->status.admission;
    for (const api::PodSetAssignment& set : admission.pod_set_assignments) {
      for (const auto& [resource, flavor] : set.flavors) {
        const auto used = set.resource_usage.find(resource);
        if (used == set.resource_usage.end()) continue;
        out->held.push_back({admission.cluster_queue, priority_of(*copy), flavor, resource,
                             api::resource_amount(resource, used->second)});
      }
    }
  }
}

std::optional<std::int64_t> price_of(const api::MultiKueueCluster& cluster) {
  const auto found = cluster.metadata.annotations.find(std::string(api::annotations::price));
  if (found == cluster.metadata.annotations.end()) return std::nullopt;
  const auto price = api::Quantity::parse(found->second);
  if (!price) return std::nullopt;
  return price->milli_value();
}

}  // namespace

WorkerRoom::WorkerRoom(clusters::LocalCluster& hub, clusters::Fleet& fleet,
                       const dispatch::PlanConfig& plan)
    : hub_(hub), fleet_(fleet), plan_(plan) {
  hub_.checks.on_change([this](const api::ObjectKey&) { use_if_wanted(); });
  hub_.workloads.on_transition([this](const api::ObjectKey& key, const auto&, const auto& after) {
    if (in_use_) note_workload(key, after.get());
  });
  fleet_.on_workload([this](const std::string& cluster, const api::ObjectKey& key) {
    if (in_use_) note_copy(cluster, key);
  });
  fleet_.on_connection([this](const std::string& cluster) { workers_.erase(cluster); });
  fleet_.on_queues([this](const std::string& cluster, const std::string& cluster_queue) {
    note_queue(cluster, cluster_queue);
  });
}

void WorkerRoom::start() {
  started_ = true;
  use_if_wanted();
}

bool WorkerRoom::compares(const dispatch::LocalView& local) const {
  return dispatch::compares(dispatch::dispatcher_of(local, plan_));
}

void WorkerRoom::use_if_wanted() {
  if (in_use_ || !started_) return;
  const auto checks = hub_.checks.list();
  const bool wanted = dispatch::compares(plan_.nomination.dispatcher) ||
                      std::any_of(checks.begin(), checks.end(), [&](const auto& check) {
                        const auto named =
                            dispatch::named_dispatcher(hub_.objects(), check->metadata.name);
                        return named && dispatch::compares(*named);
                      });
  if (!wanted) return;
  in_use_ = true;
  hub_.log.named("dispatch").info("workers are compared by what their queues have");
  fleet_.follow_queues();
  for (const auto& workload : hub_.workloads.list()) {
    note_workload(workload->metadata.key(), workload.get());
    for (const auto& [name, member] : fleet_.members()) note_copy(name, workload->metadata.key());
  }
}

void WorkerRoom::note_workload(const api::ObjectKey& key, const api::Workload* workload) {
  if (!workload || !lifecycle::is_reserved(*workload) || lifecycle::is_finished(*workload) ||
      lifecycle::is_evicted(*workload)) {
    return claims_.release(key);
  }
  const api::WorkloadStatus& status = workload->status;
  if (!status.cluster_name) return nominate(*workload, status, status.nominated_cluster_names);
  nominate(*workload, status, {*status.cluster_name});
}

void WorkerRoom::nominate(const api::Workload& workload, const api::WorkloadStatus& status,
                          const std::vector<std::string>& clusters) {
  if (!in_use_) return;
  claims_.claim(workload.metadata.key(), local_queue_of(workload), clusters,
                sum_of(asked_of(status)));
}

void WorkerRoom::note_copy(const std::string& cluster, const api::ObjectKey& key) {
  const auto* member = fleet_.find(cluster);
  const auto copy = member && member->remote ? member->remote->workloads.get(key) : nullptr;
  if (!copy) return;
  if (waits(*copy)) claims_.waits(key, cluster);
  if (has_quota(*copy)) {
    claims_.reserved(key, cluster, copy->status.admission->cluster_queue,
                     copy->metadata.resource_version);
  }
}

void WorkerRoom::note_queue(const std::string& cluster, const std::string& cluster_queue) {
  workers_.erase(cluster);
  const auto* member = fleet_.find(cluster);
  const auto* queues = member && member->remote ? member->remote->queues() : nullptr;
  const auto queue = queues ? queues->cluster_queues.get(api::ObjectKey(cluster_queue)) : nullptr;
  if (queue) claims_.told(cluster, cluster_queue, queue->metadata.resource_version);
  if (on_room) on_room(cluster);
}

api::StringMap WorkerRoom::annotations_of(const api::Workload& workload) const {
  api::StringMap all = workload.metadata.annotations;
  if (const jobs::JobPtr job = jobs::owner_of(hub_.objects(), workload)) {
    const api::StringMap& of_job = job->metadata().annotations;
    all.insert(of_job.begin(), of_job.end());
  }
  return all;
}

Result<placement::Affinity> WorkerRoom::affinity_of(const api::Workload& workload) const {
  return placement::affinity_of(annotations_of(workload));
}

std::shared_ptr<const dispatch::Comparison> WorkerRoom::comparison(
    const api::Workload& workload, const api::WorkloadStatus& status,
    const std::vector<std::string>& clusters) const {
  auto out = std::make_shared<dispatch::Comparison>();
  const api::StringMap annotations = annotations_of(workload);
  auto affinity = placement::affinity_of(annotations);
  if (!affinity) out->unreadable = affinity.error().what();
  if (affinity) out->workload.affinity = std::move(*affinity);
  out->workload.pod_sets = asked_of(status);
  out->workload.priority = priority_of(workload);
  const auto region = annotations.find(std::string(api::annotations::region));
  if (region != annotations.end()) out->workload.region = region->second;
  const jobs::JobPtr job = jobs::owner_of(hub_.objects(), workload);
  if (job) out->workload.kind = job->kind().resource().group_resource();
  for (const std::string& name : clusters) {
    out->workers.emplace(name, facts_of(name, workload, out->workload.priority));
  }
  return out;
}

placement::WorkerFacts WorkerRoom::facts_of(const std::string& cluster,
                                            const api::Workload& workload,
                                            std::int32_t priority) const {
  const api::ObjectKey key = workload.metadata.key();
  placement::WorkerFacts facts;
  facts.name = cluster;
  if (const auto object = hub_.multikueue_clusters.get(api::ObjectKey(cluster))) {
    facts.labels = object->metadata.labels;
    facts.region = object->metadata.label(std::string(api::labels::region));
    facts.price = price_of(*object);
  }
  facts.in_flight = claims_.ahead(cluster, local_queue_of(workload), key);
  facts.workloads = claims_.workloads(cluster, key);
  const auto* member = fleet_.find(cluster);
  facts.connected = member && member->ready();
  if (member && member->remote && member->remote->queues()) {
    add_queue(*member->remote, workload, priority, &facts);
  }
  return facts;
}

void WorkerRoom::add_queue(const clusters::RemoteCluster& remote, const api::Workload& workload,
                           std::int32_t priority, placement::WorkerFacts* facts) const {
  const clusters::RemoteQueues& queues = *remote.queues();
  const auto told = queues.told();
  if (!told) return;
  facts->queue_age = hub_.clock.steady() - *told;
  const auto local = queues.local_queues.get(local_queue_of(workload));
  if (!local) {
    facts->closed = "has no LocalQueue " + local_queue_of(workload).str();
    return;
  }
  facts->closed = placement::closed_because(*local);
  const auto queue = queues.cluster_queues.get(api::ObjectKey(local->spec.cluster_queue));
  if (!queue) {
    facts->closed = "has no ClusterQueue " + local->spec.cluster_queue;
    return;
  }
  if (facts->closed.empty()) facts->closed = placement::closed_because(*queue);
  const Worker& known = worker(facts->name, remote);
  const auto room = known.facts.find(queue->metadata.name);
  if (room == known.facts.end()) return;
  facts->queue = room->second;
  for (const api::ObjectKey& way : claims_.queues(facts->name)) {
    const auto other = queues.local_queues.get(way);
    if (way == local->metadata.key() || !other) continue;
    if (other->spec.cluster_queue != queue->metadata.name) continue;
    placement::add(&facts->in_flight, claims_.ahead(facts->name, way, workload.metadata.key()));
  }
  leave_out(remote, workload.metadata.key(), priority, &*facts->queue);
}

/// The workload's own copy neither uses nor waits for what it asks for.
void WorkerRoom::leave_out(const clusters::RemoteCluster& remote, const api::ObjectKey& key,
                           std::int32_t priority, placement::QueueFacts* queue) const {
  const auto copy = remote.workloads.get(key);
  if (!copy) return;
  if (waits(*copy)) {
    const auto pending = queue->pending.find(priority);
    if (pending != queue->pending.end() && --pending->second <= 0) queue->pending.erase(pending);
  }
  if (!has_quota(*copy) || !claims_.shown(remote.name(), key)) return;
  for (const api::PodSetAssignment& set : copy->status.admission->pod_set_assignments) {
    for (const auto& [resource, flavor] : set.flavors) {
      const auto used = set.resource_usage.find(resource);
      if (used == set.resource_usage.end()) continue;
      placement::give_back(queue, flavor, resource, api::resource_amount(resource, used->second),
                           priority);
    }
  }
}

const WorkerRoom::Worker& WorkerRoom::worker(const std::string& cluster,
                                             const clusters::RemoteCluster& remote) const {
  const auto [found, fresh] = workers_.try_emplace(cluster);
  if (!fresh) return found->second;
  placement::WorkerQueues given;
  given.cluster_queues = remote.queues()->cluster_queues.list();
  given.cohorts = remote.queues()->cohorts.list();
  read_copies(remote, &given);
  found->second.facts = placement::queue_facts(given);
  return found->second;
}

}  // namespace regatta::controllers
