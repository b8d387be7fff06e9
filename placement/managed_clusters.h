#pragma once

#include "lib/api/cluster_profile.h"
#include "lib/api/core.h"
#include "lib/api/labels.h"
#include "lib/api/managed_clusters.h"
#include "lib/api/multikueue.h"
#include "lib/api/worker_rights.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// From a ManagedCluster of Open Cluster Management (OCM) to a MultiKueueCluster with credentials:
/// what is asked of OCM, what is made of its answer, and when that goes again. What others made is
/// never changed or removed, and nothing goes while workloads are there.
namespace regatta::placement {

enum class Connection {
  direct,          ///< the first URL of the ManagedCluster
  proxy,           ///< a path of OCM's cluster-proxy
  cluster_profile  ///< as the ClusterProfile says, with credentials of a plugin
};

/// How a worker is reached. Holds a secret: never logged, no formatter.
struct WorkerAccess {
  std::string server;
  std::string ca_pem;
  std::string token;
};

struct ManagedClusterRules {
  /// Accounts and rights are asked for; otherwise those that others ask for are used.
  bool request = true;
  Connection connection = Connection::direct;
  std::string account = "multikueue";  ///< also the name of the ClusterPermission
  Duration token_validity = std::chrono::hours(8640);
  std::string proxy_url;  ///< without a slash at the end
  std::string proxy_ca_config_map = "kube-root-ca.crt";
  api::Selector selector;                    ///< of ManagedClusters
  std::vector<api::FrameworkResource> jobs;  ///< the kinds of jobs that are sent
  std::string system_namespace;
  /// A kubeconfig whose cluster has that name.
  std::function<std::string(const WorkerAccess&, const std::string& name)> write_kubeconfig;
};

/// All that is known of one cluster. Null: there is none, as far as is known.
struct ManagedClusterView {
  std::string name;
  std::string hub_uid;  ///< of the hub's namespace kube-system; empty: not known
  std::shared_ptr<const api::ManagedCluster> cluster;
  bool gone = false;  ///< there is certainly no such ManagedCluster
  bool accounts_served = true, permissions_served = true;
  std::shared_ptr<const api::ManagedServiceAccount> account;
  std::shared_ptr<const api::ClusterPermission> permission;
  std::shared_ptr<const api::Secret> token;  ///< of the account, in the cluster's namespace
  std::shared_ptr<const api::ClusterProfile> profile;
  bool profile_token = false;  ///< OCM has copied the token into the manager's namespace
  std::string proxy_ca;        ///< PEM
  std::shared_ptr<const api::Secret> kubeconfig;  ///< kubeconfig_secret_of() it
  std::shared_ptr<const api::MultiKueueCluster> member;
  std::string other_member;   ///< a MultiKueueCluster of another name that leads to this cluster
  std::size_t workloads = 0;  ///< unfinished ones that are there, or may get there at any moment
};

/// One write on the hub. The body may hold a secret: never logged.
struct ManagedClusterStep {
  enum class Verb { create, patch, remove };
  Verb verb = Verb::create;
  const api::ResourceInfo* resource = nullptr;
  api::ObjectKey key;
  Json body;        ///< the object, or a merge patch that applies to what was seen and nothing else
  std::string uid;  ///< of what is removed, with its version
  std::string resource_version;

  /// "created Secret kueue-system/multikueue-east".
  std::string str() const;
};

/// What is in the way of a worker, and what to do.
struct ManagedClusterLack {
  std::string reason;
  std::string message;
  friend bool operator==(const ManagedClusterLack&, const ManagedClusterLack&) = default;
};

struct ManagedClusterPlan {
  std::vector<ManagedClusterStep> steps;  ///< in order; after a failure the rest waits
  std::optional<ManagedClusterLack> lack;
  /// Whether the lack is told by the MultiKueueCluster; otherwise by the ManagedCluster.
  bool told_by_member = false;
  /// The ManagedCluster must be read before anything can be decided.
  bool confirm = false;
};

/// 1. The hub itself gets nothing.
/// 2. A ManagedCluster that is being deleted, or is certainly gone, loses what was made for it: the
///    MultiKueueCluster, its Secret, the rights and the account, in that order, and not before no
///    workload is there. Until then its credentials are kept.
/// 3. A cluster that has a MultiKueueCluster of others gets nothing.
/// 4. One that is accepted and selected gets an account and rights, if they are asked for.
/// 5. With a token, applied rights and a way to its server it gets the Secret and the
///    MultiKueueCluster. Once there, they stay whatever is lacking, and follow what changes.
/// 6. One that is no longer accepted or selected keeps what it has.
ManagedClusterPlan managed_cluster_plan(const ManagedClusterView& view,
                                        const ManagedClusterRules& rules, TimePoint now);

/// "multikueue-<cluster>", in the manager's namespace.
std::string kubeconfig_secret_of(const std::string& cluster);
/// Whether it was made for that cluster.
bool is_made_for(const api::ObjectMeta& metadata, const std::string& cluster);

}  // namespace regatta::placement
