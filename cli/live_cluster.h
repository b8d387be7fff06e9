#pragma once

#include "lib/base/clock.h"
#include "whatif/snapshot/cluster_reader.h"

#include <memory>
#include <string>

namespace regatta::cli {

/// The cluster that the user means, in kubectl's flags.
struct LiveClusterFlags {
  std::string kubeconfig;
  std::string context;
};

struct LiveCluster {
  whatif::ClusterPicture picture;
  TimePoint at{};
};

/// Reads the cluster. A failure is printed on standard error.
Task<Result<LiveCluster>> read_live_cluster(LiveClusterFlags flags, whatif::ReadOptions options);

}  // namespace regatta::cli
