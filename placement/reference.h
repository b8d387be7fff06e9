#pragma once

#include "lib/api/multikueue.h"
#include "placement/decisions.h"

#include <string>
#include <vector>

namespace regatta::placement {

/// Where a workload's Placement may be named.
struct Naming {
  std::string ns;                                            ///< of the workload
  std::string system_namespace;                              ///< where checks find their Placements
  api::StringMap workload, job, local_queue, cluster_queue;  ///< annotations
  /// The workload's admission checks that name Placements.
  std::vector<api::AdmissionCheckSpec> checks;
};

/// The Placements of a workload. The first gives the order: that of the nearest annotation
/// (Workload, job, LocalQueue, ClusterQueue), or else of the first check. Each check narrows: a
/// cluster must be chosen by the Placements of all of them. Empty when nothing names one.
///
/// An annotation of the workload or its job names a Placement of their own namespace, one of a
/// queue may write "namespace/name". The error says which name is wrong.
Result<std::vector<Reference>> references(const Naming& naming);

/// The Placement of one check, which lies in the system's namespace.
Result<Reference> reference_of(const api::AdmissionCheckSpec& check,
                               const std::string& system_namespace);

}  // namespace regatta::placement
