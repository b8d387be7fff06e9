#pragma once

#include "lib/api/labels.h"
#include "lib/api/meta.h"
#include "placement/room.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::placement {

/// Annotations of a Workload or a job. Kueue proposes the first: the only MultiKueueClusters that
/// may run it, separated by commas.
inline constexpr std::string_view cluster_names_annotation =
    "kueue.x-k8s.io/multikueue-cluster-names";
/// Label selectors, and names separated by commas, of MultiKueueClusters.
inline constexpr std::string_view cluster_selector_annotation =
    "multikueue.regatta.dev/cluster-selector";
inline constexpr std::string_view preferred_names_annotation =
    "multikueue.regatta.dev/preferred-cluster-names";
inline constexpr std::string_view preferred_selector_annotation =
    "multikueue.regatta.dev/preferred-cluster-selector";
/// "true" or "false": how it may not get room on a worker.
inline constexpr std::string_view must_not_borrow_annotation =
    "multikueue.regatta.dev/must-not-borrow";
inline constexpr std::string_view must_not_preempt_annotation =
    "multikueue.regatta.dev/must-not-preempt";

/// Which workers a workload asks for itself. The MultiKueueConfig bounds all of it.
struct Affinity {
  std::vector<std::string> required_names;   ///< empty: any
  api::Selector required;                    ///< on the labels of the MultiKueueCluster
  std::vector<std::string> preferred_names;  ///< best first
  api::Selector preferred;                   ///< counts after the names; matches everything: none
  RoomLimits limits;

  bool allows(const std::string& cluster, const api::StringMap& labels) const;
  /// 0 for what the workload likes best, and more for what it likes less.
  std::size_t preference(const std::string& cluster, const api::StringMap& labels) const;
};

/// Reads the annotations of a workload. What cannot be read is an error, never "no such wish": an
/// annotation only ever narrows where a workload may go.
Result<Affinity> affinity_of(const api::StringMap& annotations);

}  // namespace regatta::placement
