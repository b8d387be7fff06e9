#pragma once

#include "lib/base/json.h"
#include "lib/kube/client.h"

#include <vector>

namespace regatta::lab {

inline constexpr const char* field_manager = "regatta-sandbox";

/// Applies objects as `kubectl apply --server-side` does, in the order given. Knows only the kinds
/// that sandboxes use.
class Applier {
 public:
  Applier(kube::Client& client, Clock& clock) : client_(client), clock_(clock) {}

  /// Waits until `deadline` for kinds that are not served yet.
  Task<Status> apply(std::vector<Json> objects, SteadyPoint deadline);

  /// Creates the missing CustomResourceDefinitions and waits until all are served.
  Task<Status> install_crds(std::vector<Json> crds, SteadyPoint deadline);

 private:
  Task<Status> apply_one(Json object, SteadyPoint deadline);
  Task<Status> wait_established(std::string crd, SteadyPoint deadline);

  kube::Client& client_;
  Clock& clock_;
};

}  // namespace regatta::lab
