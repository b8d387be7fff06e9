#pragma once

#include "lib/api/meta.h"

#include <optional>
#include <string>
#include <vector>

/// The clusters that Open Cluster Management (OCM) knows, and how accounts and rights there are
/// asked for: the fields that Regatta reads.
namespace regatta::api {

/// How an API server is reached.
struct ManagedClusterClient {
  std::string url;
  std::string ca_bundle;  ///< PEM
  friend bool operator==(const ManagedClusterClient&, const ManagedClusterClient&) = default;
};

struct ManagedClusterClaim {
  std::string name;
  std::string value;
  friend bool operator==(const ManagedClusterClaim&, const ManagedClusterClaim&) = default;
};

/// cluster.open-cluster-management.io/v1; its namespace on the hub has its name.
struct ManagedCluster {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  bool hub_accepts_client = false;
  std::vector<ManagedClusterClient> clients;
  std::vector<ManagedClusterClaim> claims;
  friend bool operator==(const ManagedCluster&, const ManagedCluster&) = default;
};

/// authentication.open-cluster-management.io/v1beta1: an account on the cluster of its namespace.
/// Its token comes into a Secret of the same name.
struct ManagedServiceAccount {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::string validity;  ///< of a token, as Go writes a duration
  Conditions conditions;
  std::optional<TimePoint> expires;
  friend bool operator==(const ManagedServiceAccount&, const ManagedServiceAccount&) = default;
};

/// A rule of a ClusterRole.
struct PolicyRule {
  std::vector<std::string> api_groups;
  std::vector<std::string> resources;
  std::vector<std::string> verbs;
  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

/// rbac.open-cluster-management.io/v1alpha1: rights on the cluster of its namespace.
struct ClusterPermission {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::vector<PolicyRule> rules;  ///< of its ClusterRole
  std::string subject_kind;       ///< of its ClusterRoleBinding
  std::string subject_name;
  Conditions conditions;
  friend bool operator==(const ClusterPermission&, const ClusterPermission&) = default;
};

namespace managed_clusters {
/// Of Secrets with the token of a ManagedServiceAccount: "true".
constexpr std::string_view token_label =
    "authentication.open-cluster-management.io/is-managed-serviceaccount";
/// Of a ManagedServiceAccount: its token also comes into the namespaces of its ClusterProfiles.
constexpr std::string_view sync_label =
    "authentication.open-cluster-management.io/sync-to-clusterprofile";
/// Of the hub's own ManagedCluster: "true".
constexpr std::string_view hub_label = "local-cluster";
constexpr std::string_view hub_name = "local-cluster";
/// A ClusterClaim: the UID of the cluster's namespace kube-system.
constexpr std::string_view id_claim = "id.k8s.io";
/// Conditions of a ClusterPermission that say whether the cluster has the rights.
constexpr std::string_view applied_by_work = "AppliedRBACManifestWork";
constexpr std::string_view applied = "Applied";

/// On what Regatta makes for a ManagedCluster: its name. Only what bears it is changed or removed.
constexpr std::string_view made_for_label = "multikueue.regatta.dev/made-for";
/// Condition of a MultiKueueCluster: what its credentials lack.
constexpr std::string_view credentials_lacking = "CredentialsLacking";
}  // namespace managed_clusters

}  // namespace regatta::api
