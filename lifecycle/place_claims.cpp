#include "lifecycle/place_claims.h"

#include "admission/topology/assignment.h"
#include "lib/api/names.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace regatta::lifecycle {
namespace {

/// The places of one pod set, and how many pods may still be there.
struct Room {
  std::string pod_set;
  admission::PodAmounts taken;  ///< for each pod
  std::vector<std::string> levels;
  std::map<std::vector<std::string>, std::int64_t> left;

  bool take(const api::StringMap& labels) {
    std::vector<std::string> values;
    for (const std::string& level : levels) {
      const auto label = labels.find(level);
      if (label == labels.end()) return false;
      values.push_back(label->second);
    }
    const auto found = left.find(values);
    if (found == left.end() || found->second <= 0) return false;
    --found->second;
    return true;
  }
};

/// Nullopt when the places cannot be read.
std::optional<std::vector<Room>> rooms_of(
    const std::vector<std::shared_ptr<const api::Workload>>& workloads,
    const TakenForAPod& taken_for) {
  std::vector<Room> rooms;
  for (const auto& workload : workloads) {
    for (const auto& set : workload->status.admission->pod_set_assignments) {
      if (!set.topology_assignment) continue;
      auto places = admission::expand(*set.topology_assignment);
      if (!places) return std::nullopt;
      Room& room = rooms.emplace_back();
      room.pod_set = set.name;
      room.taken = taken_for(*workload, set.name);
      room.levels = std::move(places->levels);
      for (auto& domain : places->domains) room.left[std::move(domain.values)] += domain.count;
    }
  }
  return rooms;
}

/// A place for the pod: of its pod set, otherwise of another one; null without one.
const Room* take_place(std::vector<Room>* rooms, const api::Pod& pod,
                       const api::StringMap& node_labels) {
  const std::string& pod_set = pod.metadata.label(std::string(api::labels::pod_set));
  for (const bool its_own : {true, false}) {
    for (Room& room : *rooms) {
      if ((room.pod_set == pod_set) == its_own && room.take(node_labels)) return &room;
    }
  }
  return nullptr;
}

/// Nothing is taken for a resource that `taken` does not have, unless it is empty.
admission::PodAmounts beyond(const api::PodSpec& spec, const admission::PodAmounts& taken) {
  admission::PodAmounts more;
  if (taken.empty()) return more;
  for (const auto& [resource, amount] : admission::pod_amounts(spec)) {
    const auto found = taken.find(resource);
    const std::int64_t paid = found == taken.end() ? 0 : found->second;
    if (amount > paid) more.emplace(resource, amount - paid);
  }
  return more;
}

}  // namespace

bool takes_places(const api::Workload& workload) {
  if (!is_reserved(workload) || is_finished(workload) || !workload.status.admission) return false;
  const auto& sets = workload.status.admission->pod_set_assignments;
  return std::any_of(sets.begin(), sets.end(),
                     [](const auto& set) { return set.topology_assignment.has_value(); });
}

std::map<api::ObjectKey, admission::PodAmounts> beyond_places(
    const std::vector<std::shared_ptr<const api::Workload>>& workloads, std::vector<PodPtr> pods,
    const NodeLabels& labels_of, const TakenForAPod& taken_for) {
  std::map<api::ObjectKey, admission::PodAmounts> found;
  auto rooms = rooms_of(workloads, taken_for);
  if (!rooms) return found;
  std::sort(pods.begin(), pods.end(), [](const PodPtr& a, const PodPtr& b) {
    return std::tie(a->metadata.creation_timestamp, a->metadata.name) <
           std::tie(b->metadata.creation_timestamp, b->metadata.name);
  });
  for (const PodPtr& pod : pods) {
    const api::StringMap* labels = labels_of(pod->spec.node_name);
    if (!labels) continue;
    const Room* place = take_place(&*rooms, *pod, *labels);
    admission::PodAmounts more =
        place ? beyond(pod->spec, place->taken) : admission::pod_amounts(pod->spec);
    if (!more.empty()) found.emplace(pod->metadata.key(), std::move(more));
  }
  return found;
}

}  // namespace regatta::lifecycle
