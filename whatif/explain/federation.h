#pragma once

#include "whatif/manifests/objects.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

/// A worker as the hub's objects have it: what the worker itself says is not asked.
struct WorkerView {
  std::string name;
  bool nominated = false;  ///< may try
  bool winner = false;     ///< runs the workload, or is about to
  bool exists = false;     ///< there is a MultiKueueCluster of that name
  bool connected = false;
  std::string reason;  ///< of its Active condition
  std::string message;
};

/// What a hub does with a workload that other clusters run.
struct FederationView {
  std::string check;   ///< the AdmissionCheck of MultiKueue
  std::string config;  ///< the MultiKueueConfig it names
  bool config_exists = false;
  std::string winner;               ///< empty: none yet
  std::vector<WorkerView> workers;  ///< in the order of the configuration, then others it names
};

/// Nothing when no check of the workload, among `checks`, is MultiKueue's.
std::optional<FederationView> federation_of(const std::vector<Object>& objects,
                                            const api::Workload& workload,
                                            const std::vector<std::string>& checks);

}  // namespace regatta::whatif
