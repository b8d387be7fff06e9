#pragma once

#include "lib/api/resource.h"
#include "lib/kube/client.h"

#include <string>
#include <vector>

namespace regatta::lab {

/// A resource as discovery lists it; owns its texts.
struct DiscoveredResource {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;
  bool namespaced = true;
  std::vector<std::string> verbs;

  /// Refers to this object, which must not move.
  api::ResourceInfo info() const { return {group, version, kind, plural, namespaced}; }
  bool can(std::string_view verb) const;
};

/// Every resource of the server, in the preferred version of its group.
Task<Result<std::vector<DiscoveredResource>>> discover(kube::Client& client);

}  // namespace regatta::lab
