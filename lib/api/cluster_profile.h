#pragma once

#include "lib/api/meta.h"
#include "lib/api/raw_json.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// The inventory of SIG Multicluster, and how credentials for its clusters are asked for: the
/// fields that Regatta reads.
namespace regatta::api {

struct ProfileExtension {
  std::string name;
  RawJson extension;
  friend bool operator==(const ProfileExtension&, const ProfileExtension&) = default;
};

/// The Cluster of a kubeconfig.
struct ProfileCluster {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;       ///< a path
  std::string certificate_authority_data;  ///< in base64
  std::string proxy_url;
  bool disable_compression = false;
  std::vector<ProfileExtension> extensions;
  friend bool operator==(const ProfileCluster&, const ProfileCluster&) = default;
};

struct AccessProvider {
  std::string name;
  ProfileCluster cluster;
  friend bool operator==(const AccessProvider&, const AccessProvider&) = default;
};

struct ClusterProfileStatus {
  std::vector<AccessProvider> access_providers;
  /// The older name of the list. An entry of the same name above is preferred.
  std::vector<AccessProvider> credential_providers;
  friend bool operator==(const ClusterProfileStatus&, const ClusterProfileStatus&) = default;
};

/// multicluster.x-k8s.io/v1alpha1
struct ClusterProfile {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  ClusterProfileStatus status;
  friend bool operator==(const ClusterProfile&, const ClusterProfile&) = default;
};

/// The ExecConfig of a kubeconfig: a program that prints credentials.
struct ExecPlugin {
  std::string provider;  ///< the access provider whose clusters it is for
  std::string command;   ///< a path, or a name to be found in $PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string api_version;  ///< "client.authentication.k8s.io/v1"
  bool provide_cluster_info = false;
  friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

/// Name of the extension that a plugin gets as spec.cluster.config.
constexpr std::string_view exec_extension = "client.authentication.k8s.io/exec";

}  // namespace regatta::api
