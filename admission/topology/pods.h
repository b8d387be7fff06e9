#pragma once

#include "admission/units/counted.h"
#include "lib/api/pod.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace regatta::admission {

/// What a pod takes from its node, by the names of resources.
using PodAmounts = std::map<std::string, Amount>;
/// What it requests, and one of "pods".
PodAmounts pod_amounts(const api::PodSpec& spec);

/// What one pod of a pod set requires of its node. Immutable, shared by all equal pods.
struct PodProfile {
  std::uint64_t id = 0;  ///< never reused
  std::string text;      ///< equal texts, equal profiles
  /// As in the pod's spec, without transformations and excluded resources, which do not matter to
  /// nodes; plus one of "pods". Sorted by name.
  std::vector<ResourceAmount> requests;
  std::vector<api::Toleration> tolerations;
  api::StringMap node_selector;
  std::optional<std::vector<api::NodeSelectorTerm>> node_affinity;
};
using PodProfilePtr = std::shared_ptr<const PodProfile>;

/// The name of a leaf, independent of trees: a hostname means the same in all flavors.
using PlaceId = std::uint32_t;

struct PlacedPods {
  PlaceId place = 0;
  std::int32_t count = 0;
  friend bool operator==(const PlacedPods&, const PlacedPods&) = default;
};

/// The places of a pod set's pods, or places that it could get.
struct PodPlaces {
  FlavorId flavor = 0;
  PodProfilePtr pods;
  std::shared_ptr<const std::vector<std::string>> levels;  ///< levels of the places' values
  std::vector<PlacedPods> places;                          ///< in the order of the tree
};

class PodProfiles {
 public:
  /// A profile lives as long as it has holders. `spec` must already have limits without requests as
  /// requests (pod_defaults.h).
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
