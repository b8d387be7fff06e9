#pragma once

#include "lib/base/json.h"
#include "lib/kube/client.h"
#include "lib/runtime/wakeup.h"

#include <chrono>
#include <map>
#include <string>

namespace regatta::bench {

using Instant = std::chrono::steady_clock::time_point;

/// The states of the hub's Workloads, by the name of their Job, as a watch shows them.
class Watcher {
 public:
  Watcher(kube::Client& client, Executor executor) : client_(client), changed_(executor) {}

  /// Runs until the watch ends; error() has its failure.
  Task<> run();
  const std::string& error() const { return error_; }

  std::size_t seen() const { return seen_.size(); }
  const std::map<std::string, Instant>& admitted() const { return admitted_; }
  std::size_t finished() const { return finished_.size(); }
  Wakeup& changed() { return changed_; }

 private:
  void note(const Json& workload);

  kube::Client& client_;
  Wakeup changed_;
  std::map<std::string, Instant> seen_, admitted_, finished_;
  std::string error_;
};

}  // namespace regatta::bench
