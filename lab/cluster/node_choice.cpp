#include "lab/cluster/node_choice.h"

#include <algorithm>

namespace regatta::lab {
namespace {

/// The number of nodes that are checked for room when a full one is acceptable.
constexpr std::size_t tries_max = 16;

bool keeps_away(const api::Taint& taint, const api::PodSpec& pod) {
  if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return false;
  return std::none_of(pod.tolerations.begin(), pod.tolerations.end(),
                      [&](const auto& toleration) { return api::tolerates(toleration, taint); });
}

bool ended(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

}  // namespace

bool is_ready(const api::Node& node) {
  return api::is_true(node.status.conditions, "Ready");
}

bool suits(const api::Node& node, const api::PodSpec& pod) {
  if (node.spec.unschedulable || !is_ready(node)) return false;
  const auto& taints = node.spec.taints;
  if (std::any_of(taints.begin(), taints.end(),
                  [&](const api::Taint& taint) { return keeps_away(taint, pod); })) {
    return false;
  }
  return std::all_of(pod.node_selector.begin(), pod.node_selector.end(), [&](const auto& wanted) {
    return node.metadata.label(wanted.first) == wanted.second;
  });
}

bool has_room(const api::Node& node, const api::PodSpec& pod, const std::vector<PodPtr>& there) {
  auto needed = api::pod_request_amounts(pod);
  std::int64_t pods = 1;
  for (const PodPtr& other : there) {
    if (ended(*other)) continue;
    ++pods;
    for (const auto& [resource, amount] : api::pod_request_amounts(other->spec)) {
      const auto mine = needed.find(resource);
      if (mine != needed.end()) mine->second += amount;
    }
  }
  needed["pods"] = pods;
  const auto& offers = node.status.allocatable;
  return std::all_of(needed.begin(), needed.end(), [&](const auto& need) {
    const auto offer = offers.find(need.first);
    return offer == offers.end() || need.second <= api::resource_amount(need.first, offer->second);
  });
}

std::string choose_node(const std::vector<NodePtr>& nodes, const api::PodSpec& pod,
                        const NodeChoice& choice) {
  std::vector<const api::Node*> suitable;
  for (const NodePtr& node : nodes) {
    if (suits(*node, pod)) suitable.push_back(node.get());
  }
  if (suitable.empty()) return {};
  const std::size_t tries =
      choice.overfill ? std::min(tries_max, suitable.size()) : suitable.size();
  for (std::size_t i = 0; i < tries; ++i) {
    const api::Node& node = *suitable[(choice.start + i) % suitable.size()];
    if (has_room(node, pod, choice.pods_on(node.metadata.name))) return node.metadata.name;
  }
  return choice.overfill ? suitable[choice.start % suitable.size()]->metadata.name : std::string();
}

}  // namespace regatta::lab
