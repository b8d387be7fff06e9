#include "dispatch/room_book.h"

#include "dispatch/group.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"

#include <utility>

namespace regatta::dispatch {
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

bool has_quota(const api::Workload& workload) {
  return workload.status.admission &&
         api::is_true(workload.status.conditions, api::conditions::quota_reserved);
}

bool waits(const api::Workload& copy) {
  return api::is_false(copy.status.conditions, api::conditions::quota_reserved);
}

/// A workload of the hub that a worker runs, or may run soon.
bool takes_room(const api::Workload& workload) {
  const api::Conditions& conditions = workload.status.conditions;
  return has_quota(workload) && !api::is_true(conditions, api::conditions::finished) &&
         !api::is_true(conditions, api::conditions::evicted);
}

/// What a copy holds of its ClusterQueue; nothing without quota.
std::vector<placement::WorkerQueues::Held> held_by(const api::Workload& copy) {
  std::vector<placement::WorkerQueues::Held> held;
  if (!has_quota(copy)) return held;
  const api::Admission& admission = *copy.status.admission;
  for (const api::PodSetAssignment& set : admission.pod_set_assignments) {
    for (const auto& [resource, flavor] : set.flavors) {
      const auto used = set.resource_usage.find(resource);
      if (used == set.resource_usage.end()) continue;
      held.push_back({admission.cluster_queue, priority_of(copy), flavor, resource,
                      api::resource_amount(resource, used->second)});
    }
  }
  return held;
}

/// What our copies hold and wait for on a worker.
void read_copies(const WorkerPicture& worker, placement::WorkerQueues* out) {
  std::map<api::ObjectKey, std::string> ways;
  for (const auto& queue : worker.local_queues()) {
    ways[queue->metadata.key()] = queue->spec.cluster_queue;
  }
  for (const auto& copy : worker.copies()) {
    if (waits(*copy)) {
      const auto way = ways.find(local_queue_of(*copy));
      if (way != ways.end()) ++out->waiting[way->second][priority_of(*copy)];
    }
    for (auto& held : held_by(*copy)) out->held.push_back(std::move(held));
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

void RoomBook::note_workload(const api::ObjectKey& key, const api::Workload* workload) {
  if (!workload || !takes_room(*workload)) {
    admission_times_.forget(key);
    return claims_.release(key);
  }
  const api::WorkloadStatus& status = workload->status;
  if (!status.cluster_name) return nominate(*workload, status, status.nominated_cluster_names);
  nominate(*workload, status, {*status.cluster_name});
}

void RoomBook::nominate(const api::Workload& workload, const api::WorkloadStatus& status,
                        const std::vector<std::string>& clusters) {
  claims_.claim(workload.metadata.key(), local_queue_of(workload), clusters,
                sum_of(asked_of(status)));
}

void RoomBook::note_copy(const std::string& cluster, const api::ObjectKey& key) {
  const auto worker = fleet_.look(cluster, nullptr).worker;
  const auto copy = worker ? worker->copy(key) : nullptr;
  if (!copy) return;
  const auto workload = hub_.workload(key);
  const bool over = !workload || !takes_room(*workload);
  admission_times_.note(cluster, *copy, over ? nullptr : workload.get());
  if (waits(*copy)) claims_.waits(key, cluster);
  if (has_quota(*copy)) {
    claims_.reserved(key, cluster, copy->status.admission->cluster_queue,
                     copy->metadata.resource_version);
  }
}

void RoomBook::note_queue(const std::string& cluster, const std::string& cluster_queue) {
  if (const auto known = workers_.find(cluster); known != workers_.end()) {
    known->second.queues_counted = false;
    known->second.by_cluster_queue.clear();
    known->second.ways.clear();
  }
  const auto worker = fleet_.look(cluster, nullptr).worker;
  const auto queue = worker ? worker->cluster_queue(cluster_queue) : nullptr;
  if (queue) claims_.told(cluster, cluster_queue, queue->metadata.resource_version);
}

api::StringMap RoomBook::annotations_of(const api::Workload& workload) const {
  api::StringMap all = workload.metadata.annotations;
  if (const jobs::JobPtr job = jobs::owner_of(hub_, workload)) {
    const api::StringMap& of_job = job->metadata().annotations;
    all.insert(of_job.begin(), of_job.end());
  }
  return all;
}

Result<placement::Affinity> RoomBook::affinity_of(const api::Workload& workload) const {
  return placement::affinity_of(annotations_of(workload));
}

placement::ExpressionCache::Compiled RoomBook::expressions_of(
    const api::WorkloadStatus& status) const {
  const api::AdmissionCheckState* state = multikueue_check(hub_, status);
  const auto check = state ? hub_.admission_check(state->name) : nullptr;
  if (!check || check->metadata.annotations.empty()) return expressions_.get({});
  auto found = expressions_.get(placement::expression_texts_of(check->metadata.annotations));
  if (found) return found;
  return Error(Errc::invalid, "AdmissionCheck " + state->name + ": " + found.error().what());
}

std::shared_ptr<const Comparison> RoomBook::comparison(
    const api::Workload& workload, const api::WorkloadStatus& status,
    const std::vector<std::string>& clusters) const {
  auto out = std::make_shared<Comparison>();
  const api::StringMap annotations = annotations_of(workload);
  auto affinity = placement::affinity_of(annotations);
  if (!affinity) out->unreadable = affinity.error().what();
  if (affinity) out->workload.affinity = std::move(*affinity);
  auto expressions = expressions_of(status);
  if (!expressions) out->unreadable = expressions.error().what();
  if (expressions) out->expressions = std::move(*expressions);
  out->workload.key = workload.metadata.key();
  out->workload.queue = workload.spec.queue_name;
  out->workload.labels = workload.metadata.labels;
  out->workload.pod_sets = asked_of(status);
  out->workload.priority = priority_of(workload);
  const auto region = annotations.find(std::string(api::annotations::region));
  if (region != annotations.end()) out->workload.region = region->second;
  const jobs::JobPtr job = jobs::owner_of(hub_, workload);
  if (job) out->workload.kind = job->kind().resource().group_resource();
  const Asking asking{out->workload.key, local_queue_of(workload), out->workload.priority,
                      job ? &job->kind() : nullptr};
  out->workers.resize(clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    out->workers[i].name = clusters[i];
    add_facts(asking, &out->workers[i]);
  }
  return out;
}

RoomBook::Worker& RoomBook::known(const std::string& cluster) const {
  const auto [found, fresh] = workers_.try_emplace(cluster);
  Worker& worker = found->second;
  if (!fresh) return worker;
  if (const auto object = fleet_.cluster(cluster)) {
    worker.labels = {object, &object->metadata.labels};
    worker.region = object->metadata.label(std::string(api::labels::region));
    worker.price = price_of(*object);
  }
  return worker;
}

void RoomBook::add_facts(const Asking& asking, placement::WorkerFacts* facts) const {
  const std::string& cluster = facts->name;
  Worker& worker = known(cluster);
  facts->labels = worker.labels;
  facts->region = worker.region;
  facts->price = worker.price;
  facts->in_flight = claims_.ahead(cluster, asking.local_queue, asking.key);
  facts->workloads = claims_.workloads(cluster, asking.key);
  facts->admits_after = admission_times_.usual(cluster, asking.local_queue);
  const FleetPicture::Seen seen = fleet_.look(cluster, asking.kind);
  facts->connected = seen.connected;
  if (!seen.serves) facts->kinds.emplace();
  if (!seen.worker) return;
  facts->latency = seen.worker->latency();
  add_queue(asking, &worker, *seen.worker, facts);
}

void RoomBook::add_queue(const Asking& asking, Worker* worker, const WorkerPicture& picture,
                         placement::WorkerFacts* facts) const {
  const auto age = picture.queue_age();
  if (!age) return;
  facts->queue_age = *age;
  const Way& way = way_of(worker, picture, asking.local_queue);
  facts->closed = way.closed;
  if (!way.queue) return;
  facts->queue = without(asking, facts->name, picture, way.queue);
  claims_.for_each_queue(facts->name, [&](const api::ObjectKey& other) {
    if (other == asking.local_queue) return;
    if (way_of(worker, picture, other).cluster_queue != way.cluster_queue) return;
    placement::add(&facts->in_flight, claims_.ahead(facts->name, other, asking.key));
  });
}

/// The queue as if the workload's own copy neither used nor waited for what it asks for.
RoomBook::QueuePtr RoomBook::without(const Asking& asking, const std::string& cluster,
                                     const WorkerPicture& picture, const QueuePtr& queue) const {
  const auto copy = picture.copy(asking.key);
  if (!copy) return queue;
  const bool shown = claims_.shown(cluster, asking.key);
  if (!waits(*copy) && !shown) return queue;
  auto out = std::make_shared<placement::QueueFacts>(*queue);
  if (waits(*copy)) {
    const auto pending = out->pending.find(asking.priority);
    if (pending != out->pending.end() && --pending->second <= 0) out->pending.erase(pending);
  }
  if (!shown) return out;
  for (const auto& held : held_by(*copy)) {
    placement::give_back(out.get(), held.flavor, held.resource, held.amount, asking.priority);
  }
  return out;
}

const RoomBook::Way& RoomBook::way_of(Worker* worker, const WorkerPicture& picture,
                                      const api::ObjectKey& local_queue) {
  const auto [found, fresh] = worker->ways.try_emplace(local_queue);
  Way& way = found->second;
  if (!fresh) return way;
  if (!std::exchange(worker->queues_counted, true)) {
    placement::WorkerQueues given;
    given.cluster_queues = picture.cluster_queues();
    given.cohorts = picture.cohorts();
    read_copies(picture, &given);
    for (auto& [name, facts] : placement::queue_facts(given)) {
      worker->by_cluster_queue[name] =
          std::make_shared<const placement::QueueFacts>(std::move(facts));
    }
  }
  const auto local = picture.local_queue(local_queue);
  if (!local) {
    way.closed = "has no LocalQueue " + local_queue.str();
    return way;
  }
  way.cluster_queue = local->spec.cluster_queue;
  way.closed = placement::closed_because(*local);
  const auto queue = picture.cluster_queue(way.cluster_queue);
  if (!queue) {
    way.closed = "has no ClusterQueue " + way.cluster_queue;
    return way;
  }
  if (way.closed.empty()) way.closed = placement::closed_because(*queue);
  const auto facts = worker->by_cluster_queue.find(way.cluster_queue);
  if (facts != worker->by_cluster_queue.end()) way.queue = facts->second;
  return way;
}

}  // namespace regatta::dispatch
