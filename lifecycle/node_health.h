#pragma once

#include "lib/api/core.h"
#include "lib/api/workload.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/ungate_plan.h"

#include <string>
#include <vector>

/// Whether a workload can go on using a node that its pods are placed on.
namespace regatta::lifecycle {

struct NodeHealthOptions {
  bool replace = true;             ///< TASFailedNodeReplacement
  bool on_pod_termination = true;  ///< TASReplaceNodeOnPodTermination: while pods run, wait
  bool on_taints = true;           ///< TASReplaceNodeOnNodeTaints
};

/// A node as one workload sees it.
struct PlaceView {
  const api::Node* node = nullptr;  ///< null: gone
  bool assigned = false;            ///< its admission has pods there
  bool progressing = false;         ///< a pod of it runs there and was not asked to end
  std::vector<PodPtr> waiting;      ///< sent there, not scheduled yet
  /// What the pods placed there tolerate, by pod set.
  std::vector<std::vector<api::Toleration>> tolerations;
};

struct PlaceVerdict {
  bool lost = false;           ///< its pods there need another place
  std::vector<PodPtr> doomed;  ///< will never run where they were sent
};

PlaceVerdict judge(const PlaceView& view, const NodeHealthOptions& options = {});

/// Writes the verdict about the node `host` into the status: a first lost node is to be replaced, a
/// second one evicts; a node that is well again is forgotten. Whether anything changed.
bool note_node(api::Workload* workload, const std::string& host, bool lost, TimePoint now,
               std::vector<Note>* notes);

/// Whether something about the node can make a workload lose it.
bool is_suspect(const api::Node& node);

}  // namespace regatta::lifecycle
