#pragma once

#include "kubeconfig/endpoint.h"
#include "lib/api/cluster_profile.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Workers that a ClusterProfile describes, and credentials for them from a plugin: a program that
// keeps to client.authentication.k8s.io, v1 or v1beta1.
namespace regatta::kubeconfig {

/// Where a cluster is, and the plugin that has credentials for it.
struct ProfileAccess {
  api::ExecPlugin plugin;
  api::ProfileCluster cluster;
  Endpoint endpoint;  ///< without credentials
  /// Changes when anything above does.
  std::string digest() const;
};

/// The access, or the reason of the Active condition for which there is none.
struct ProfileVerdict {
  std::optional<ProfileAccess> access;
  std::string_view reason;  ///< BadClusterProfile or BadRestConfig
  std::string message;
};

/// The first plugin, in the order of the configuration, whose access provider the profile has. The
/// provider's cluster keeps the rules for kubeconfigs of workers.
ProfileVerdict choose_access(const api::ClusterProfile& profile,
                             const std::vector<api::ExecPlugin>& plugins);

/// What a plugin gave. It holds secrets: never logged, no formatter.
struct PluginCredential {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
  std::optional<TimePoint> expires;
};

/// A credential that is to end sooner than this is refused: it would be over before the worker's
/// caches are full, and the plugin would run without a pause.
constexpr Duration shortest_life = std::chrono::seconds(10);

/// The value of $KUBERNETES_EXEC_INFO.
std::string exec_info(const ProfileAccess& access);

/// Reads what a plugin printed. `invalid` with the reason, which quotes nothing of it.
Result<PluginCredential> read_credential(std::string_view printed, const std::string& api_version,
                                         TimePoint now);

/// After how long a credential that lasts for `life` is replaced: when a fifth of its life is left,
/// or five minutes.
Duration renew_after(Duration life);

}  // namespace regatta::kubeconfig
