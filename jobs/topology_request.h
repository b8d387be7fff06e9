#pragma once

#include "lib/api/field_errors.h"
#include "lib/api/meta.h"
#include "lib/api/workload.h"
#include "lib/base/error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What the annotations of a pod template ask for about the places of its pods in a topology.
namespace regatta::jobs {

struct TopologyOptions {
  bool enabled = true;      ///< TopologyAwareScheduling
  bool multi_layer = true;  ///< TASMultiLayerTopology: slices inside slices
};

/// How the pods of a pod set are numbered, so that pods with neighbouring numbers get neighbouring
/// places. It depends on the kind of job, not on annotations.
struct PodNumbering {
  std::optional<std::string> pod_index_label;
  std::optional<std::string> sub_group_index_label;
  std::optional<std::int32_t> sub_group_count;
  bool empty() const { return !pod_index_label && !sub_group_index_label && !sub_group_count; }
};

/// The topologyRequest of a pod set; nothing when neither annotations nor numbering ask for one.
/// `invalid` when an annotation cannot be read. check_topology() decides which of them may be used
/// together.
Result<std::optional<api::PodSetTopologyRequest>> topology_request(
    const api::StringMap& annotations, const PodNumbering& numbering,
    const TopologyOptions& options = {});

/// The errors in the topology annotations at `path` ("spec.template.metadata") of a pod set of
/// `count` pods.
api::FieldErrors check_topology(const std::string& path, const api::StringMap& annotations,
                                std::int32_t count, const TopologyOptions& options = {});

/// The errors in groups of pod sets. A group is exactly two pod sets with the same request, and one
/// of them has a single pod. `paths`: where the annotations of each pod set are, by its name.
api::FieldErrors check_topology_groups(const std::vector<api::PodSet>& pod_sets,
                                       const std::map<std::string, std::string>& paths);

}  // namespace regatta::jobs
