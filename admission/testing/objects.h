#pragma once

#include "admission/state.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"

#include <map>
#include <string>
#include <string_view>

namespace regatta::admission::testing {

/// The creation time of objects that state none.
constexpr TimePoint start{std::chrono::hours(24 * 365 * 56)};

/// A State that is loaded from YAML, and the Workloads as they were read. Namespace `dev` and
/// ResourceFlavor `default` exist from the beginning. Unreadable objects throw.
struct Loaded {
  explicit Loaded(std::string_view yaml = "", Config config = {});

  /// Adds or replaces; Workloads get the UID "uid-<name>" and `start` as creation time, unless the
  /// YAML states them.
  void load(std::string_view yaml);
  const api::Workload& workload(const std::string& name) const {
    return workloads.at({"dev", name});
  }

  State state;
  std::map<api::ObjectKey, api::Workload> workloads;
};

/// YAML of a ClusterQueue with `cpus` of flavor `default` for all namespaces; `more` are lines of
/// its spec, each indented by two.
std::string queue_yaml(const std::string& name, int cpus, const std::string& more = "");
/// A LocalQueue of namespace dev. It has the name of its ClusterQueue unless `name` is given.
std::string local_queue_yaml(const std::string& cluster_queue, const std::string& name = "");
/// A pending Workload of namespace dev.
std::string workload_yaml(const std::string& name, const std::string& local_queue, int cpus,
                          int priority = 0);
/// A Workload that was admitted `since` minutes after `start`, with `cpus` of that flavor.
std::string running_yaml(const std::string& name, const std::string& queue, int cpus,
                         int priority = 0, int since = 1, const std::string& flavor = "default");

}  // namespace regatta::admission::testing
