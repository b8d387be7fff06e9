#pragma once

#include "bench/ground.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regatta::bench {

struct ManagerFiles {
  std::filesystem::path folder;  ///< for its configuration and certificates
  std::filesystem::path kubeconfig;
  std::string more;  ///< further lines of its configuration
};

/// The command line of the measured manager of a cluster, Regatta's or Kueue's, once its files are
/// written. Both get the same configuration; Kueue's has no webhooks in use, as Regatta's.
Result<std::vector<std::string>> manager_command(const Ground& ground, ManagerFiles files);

}  // namespace regatta::bench
