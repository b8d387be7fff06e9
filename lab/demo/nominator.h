#pragma once

#include "lib/api/workload.h"
#include "lib/base/log.h"
#include "lib/kube/client.h"
#include "lib/kube/informer.h"
#include "lib/runtime/wakeup.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::lab {

/// The workers that an external dispatcher nominates for a workload next: first one, which the key
/// decides, later all. Nullopt when there is nothing to write.
std::optional<std::vector<std::string>> nominate(const api::Workload& workload,
                                                 const std::vector<std::string>& workers,
                                                 TimePoint now);

/// A dispatcher of the kind that a user may write: it only writes status.nominatedClusterNames,
/// with a field manager of its own.
class Nominator {
 public:
  Nominator(kube::Client& client, Clock& clock, const kube::Informer<api::Workload>& workloads,
            std::vector<std::string> workers)
      : client_(client), clock_(clock), workloads_(workloads), workers_(std::move(workers)) {}

  /// Runs until cancelled.
  Task<> run();

 private:
  Task<Status> write(api::ObjectKey key, std::vector<std::string> nominated);

  kube::Client& client_;
  Clock& clock_;
  const kube::Informer<api::Workload>& workloads_;
  std::vector<std::string> workers_;
  /// Writes that are not yet visible in the informer.
  std::map<api::ObjectKey, std::size_t> written_;
};

}  // namespace regatta::lab
