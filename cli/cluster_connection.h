#pragma once

#include "kubeconfig/connection.h"
#include "lib/base/rng.h"

#include <memory>
#include <string>

namespace regatta::cli {

/// A cluster as a user names it, in kubectl's way.
struct ClusterFlags {
  std::string kubeconfig;
  std::string context;
};

/// Connections of one command. `executor`, clock and random numbers are the command's own.
class Connections {
 public:
  explicit Connections(Executor executor) : executor_(std::move(executor)) {}

  Result<std::unique_ptr<kubeconfig::Connection>> open(const ClusterFlags& flags);
  Result<std::unique_ptr<kubeconfig::Connection>> open(kubeconfig::Endpoint endpoint);
  Clock& clock() { return clock_; }

 private:
  Executor executor_;
  SystemClock clock_;
  Rng rng_ = Rng::from_system();
};

}  // namespace regatta::cli
