#pragma once

#include "admission/units/counted.h"
#include "lib/api/pod.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace regatta::admission {

/// What one pod of a pod set asks of the node it runs on. Immutable, shared by all alike.
struct PodProfile {
  std::uint64_t id = 0;  ///< never used twice
  std::string text;      ///< equal texts, equal profiles
  /// As the pod's spec has them, plus one of "pods": nodes know nothing of transformations and
  /// excluded resources. By name.
  std::vector<ResourceAmount> requests;
  std::vector<api::Toleration> tolerations;
  api::StringMap node_selector;
  std::optional<std::vector<api::NodeSelectorTerm>> node_affinity;
};
using PodProfilePtr = std::shared_ptr<const PodProfile>;

/// A leaf of topologies by name, whatever tree it is in: hostnames mean the same to all flavors.
using PlaceId = std::uint32_t;

struct PlacedPods {
  PlaceId place = 0;
  std::int32_t count = 0;
  friend bool operator==(const PlacedPods&, const PlacedPods&) = default;
};

/// Where the pods of a pod set are, or would be.
struct PodPlaces {
  FlavorId flavor = 0;
  PodProfilePtr pods;
  std::shared_ptr<const std::vector<std::string>> levels;  ///< of the values of the places
  std::vector<PlacedPods> places;                          ///< in order of the tree
};

class PodProfiles {
 public:
  /// A profile lives as long as its holders. Limits without requests must be requests already.
  PodProfilePtr intern(const api::PodSpec& spec, Names* names);
  /// A profile with what admission checks add to the pods.
  PodProfilePtr intern(const PodProfile& base, const std::vector<api::Toleration>& tolerations,
                       const api::StringMap& node_selector);

 private:
  using Known = std::unordered_map<std::string_view, std::weak_ptr<const PodProfile>>;
  PodProfilePtr share(std::unique_ptr<PodProfile> profile);

  std::shared_ptr<Known> known_ = std::make_shared<Known>();
  std::uint64_t last_id_ = 0;
};

}  // namespace regatta::admission
