#pragma once

#include "operate/examination.h"
#include "operate/registration.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::operate {

struct DoctorDeps {
  kube::Client& hub;
  Clock& clock;
  TryToken open;  ///< connects to a worker
  std::string hub_ns = "kueue-system";
  /// Administrators' endpoints of workers, for what the hub's account may not read there.
  std::map<std::string, kubeconfig::Endpoint> administrators;
  /// Kinds of jobs that the hub sends, as integrations.frameworks names them.
  std::vector<std::string> frameworks = {"batch/job"};
};

/// What Jobs of the hub need on one worker.
struct Needs {
  std::set<std::pair<std::string, std::string>> queues;  ///< namespace and LocalQueue
  std::set<std::string> priority_classes;                ///< WorkloadPriorityClasses
  std::set<std::string> pod_priority_classes;
};

/// What the checks of the hub tell those of the workers.
struct Picture {
  std::vector<Json> workers;           ///< MultiKueueClusters
  std::map<std::string, Needs> needs;  ///< by worker
  std::optional<Duration> ahead;       ///< of our clock
};

/// Looks at a hub and every worker of it. Nothing is written: creations are dry runs, or reviews,
/// which are not stored. An Error when the hub cannot be asked at all.
Task<Result<Examination>> examine(DoctorDeps deps);

// The parts of it.
Task<Picture> examine_hub(DoctorDeps deps, Examination* out);
Task<> examine_servers(DoctorDeps deps, Examination* out);  ///< webhooks and certificates
Task<> examine_worker(DoctorDeps deps, Json member, Needs needs, std::optional<Duration> hub_ahead,
                      Examination* out);
/// The ClusterProfile that a worker is made of. Which plugin has its credentials, and whether they
/// are any good, is known to the manager alone: its condition says so.
Task<> examine_profile(DoctorDeps deps, std::string worker, std::string name, Examination* out);

}  // namespace regatta::operate
