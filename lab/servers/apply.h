#pragma once

#include "lib/base/json.h"
#include "lib/kube/client.h"

#include <vector>

namespace regatta::lab {

inline constexpr const char* field_manager = "regatta-sandbox";

/// Puts objects into a cluster as `kubectl apply --server-side` does, in the order given. Knows the
/// kinds that sandboxes are made of.
class Applier {
 public:
  Applier(kube::Client& client, Clock& clock) : client_(client), clock_(clock) {}

  /// Until `deadline` it waits for kinds that are not served yet.
  Task<Status> apply(std::vector<Json> objects, TimePoint deadline);

  /// Creates the CustomResourceDefinitions that are missing and waits until all are served.
  Task<Status> install_crds(std::vector<Json> crds, TimePoint deadline);

 private:
  Task<Status> apply_one(Json object, TimePoint deadline);
  Task<Status> wait_established(std::string crd, TimePoint deadline);

  kube::Client& client_;
  Clock& clock_;
};

}  // namespace regatta::lab
