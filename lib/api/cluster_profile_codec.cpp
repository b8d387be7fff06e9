#include "lib/api/cluster_profile.h"
#include "lib/api/fields.h"

namespace regatta::api {

constinit const ResourceInfo ClusterProfile::resource = {"multicluster.x-k8s.io", "v1alpha1",
                                                         "ClusterProfile", "clusterprofiles", true};

static void read_value(const Json& value, RawJson& out, const Path&, FirstError*) {
  out = RawJson(dump_json(value));
}

static void write_value(const RawJson& in, Json& out) {
  out = in.json();
}

template <class V, Is<ProfileExtension> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("extension", o.extension);
}

template <class V, Is<ProfileCluster> T>
void fields(V& v, T& o) {
  v("server", o.server);
  v("tls-server-name", o.tls_server_name);
  v("insecure-skip-tls-verify", o.insecure_skip_tls_verify);
  v("certificate-authority", o.certificate_authority);
  v("certificate-authority-data", o.certificate_authority_data);
  v("proxy-url", o.proxy_url);
  v("disable-compression", o.disable_compression);
  v("extensions", o.extensions);
}

template <class V, Is<AccessProvider> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("cluster", o.cluster);
}

template <class V, Is<ClusterProfileStatus> T>
void fields(V& v, T& o) {
  v("accessProviders", o.access_providers);
  v("credentialProviders", o.credential_providers);
}

template <class V, Is<ClusterProfile> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("status", o.status);
}

REGATTA_API_CODEC(ClusterProfile);

}  // namespace regatta::api
