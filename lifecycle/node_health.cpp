#include "lifecycle/node_health.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::lifecycle {
namespace {

bool keeps_pods_away(const api::Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

bool tolerated(const api::Taint& taint, const std::vector<api::Toleration>& tolerations,
               bool forever) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const api::Toleration& one) {
    return !(forever && one.toleration_seconds) && api::tolerates(one, taint);
  });
}

/// Whether all pod sets there tolerate every taint of the node; `forever`: without a time limit.
bool tolerates_node(const PlaceView& view, bool forever) {
  const auto& taints = view.node->spec.taints;
  return std::all_of(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    if (!keeps_pods_away(taint)) return true;
    return std::all_of(view.tolerations.begin(), view.tolerations.end(),
                       [&](const auto& set) { return tolerated(taint, set, forever); });
  });
}

}  // namespace

bool is_suspect(const api::Node& node) {
  return !api::is_true(node.status.conditions, "Ready") ||
         std::any_of(node.spec.taints.begin(), node.spec.taints.end(), keeps_pods_away);
}

PlaceVerdict judge(const PlaceView& view, const NodeHealthOptions& options) {
  const bool needed = view.assigned && !view.given_back;
  // 1. The node is gone: everything on it is lost.
  const bool known = view.node && api::find_condition(view.node->status.conditions, "Ready");
  if (!known) return {needed, view.waiting};
  // 2. The workload is no longer assigned to the node: pods that were sent there must be created
  // again.
  if (!view.assigned) return {false, view.waiting};
  // 3. The node is not ready: lost as soon as no pod of the workload runs there.
  if (!api::is_true(view.node->status.conditions, "Ready")) {
    if (!options.on_pod_termination) return {needed, {}};
    return {needed && !view.progressing, view.waiting};
  }
  // 4. Taints: one that is tolerated for a limited time matters when the pods have gone.
  if (!options.on_taints || tolerates_node(view, true)) return {};
  if (!options.on_pod_termination && !tolerates_node(view, false)) return {needed, {}};
  return {needed && !view.progressing, view.waiting};
}

std::optional<StatusChange> note_node(const api::Workload& w, const std::string& host, bool lost,
                                      TimePoint now) {
  const std::vector<std::string>& nodes = w.status.unhealthy_nodes;
  const bool known = std::find(nodes.begin(), nodes.end(), host) != nodes.end();
  StatusChange change;
  if (!lost) {
    if (!known) return {};
    change.status = w.status;
    std::erase(change.status.unhealthy_nodes, host);
    return change;
  }
  if (known || is_finished(w) || is_evicted(w) || !is_reserved(w)) return {};
  if (nodes.empty()) {
    change.status = w.status;
    change.status.unhealthy_nodes.push_back(host);
    return change;
  }
  std::string list;
  for (const std::string& node : nodes) list += node + ", ";
  return evict(w, api::reasons::node_failures,
               "Workload eviction triggered due to multiple TAS assigned node failures, "
               "including: " +
                   list + host,
               now);
}

}  // namespace regatta::lifecycle
