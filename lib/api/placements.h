#pragma once

#include "lib/api/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Where schedulers of whole clusters say which clusters they chose: the Placements of Open Cluster
/// Management, and the decisions of SIG Multicluster. The fields that Regatta reads.
namespace regatta::api {

constexpr std::string_view placement_group = "cluster.open-cluster-management.io";
/// controllerName of the admission checks that name a Placement.
constexpr std::string_view placement_controller_name = "open-cluster-management.io/placement";

struct PlacementStatus {
  std::int32_t number_of_selected_clusters = 0;
  Conditions conditions;
  friend bool operator==(const PlacementStatus&, const PlacementStatus&) = default;
};

/// cluster.open-cluster-management.io/v1beta1
struct Placement {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  PlacementStatus status;
  friend bool operator==(const Placement&, const Placement&) = default;
};

struct ClusterDecision {
  std::string cluster_name;
  std::optional<std::int64_t> score;
  friend bool operator==(const ClusterDecision&, const ClusterDecision&) = default;
};

struct PlacementDecisionStatus {
  std::vector<ClusterDecision> decisions;
  friend bool operator==(const PlacementDecisionStatus&, const PlacementDecisionStatus&) = default;
};

/// cluster.open-cluster-management.io/v1beta1: a part of what a Placement has decided.
struct PlacementDecision {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  PlacementDecisionStatus status;
  friend bool operator==(const PlacementDecision&, const PlacementDecision&) = default;
};

struct ProfileDecision {
  std::string profile;  ///< clusterProfileRef.name
  friend bool operator==(const ProfileDecision&, const ProfileDecision&) = default;
};

/// PlacementDecision of multicluster.x-k8s.io/v1alpha1, which has no status.
struct ProfilePlacementDecision {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::vector<ProfileDecision> decisions;
  friend bool operator==(const ProfilePlacementDecision&,
                         const ProfilePlacementDecision&) = default;
};

/// Labels of both kinds of decisions.
namespace placements {
constexpr std::string_view placement_label = "cluster.open-cluster-management.io/placement";
constexpr std::string_view group_index_label =
    "cluster.open-cluster-management.io/decision-group-index";
constexpr std::string_view group_name_label =
    "cluster.open-cluster-management.io/decision-group-name";
constexpr std::string_view decision_key_label = "multicluster.x-k8s.io/decision-key";
constexpr std::string_view decision_index_label = "multicluster.x-k8s.io/decision-index";
constexpr std::string_view placement_key_label = "multicluster.x-k8s.io/placement-key";
constexpr std::string_view satisfied_condition = "PlacementSatisfied";
}  // namespace placements

}  // namespace regatta::api
