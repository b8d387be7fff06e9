#include "lib/api/fields.h"
#include "lib/api/managed_clusters.h"
#include "lib/base/base64.h"

namespace regatta::api {

constinit const ResourceInfo ManagedCluster::resource = {
    "cluster.open-cluster-management.io", "v1", "ManagedCluster", "managedclusters", false};
constinit const ResourceInfo ManagedServiceAccount::resource = {
    "authentication.open-cluster-management.io", "v1beta1", "ManagedServiceAccount",
    "managedserviceaccounts", true};
constinit const ResourceInfo ClusterPermission::resource = {
    "rbac.open-cluster-management.io", "v1alpha1", "ClusterPermission", "clusterpermissions", true};

template <class V, Is<ManagedClusterClient> T>
void fields(V& v, T& o) {
  v("url", o.url);
  std::string encoded;
  if constexpr (std::same_as<V, FieldReader>) {
    v("caBundle", encoded);
    Result<std::string> bytes = base64_decode(encoded);
    if (!bytes) return v.refuse("caBundle", "", bytes.error().what());
    o.ca_bundle = std::move(*bytes);
  } else {
    encoded = base64_encode(o.ca_bundle);
    v("caBundle", encoded);
  }
}

template <class V, Is<ManagedClusterClaim> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("value", o.value);
}

template <class V, Is<ManagedCluster> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.inside("spec", [&](auto& spec) {
    spec("hubAcceptsClient", o.hub_accepts_client);
    spec("managedClusterClientConfigs", o.clients);
  });
  v.inside("status", [&](auto& status) { status("clusterClaims", o.claims); });
}

template <class V, Is<ManagedServiceAccount> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.inside("spec", [&](auto& spec) {
    spec.inside("rotation", [&](auto& rotation) { rotation("validity", o.validity); });
  });
  v.inside("status", [&](auto& status) {
    status("conditions", o.conditions);
    status("expirationTimestamp", o.expires);
  });
}

template <class V, Is<PolicyRule> T>
void fields(V& v, T& o) {
  v("apiGroups", o.api_groups);
  v("resources", o.resources);
  v("verbs", o.verbs);
}

template <class V, Is<ClusterPermission> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.inside("spec", [&](auto& spec) {
    spec.inside("clusterRole", [&](auto& role) { role("rules", o.rules); });
    spec.inside("clusterRoleBinding", [&](auto& binding) {
      binding.inside("subject", [&](auto& subject) {
        subject("kind", o.subject_kind);
        subject("name", o.subject_name);
      });
    });
  });
  v.inside("status", [&](auto& status) { status("conditions", o.conditions); });
}

REGATTA_API_CODEC(ManagedCluster);
REGATTA_API_CODEC(ManagedServiceAccount);
REGATTA_API_CODEC(ClusterPermission);

}  // namespace regatta::api
