#pragma once

#include "lib/api/kueue.h"

#include <string>
#include <vector>

namespace regatta::lifecycle {

/// What decides whether an admission check of MultiKueue is active.
struct CheckView {
  std::string config_error;  ///< why its MultiKueueConfig cannot be used; empty when it can
  std::vector<std::string> clusters;  ///< listed, in order
  std::vector<std::string> missing;   ///< of those, without a MultiKueueCluster
  std::vector<std::string> inactive;  ///< of those, with one that is not Active
};

/// The Active condition: active with any usable cluster, and which ones are not.
api::Condition check_condition(const CheckView& view, std::int64_t generation);

}  // namespace regatta::lifecycle
