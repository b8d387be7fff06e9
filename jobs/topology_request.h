#pragma once

#include "lib/api/kueue_rules.h"
#include "lib/api/meta.h"
#include "lib/api/workload.h"
#include "lib/base/error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What the annotations of a pod template ask of the topology its pods are placed in.
namespace regatta::jobs {

struct TopologyOptions {
  bool enabled = true;      ///< TopologyAwareScheduling
  bool multi_layer = true;  ///< TASMultiLayerTopology: slices inside slices
};

/// How the pods of a pod set are numbered, so that neighbours by number become neighbours by place.
/// That is known of the kind of job, whatever its annotations say.
struct PodNumbering {
  std::optional<std::string> pod_index_label;
  std::optional<std::string> sub_group_index_label;
  std::optional<std::int32_t> sub_group_count;
  bool empty() const { return !pod_index_label && !sub_group_index_label && !sub_group_count; }
};

/// The topologyRequest of a pod set; nothing when neither annotations nor numbering say anything.
/// `invalid` for annotations that cannot be read; which of them may stand together is
/// check_topology()'s to say.
Result<std::optional<api::PodSetTopologyRequest>> topology_request(
    const api::StringMap& annotations, const PodNumbering& numbering,
    const TopologyOptions& options = {});

/// What is wrong with the topology annotations at `path` ("spec.template.metadata"), of a pod set
/// of `count` pods.
api::FieldErrors check_topology(const std::string& path, const api::StringMap& annotations,
                                std::int32_t count, const TopologyOptions& options = {});

/// What is wrong with groups: exactly two pod sets, one of them of one pod, with the same request.
/// `paths`: where each pod set's annotations are, by its name.
api::FieldErrors check_topology_groups(const std::vector<api::PodSet>& pod_sets,
                                       const std::map<std::string, std::string>& paths);

}  // namespace regatta::jobs
