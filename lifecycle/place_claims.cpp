#include "lifecycle/place_claims.h"

#include "admission/topology/assignment.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace regatta::lifecycle {
namespace {

/// The places of one pod set, and how many pods may still be there.
struct Room {
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
    const std::vector<std::shared_ptr<const api::Workload>>& workloads) {
  std::vector<Room> rooms;
  for (const auto& workload : workloads) {
    for (const auto& set : workload->status.admission->pod_set_assignments) {
      if (!set.topology_assignment) continue;
      auto places = admission::expand(*set.topology_assignment);
      if (!places) return std::nullopt;
      Room& room = rooms.emplace_back();
      room.levels = std::move(places->levels);
      for (auto& domain : places->domains) room.left[std::move(domain.values)] += domain.count;
    }
  }
  return rooms;
}

}  // namespace

bool takes_places(const api::Workload& workload) {
  if (!is_reserved(workload) || is_finished(workload) || !workload.status.admission) return false;
  const auto& sets = workload.status.admission->pod_set_assignments;
  return std::any_of(sets.begin(), sets.end(),
                     [](const auto& set) { return set.topology_assignment.has_value(); });
}

std::set<api::ObjectKey> beyond_places(
    const std::vector<std::shared_ptr<const api::Workload>>& workloads, std::vector<PodPtr> pods,
    const NodeLabels& labels_of) {
  std::set<api::ObjectKey> beyond;
  auto rooms = rooms_of(workloads);
  if (!rooms) return beyond;
  std::sort(pods.begin(), pods.end(), [](const PodPtr& a, const PodPtr& b) {
    return std::tie(a->metadata.creation_timestamp, a->metadata.name) <
           std::tie(b->metadata.creation_timestamp, b->metadata.name);
  });
  for (const PodPtr& pod : pods) {
    const api::StringMap* labels = labels_of(pod->spec.node_name);
    if (!labels) continue;
    const bool has_place =
        std::any_of(rooms->begin(), rooms->end(), [&](Room& room) { return room.take(*labels); });
    if (!has_place) beyond.insert(pod->metadata.key());
  }
  return beyond;
}

}  // namespace regatta::lifecycle
