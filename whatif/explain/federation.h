#pragma once

#include "whatif/manifests/objects.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

/// A worker according to the hub's objects; the worker itself is not asked.
struct WorkerView {
  std::string name;
  bool nominated = false;  ///< may try the workload
  bool winner = false;     ///< runs the workload, or is about to
  bool exists = false;     ///< there is a MultiKueueCluster of that name
  bool connected = false;
  std::string reason;  ///< of its Active condition
  std::string message;
};

/// How a hub dispatches a workload.
struct FederationView {
  std::string check;   ///< the AdmissionCheck of MultiKueue
  std::string config;  ///< the MultiKueueConfig that it names
  bool config_exists = false;
  std::string winner;               ///< empty: none yet
  std::string told;                 ///< the message of the condition Dispatched; or empty
  std::vector<WorkerView> workers;  ///< in config order, then others the workload names
};

/// Unset when no check of the workload, among `checks`, is MultiKueue's.
std::optional<FederationView> federation_of(const std::vector<Object>& objects,
                                            const api::Workload& workload,
                                            const std::vector<std::string>& checks);

}  // namespace regatta::whatif
