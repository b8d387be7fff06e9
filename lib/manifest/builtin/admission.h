#pragma once

#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {

/// The stored objects that the built-in admission steps look at.
class AdmissionView {
 public:
  virtual ~AdmissionView() = default;
  /// Null when there is none. `resource` is "priorityclasses.scheduling.k8s.io".
  virtual const Json* find(std::string_view resource, std::string_view ns,
                           std::string_view name) const = 0;
  virtual void each(std::string_view resource, std::string_view ns,
                    const std::function<void(const Json&)>& visit) const = 0;
};

/// What the real server's default admission plugins do to a new object: a pod's priority from its
/// class, LimitRange defaults and bounds, ResourceQuota counts. It runs between set_defaults and
/// prepare_for_create, with the namespace already in metadata. A text refuses the object (403); it
/// follows `pods "p" is forbidden: `.
std::optional<std::string> admit_create(std::string_view resource, Json& object,
                                        const AdmissionView& view);

/// An object every cluster has from its start.
struct SeedObject {
  std::string group;
  std::string version;
  std::string plural;
  Json object;
};
std::vector<SeedObject> seed_objects();

}  // namespace regatta::manifest
