#include "admission/flavor_assigner.h"
#include "lib/api/names.h"

#include <algorithm>
#include <set>

namespace regatta::admission {
namespace {

void set_mode(PodSetPlan* plan, Mode mode) {
  for (FlavorPick& pick : plan->picks) pick.mode = mode;
}

void keep_places(TopologyPlaces found, Assignment* assignment) {
  for (PodSetPlaces& pod_set : found.pod_sets) {
    assignment->pod_sets[pod_set.pod_set].places = std::move(pod_set.places);
  }
}

/// To be called when the flavor has no places for the pod set even in an empty cluster.
void mark_hopeless(const TopologyFailure& failure, PodSetPlan* plan) {
  set_mode(plan, Mode::no_fit);
  plan->reason = NoFitReason::topology_placement_failed;
  for (const auto& [flavor, reason] : plan->passed_over) {
    if (flavor != failure.flavor) plan->reason = std::max(plan->reason, reason);
  }
}

}  // namespace

std::vector<const PodPlaces*> Assignment::places() const {
  std::vector<const PodPlaces*> out;
  for (const PodSetPlan& plan : pod_sets) {
    if (plan.places) out.push_back(&*plan.places);
  }
  return out;
}

bool FlavorAssigner::topology_suits(const FlavorInfo& flavor, const QueueInfo::Group& resources,
                                    const PodSetShape& pod_set, FlavorNote* note) const {
  const CycleAccess& access = trial_.access();
  const bool has_topology = !flavor.spec.topology_name.empty();
  const auto unsuited = [&](FlavorNote::Kind kind) {
    note->kind = kind;
    note->flavor = flavor.id;
    return false;
  };
  if (!asks_for_topology(pod_set.topology)) {
    if (!has_topology || queue_.topology_only) return true;
    return unsuited(FlavorNote::Kind::topology_only);
  }
  if (!has_topology) {
    // The flavor can still provide resources that pods do not request of a node.
    const auto covered = [&](const ResourceAmount& request) {
      const auto& names = resources.resources;
      return access.names().resources.name(request.resource) != api::pods_resource &&
             std::find(names.begin(), names.end(), request.resource) != names.end();
    };
    const auto& requests = pod_set.pods->requests;
    if (std::none_of(requests.begin(), requests.end(), covered)) return true;
    return unsuited(FlavorNote::Kind::no_topology);
  }
  const TopologyTree* tree = access.topologies().tree(flavor.id);
  if (tree == nullptr) {
    return access.uses_multikueue(queue_) || unsuited(FlavorNote::Kind::no_topology_known);
  }
  return has_levels(*tree, pod_set.topology) || unsuited(FlavorNote::Kind::no_topology_level);
}

/// A pod set of a group that requests no resources gets the topology flavors of the group.
void FlavorAssigner::share_topology_flavors(const Group& group,
                                            const std::vector<FlavorPick>& picks,
                                            Assignment* assignment) const {
  for (const std::size_t index : group.pod_sets) {
    PodSetPlan& plan = assignment->pod_sets[index];
    if (!plan.requests.empty() || plan.shape->group.empty()) continue;
    for (const FlavorPick& pick : picks) {
      const FlavorInfo* info = trial_.access().flavor(pick.flavor);
      if (info != nullptr && !info->spec.topology_name.empty()) plan.picks.push_back(pick);
    }
  }
}

std::optional<FlavorId> FlavorAssigner::only_topology_flavor(PodSetPlan* plan) const {
  const CycleAccess& access = trial_.access();
  std::set<FlavorId> flavors;
  for (const FlavorPick& pick : plan->picks) {
    const FlavorInfo* info = access.flavor(pick.flavor);
    if (info != nullptr && !info->spec.topology_name.empty()) flavors.insert(pick.flavor);
  }
  if (flavors.size() == 1) return *flavors.begin();
  if (flavors.empty()) {
    const auto has_topology = [&](FlavorId flavor) {
      const FlavorInfo* info = access.flavor(flavor);
      return info != nullptr && !info->spec.topology_name.empty();
    };
    const bool any =
        std::any_of(queue_.groups.begin(), queue_.groups.end(), [&](const auto& group) {
          return std::any_of(group.flavors.begin(), group.flavors.end(), has_topology);
        });
    plan->error = any ? "no TAS flavor assigned"
                      : "workload requires Topology, but there is no TAS cache information";
    return std::nullopt;
  }
  std::set<std::string> names;
  for (const FlavorId flavor : flavors) names.insert(access.names().flavors.name(flavor));
  plan->error = "more than one TAS flavor assigned: ";
  for (const std::string& name : names) {
    plan->error += (name == *names.begin() ? "" : ", ") + name;
  }
  return std::nullopt;
}

void FlavorAssigner::request_places(Assignment* assignment) const {
  for (std::size_t i = 0; i < assignment->pod_sets.size(); ++i) {
    PodSetPlan& plan = assignment->pod_sets[i];
    const bool asks = asks_for_topology(plan.shape->topology);
    if ((!asks && !queue_.topology_only) || plan.count == 0) continue;
    const auto flavor = only_topology_flavor(&plan);
    if (!flavor) continue;
    if (trial_.access().delays_topology(queue_, *flavor, false)) {
      plan.topology_delayed = true;
      continue;
    }
    const PodSetShape& shape = *plan.shape;
    assignment->topology.push_back(
        {i, *flavor, plan.count, !asks, shape.group, &shape.topology, shape.pods});
  }
}

/// Finds places for an assignment that has quota. Without room, the workload has to preempt; if
/// even an empty cluster has no room, it does not fit.
void FlavorAssigner::place(Assignment* assignment) const {
  if (assignment->mode() == AssignmentMode::no_fit) return;
  request_places(assignment);
  if (assignment->topology.empty() || assignment->mode() == AssignmentMode::no_fit) return;
  Topologies& topologies = trial_.topologies();
  TopologySearch search;
  search.least_free_first = trial_.access().config().topology_mixed_profile;
  if (assignment->mode() == AssignmentMode::fit) {
    search.explain = true;
    TopologyPlaces found = find_places(topologies, assignment->topology, search);
    if (!found.failure) return keep_places(std::move(found), assignment);
    FlavorNote note;
    note.kind = FlavorNote::Kind::no_places;
    note.flavor = found.failure->flavor;
    note.text = std::move(found.failure->text);
    PodSetPlan& plan = assignment->pod_sets[found.failure->pod_set];
    plan.notes.push_back(std::move(note));
    set_mode(&plan, Mode::preempt);
  }
  search.explain = false;
  search.empty = true;
  assignment->placed = AssignmentMode::preempt;
  const TopologyPlaces alone = find_places(topologies, assignment->topology, search);
  if (alone.failure) {
    mark_hopeless(*alone.failure, &assignment->pod_sets[alone.failure->pod_set]);
    assignment->placed = AssignmentMode::no_fit;
    return;
  }
  for (const TopologyRequest& request : assignment->topology) {
    set_mode(&assignment->pod_sets[request.pod_set], Mode::preempt);
  }
}

void reserve_places(Trial& trial, Assignment* assignment, bool empty) {
  TopologySearch search;
  search.empty = empty;
  search.least_free_first = trial.access().config().topology_mixed_profile;
  TopologyPlaces found = find_places(trial.topologies(), assignment->topology, search);
  for (PodSetPlan& plan : assignment->pod_sets) plan.places.reset();
  keep_places(std::move(found), assignment);
}

}  // namespace regatta::admission
