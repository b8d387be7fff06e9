#pragma once

#include "lib/api/labels.h"
#include "lib/api/meta.h"
#include "placement/room.h"

#include <string>
#include <vector>

namespace regatta::placement {

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

/// Reads the annotations of a workload (lib/api/own_names.h has them). What cannot be read is an
/// error, never "no such wish": an annotation only ever narrows where a workload may go. That is
/// also what an annotation is of more than 64 KiB, or of more than 256 names or requirements.
Result<Affinity> affinity_of(const api::StringMap& annotations);

}  // namespace regatta::placement
