#include "admission/second_pass.h"

#include "admission/topology/replacement.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

std::optional<FlavorId> topology_flavor(const CycleAccess& access,
                                        const PodSetReservation& pod_set) {
  for (const ResourceFlavorChoice& choice : pod_set.flavors) {
    if (access.topologies().tree(choice.flavor) != nullptr) return choice.flavor;
  }
  return std::nullopt;
}

}  // namespace

void SecondPass::place_all() {
  access_ = &trial_.access();
  for (const WorkloadId id : ids_) {
    Found& found = found_.emplace_back();
    found.id = id;
    place(&found);
    if (found.failure.empty()) take(*access_->workloads()[id].reservation, found);
  }
}

void SecondPass::place(Found* found) {
  const WorkloadEntry& workload = access_->workloads()[found->id];
  const Reservation& held = *workload.reservation;
  const PlacesTask& task = access_->places_task(found->id);
  if (workload.failed_checks) {
    found->failure = "The workload has failed admission checks";
  } else if (!access_->queue(held.queue).active) {
    found->failure = "ClusterQueue " + access_->queue(held.queue).name + " is inactive";
  } else if (task.lost.empty()) {
    place_delayed(held, task, found);
  } else {
    replace_lost(held, task, found);
    found->evict = !found->failure.empty() && access_->config().topology_replace_or_evict;
  }
}

TopologyRequest SecondPass::request_for(const Found& found, const PlacesTask& task,
                                        std::size_t pod_set, FlavorId flavor) const {
  const WorkloadEntry& workload = access_->workloads()[found.id];
  const PodSetShape& shape = workload.shape->pod_sets[pod_set];
  TopologyRequest request;
  request.pod_set = pod_set;
  request.flavor = flavor;
  request.implied = !asks_for_topology(shape.topology);
  request.group = shape.group;
  request.terms = &shape.topology;
  request.pods = task.pods[pod_set];
  return request;
}

void SecondPass::place_delayed(const Reservation& held, const PlacesTask& task, Found* found) {
  std::vector<TopologyRequest> requests;
  for (std::size_t i = 0; i < held.pod_sets.size() && i < task.pods.size(); ++i) {
    const PodSetReservation& pod_set = held.pod_sets[i];
    if (pod_set.delayed_topology != "Pending" || !pod_set.places.empty()) continue;
    const auto flavor = topology_flavor(*access_, pod_set);
    if (!flavor) {
      found->failure =
          "failed to assign flavors to pod set " + pod_set.name + ": no TAS flavor assigned";
      return;
    }
    requests.push_back(request_for(*found, task, i, *flavor));
    requests.back().count = pod_set.count;
  }
  TopologySearch search;
  search.explain = true;
  search.least_free_first = access_->config().topology_mixed_profile;
  TopologyPlaces places = find_places(trial_.topologies(), requests, search);
  if (places.failure) {
    found->failure = "couldn't assign flavors to pod set " +
                     held.pod_sets[places.failure->pod_set].name + ": " + places.failure->text;
  } else {
    found->places = std::move(places.pod_sets);
  }
}

void SecondPass::replace_lost(const Reservation& held, const PlacesTask& task, Found* found) {
  const Trial::Nested nested(trial_);
  for (std::size_t i = 0; i < held.pod_sets.size() && i < task.pods.size(); ++i) {
    const PodSetReservation& pod_set = held.pod_sets[i];
    if (pod_set.places.empty()) continue;
    const PodPlaces& current = pod_set.places.front();
    const auto is_lost = [&](const PlacedPods& placed) {
      return task.lost.contains(access_->topologies().values(placed.place).back());
    };
    if (std::none_of(current.places.begin(), current.places.end(), is_lost)) continue;
    if (task.bound_to_pod) {
      found->places.push_back({i, current});
      continue;
    }
    const FlavorId flavor = topology_flavor(*access_, pod_set).value_or(current.flavor);
    Replacement replaced =
        replace_places(trial_.topologies(), request_for(*found, task, i, flavor), current,
                       {task.lost, pod_set.remaining()}, access_->config().topology_mixed_profile);
    if (!replaced.places) {
      found->failure = std::move(replaced.failure);
      return;
    }
    trial_.topologies().remove(current);
    trial_.topologies().add(*replaced.places);
    found->places.push_back({i, std::move(*replaced.places)});
  }
}

/// Takes the places, so that later workloads of the cycle do not get them.
void SecondPass::take(const Reservation& held, const Found& found) {
  for (const PodSetPlaces& places : found.places) {
    for (const PodPlaces& old : held.pod_sets[places.pod_set].places) {
      trial_.topologies().remove(old);
    }
    trial_.topologies().add(places.places);
  }
}

void SecondPass::record(TimePoint now, CycleResult* result) {
  for (Found& found : found_) {
    const WorkloadEntry& workload = access_->workloads()[found.id];
    const QueueInfo& queue = access_->queue(workload.reservation->queue);
    if (found.failure.empty()) {
      AdmittedWorkload& placed = result->placed.emplace_back();
      placed.decision = access_->move_pods(found.id, std::move(found.places));
      placed.key = workload.key;
      placed.uid = workload.uid;
      placed.cluster_queue = queue.name;
      placed.admission =
          to_api(*workload.reservation, queue.name, access_->names(), access_->topologies());
      continue;
    }
    if (found.evict) {
      std::string hosts;
      const std::set<std::string>& lost = access_->places_task(found.id).lost;
      for (const std::string& host : lost) hosts += (hosts.empty() ? "" : ",") + host;
      result->evicted.push_back(
          {workload.key,
           workload.uid,
           std::string(api::reasons::node_failures),
           "Workload was evicted as there was no replacement for unhealthy node(s): " + hosts,
           {lost.begin(), lost.end()},
           0});
      result->evicted.back().decision = access_->evict(found.id);
      continue;
    }
    PendingWorkload& unplaced = result->unplaced.emplace_back();
    unplaced.key = workload.key;
    unplaced.uid = workload.uid;
    unplaced.cluster_queue = queue.name;
    unplaced.reason = api::reasons::topology_placement_failed;
    unplaced.message = std::move(found.failure);
    access_->retry_places(found.id, now);
  }
}

}  // namespace regatta::admission
