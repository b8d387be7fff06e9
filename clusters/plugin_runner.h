#pragma once

#include "lib/api/cluster_profile.h"
#include "lib/base/clock.h"
#include "lib/runtime/child_process.h"
#include "lib/runtime/wakeup.h"

#include <string>

namespace regatta::clusters {

/// Runs credential plugins. Tests replace the processes here.
class PluginRunner {
 public:
  virtual ~PluginRunner() = default;
  /// What the plugin printed, a secret. The Error says how it failed, and holds nothing of what it
  /// printed on standard output. `exec_info` becomes $KUBERNETES_EXEC_INFO.
  virtual Task<Result<std::string>> run(api::ExecPlugin plugin, std::string exec_info) = 0;
};

/// Runs them as processes, a few at once; the others wait.
class ProcessPluginRunner final : public PluginRunner {
 public:
  ProcessPluginRunner(const Executor& executor, Clock& clock, ChildLimits limits = {});
  Task<Result<std::string>> run(api::ExecPlugin plugin, std::string exec_info) override;

  static constexpr int at_once_max = 8;

 private:
  Clock& clock_;
  ChildLimits limits_;
  int running_ = 0;
  Wakeup ended_;
};

}  // namespace regatta::clusters
