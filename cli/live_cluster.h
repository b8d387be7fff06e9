#pragma once

#include "lib/base/clock.h"
#include "whatif/snapshot/cluster_reader.h"

#include <memory>
#include <string>

namespace regatta::cli {

/// Which cluster a user means, as kubectl's flags say it.
struct LiveClusterFlags {
  std::string kubeconfig;
  std::string context;
};

struct LiveCluster {
  whatif::ClusterPicture picture;
  TimePoint at{};
};

/// Reads it, and says on standard error what is wrong when that fails.
Task<Result<LiveCluster>> read_live_cluster(LiveClusterFlags flags, whatif::ReadOptions options);

}  // namespace regatta::cli
