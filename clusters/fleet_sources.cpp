#include "clusters/fleet.h"
#include "kubeconfig/cluster_profile.h"
#include "lib/api/names.h"
#include "lib/base/digest.h"

// Where the connections of workers come from: Secrets, files and ClusterProfiles.
namespace regatta::clusters {
namespace {

ConnectFailure bad_kubeconfig(std::string message) {
  return {std::string(api::reasons::bad_kube_config), std::move(message)};
}

const std::string* secret_name(const api::MultiKueueCluster& cluster) {
  const auto& source = cluster.spec.cluster_source.kube_config;
  if (!source || source->location_type != api::LocationType::Secret) return nullptr;
  return &source->location;
}

}  // namespace

std::variant<std::string, ConnectFailure> Fleet::kubeconfig(
    const api::KubeConfigSource& source) const {
  const std::string& location = source.location;
  if (source.location_type == api::LocationType::Path) {
    return connector_.read_path(location);
  }
  const auto secret = local_.secrets.get(api::ObjectKey(local_.system_namespace, location));
  if (!secret) return bad_kubeconfig("Secret \"" + location + "\" not found");
  const auto found = secret->data.find(std::string(api::kubeconfig_secret_key));
  if (found == secret->data.end()) {
    return bad_kubeconfig("key \"" + std::string(api::kubeconfig_secret_key) +
                          "\" not found in secret \"" + location + "\"");
  }
  return found->second;
}

void Fleet::connect(Member* member, const std::string& name,
                    const api::MultiKueueCluster& cluster) {
  const auto& source = cluster.spec.cluster_source.kube_config;
  if (!source) return connect_by_profile(member, name, cluster);
  const auto config = kubeconfig(*source);
  if (const auto* failure = std::get_if<ConnectFailure>(&config)) {
    return refuse(member, *failure);
  }
  const std::string& text = std::get<std::string>(config);
  if (!is_news(member, sha256_hex(text))) return;
  open(member, name, connector_.connect(text));
}

void Fleet::connect_by_profile(Member* member, const std::string& name,
                               const api::MultiKueueCluster& cluster) {
  if (!profiles_) {
    return refuse(member, {std::string(api::reasons::cluster_profile_feature_disabled),
                           "MultiKueueClusterProfile feature gate is disabled"});
  }
  const auto& reference = cluster.spec.cluster_source.cluster_profile_ref;
  const std::string wanted = reference ? reference->name : std::string();
  const auto profile = profiles_->get(api::ObjectKey(local_.system_namespace, wanted));
  if (!profile) {
    const auto why = lacking_profile(wanted);
    if (why) refuse(member, {std::string(api::reasons::bad_cluster_profile), *why});
    return;
  }
  const kubeconfig::ProfileVerdict verdict = kubeconfig::choose_access(*profile, plugins_);
  if (!verdict.access) return refuse(member, {std::string(verdict.reason), verdict.message});
  if (!is_news(member, verdict.access->digest())) return;
  open(member, name, connector_.connect_by_plugin(*verdict.access, scope_));
}

/// Nullopt while it is not known whether there is such a ClusterProfile.
std::optional<std::string> Fleet::lacking_profile(const std::string& name) const {
  const std::string resource = api::ClusterProfile::resource.group_resource();
  const api::ObjectKey key(local_.system_namespace, name);
  const auto& unreadable = profiles_->undecodable();
  if (const auto found = unreadable.find(key); found != unreadable.end()) {
    return "ClusterProfile \"" + name + "\" cannot be read: " + found->second.what();
  }
  const kube::InformerHealth& health = profiles_->health();
  if (!health.served) {
    return "ClusterProfile.multicluster.x-k8s.io \"" + name + "\" not found: this cluster does " +
           "not serve " + resource;
  }
  if (health.synced) return "ClusterProfile.multicluster.x-k8s.io \"" + name + "\" not found";
  if (health.last_error) return resource + " cannot be read: " + health.last_error->what();
  return std::nullopt;
}

/// Whether the member is to connect anew, with a configuration of that digest.
bool Fleet::is_news(Member* member, const std::string& digest) {
  if (digest == member->kubeconfig_digest && member->remote) return false;
  member->kubeconfig_digest = digest;
  return true;
}

void Fleet::refuse(Member* member, ConnectFailure failure) {
  disconnect(member);
  member->failure = std::move(failure);
}

void Fleet::follow_sources() {
  local_.secrets.on_change([this](const api::ObjectKey& key) {
    for (const auto& cluster : local_.multikueue_clusters.list()) {
      const std::string* location = secret_name(*cluster);
      if (location && *location == key.name) queue_.add(cluster->metadata.name);
    }
  });
  if (!profiles_) return;
  profiles_->on_change([this](const api::ObjectKey& key) {
    for (const auto& cluster : local_.multikueue_clusters.list()) {
      const auto& reference = cluster->spec.cluster_source.cluster_profile_ref;
      if (reference && reference->name == key.name) queue_.add(cluster->metadata.name);
    }
  });
  // Whether there are ClusterProfiles at all, and whether they may be read.
  profiles_->on_health([this] {
    for (const auto& cluster : local_.multikueue_clusters.list()) {
      if (cluster->spec.cluster_source.cluster_profile_ref) queue_.add(cluster->metadata.name);
    }
  });
}

}  // namespace regatta::clusters
