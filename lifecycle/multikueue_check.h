#pragma once

#include "lib/api/kueue.h"

#include <string>
#include <vector>

namespace regatta::lifecycle {

/// The inputs that decide whether an admission check of MultiKueue is active.
struct CheckView {
  std::string config_error;  ///< why its MultiKueueConfig cannot be used; empty when it can
  std::vector<std::string> clusters;  ///< listed, in order
  std::vector<std::string> missing;   ///< those of them without a MultiKueueCluster
  std::vector<std::string> inactive;  ///< those of them whose MultiKueueCluster is not Active
};

/// The Active condition: True when any cluster is usable. The message names the clusters that are
/// not.
api::Condition check_condition(const CheckView& view, std::int64_t generation);

}  // namespace regatta::lifecycle
