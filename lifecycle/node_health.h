#pragma once

#include "lib/api/core.h"
#include "lib/api/workload.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/ungate_plan.h"

#include <optional>
#include <string>
#include <vector>

/// Whether a workload can go on using a node on which its pods are placed.
namespace regatta::lifecycle {

struct NodeHealthOptions {
  bool replace = true;             ///< TASFailedNodeReplacement
  bool on_pod_termination = true;  ///< TASReplaceNodeOnPodTermination: while pods run, wait
  bool on_taints = true;           ///< TASReplaceNodeOnNodeTaints
};

/// A node as one workload sees it.
struct PlaceView {
  const api::Node* node = nullptr;  ///< null when it is gone
  bool assigned = false;            ///< the workload's admission has pods there
  /// What was placed there has been given back: the pods that will yet run have places elsewhere.
  bool given_back = false;
  bool progressing = false;     ///< a pod of the workload runs there and was not asked to end
  std::vector<PodPtr> waiting;  ///< pods sent there and not scheduled yet
  /// The tolerations of the pods placed there, by pod set.
  std::vector<std::vector<api::Toleration>> tolerations;
};

struct PlaceVerdict {
  bool lost = false;           ///< the pods there need another place
  std::vector<PodPtr> doomed;  ///< pods that will never run where they were sent
};

PlaceVerdict judge(const PlaceView& view, const NodeHealthOptions& options = {});

/// The status with the verdict about the node `host`: a first lost node is to be replaced, a second
/// one evicts; a node that recovered is forgotten. Nothing when the status stays as it is.
std::optional<StatusChange> note_node(const api::Workload& workload, const std::string& host,
                                      bool lost, TimePoint now);

/// Whether the node is in a state in which a workload may lose it.
bool is_suspect(const api::Node& node);

}  // namespace regatta::lifecycle
