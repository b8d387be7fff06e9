#include "kubeconfig/cluster_profile.h"

#include "kubeconfig/validate.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/base/base64.h"
#include "lib/base/digest.h"
#include "lib/base/joined.h"
#include "lib/base/json.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::kubeconfig {
namespace {

constexpr std::string_view authentication_group = "client.authentication.k8s.io/";
constexpr Duration renewal_lead_max = std::chrono::minutes(5);
constexpr std::size_t token_bytes_max = 64u << 10;

const api::AccessProvider* provider_of(const api::ClusterProfile& profile,
                                       const std::string& name) {
  for (const auto* list :
       {&profile.status.access_providers, &profile.status.credential_providers}) {
    for (const api::AccessProvider& one : *list) {
      if (one.name == name) return &one;
    }
  }
  return nullptr;
}

std::string no_access(const api::ClusterProfile& profile,
                      const std::vector<api::ExecPlugin>& plugins) {
  if (plugins.empty()) {
    return "no access provider configured: name one in multiKueue.clusterProfile.accessProviders "
           "of the manager's configuration";
  }
  std::vector<std::string> configured, offered;
  for (const auto& plugin : plugins) configured.push_back(plugin.provider);
  for (const auto& one : profile.status.access_providers) offered.push_back(one.name);
  for (const auto& one : profile.status.credential_providers) offered.push_back(one.name);
  return "no matching access provider in ClusterProfile \"" + profile.metadata.name +
         "\": it has [" + joined(offered) + "], the manager is configured for [" +
         joined(configured) + "]";
}

/// The provider's cluster as a kubeconfig has it, for the rules of kubeconfigs.
Result<Endpoint> endpoint_of(const api::AccessProvider& provider) {
  auto ca = base64_decode(provider.cluster.certificate_authority_data);
  if (!ca) return ca.error().within("certificate-authority-data");
  Kubeconfig config;
  Cluster& cluster = config.clusters[provider.name];
  cluster.server = provider.cluster.server;
  cluster.tls_server_name = provider.cluster.tls_server_name;
  cluster.insecure_skip_tls_verify = provider.cluster.insecure_skip_tls_verify;
  cluster.certificate_authority = provider.cluster.certificate_authority;
  cluster.certificate_authority_data = std::move(*ca);
  cluster.proxy_url = provider.cluster.proxy_url;
  config.contexts[provider.name].cluster = provider.name;
  config.current_context = provider.name;
  if (auto fine = validate_file(config); !fine) return fine.error();
  return validate_current(config);
}

bool is_known_version(std::string_view version) {
  if (!version.starts_with(authentication_group)) return false;
  version.remove_prefix(authentication_group.size());
  return version == "v1" || version == "v1beta1";
}

Error not_usable(std::string what) {
  return Error(Errc::invalid, std::move(what));
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

Status check_version(const Json& answer, const std::string& wanted) {
  if (!answer.is_object() || text_at(answer, "kind") != "ExecCredential") {
    return not_usable("it printed no ExecCredential");
  }
  const std::string& version = text_at(answer, "apiVersion");
  if (version == wanted) return ok();
  // Anything else that it printed may be a secret.
  const bool known =
      is_known_version(version) || version == "client.authentication.k8s.io/v1alpha1";
  return not_usable("it answered in " + (known ? version : "an unknown apiVersion") +
                    ", but is configured for " + wanted);
}

}  // namespace

std::string ProfileAccess::digest() const {
  Json all = {{"provider", plugin.provider},
              {"command", plugin.command},
              {"args", plugin.args},
              {"env", plugin.env},
              {"apiVersion", plugin.api_version},
              {"info", exec_info(*this)},
              {"clusterInfo", plugin.provide_cluster_info},
              {"server", endpoint.url},
              {"name", endpoint.tls_server_name},
              {"ca", endpoint.ca_pem}};
  return "profile:" + sha256_hex(dump_json(all));
}

ProfileVerdict choose_access(const api::ClusterProfile& profile,
                             const std::vector<api::ExecPlugin>& plugins) {
  for (const api::ExecPlugin& plugin : plugins) {
    const api::AccessProvider* provider = provider_of(profile, plugin.provider);
    if (!provider) continue;
    if (!is_known_version(plugin.api_version)) {
      return {std::nullopt, api::reasons::bad_rest_config,
              "access provider \"" + plugin.provider + "\": exec plugin: invalid apiVersion \"" +
                  plugin.api_version + "\""};
    }
    auto endpoint = endpoint_of(*provider);
    if (!endpoint) {
      return {std::nullopt, api::reasons::bad_rest_config,
              "access provider \"" + plugin.provider + "\": " + endpoint.error().what()};
    }
    return {ProfileAccess{plugin, provider->cluster, std::move(*endpoint)}, {}, {}};
  }
  return {std::nullopt, api::reasons::bad_cluster_profile, no_access(profile, plugins)};
}

std::string exec_info(const ProfileAccess& access) {
  Json spec = Json::object();
  spec["interactive"] = false;
  if (access.plugin.provide_cluster_info) {
    const api::ProfileCluster& from = access.cluster;
    Json cluster = {{"server", from.server}};
    if (!from.tls_server_name.empty()) cluster["tls-server-name"] = from.tls_server_name;
    if (!from.certificate_authority_data.empty()) {
      cluster["certificate-authority-data"] = from.certificate_authority_data;
    }
    if (from.disable_compression) cluster["disable-compression"] = true;
    for (const api::ProfileExtension& one : from.extensions) {
      if (one.name == api::exec_extension) cluster["config"] = one.extension.json();
    }
    spec["cluster"] = std::move(cluster);
  }
  Json info = Json::object();
  info["apiVersion"] = access.plugin.api_version;
  info["kind"] = "ExecCredential";
  info["spec"] = std::move(spec);
  return dump_json(info);
}

Result<PluginCredential> read_credential(std::string_view printed, const std::string& api_version,
                                         TimePoint now) {
  const Result<Json> answer = parse_json(printed);
  if (!answer) return not_usable("its output is not JSON");
  if (auto fine = check_version(*answer, api_version); !fine) return fine.error();
  const Json* status = object_at(*answer, "status");
  if (!status) return not_usable("its ExecCredential has no status");
  PluginCredential out;
  out.token = text_at(*status, "token");
  out.certificate_pem = text_at(*status, "clientCertificateData");
  out.key_pem = text_at(*status, "clientKeyData");
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return not_usable("it gave a client certificate or its key, and not both");
  }
  if (out.token.empty() && out.key_pem.empty()) {
    return not_usable("it gave neither a token nor a client certificate");
  }
  if (out.token.size() > token_bytes_max || !is_printable(out.token)) {
    return not_usable("its token is longer than 64 KiB or has characters that tokens cannot have");
  }
  const Json& ends = at_or_null(*status, "expirationTimestamp");
  if (ends.is_null()) return out;
  const auto expires = ends.is_string() ? parse_rfc3339(ends.get_ref<const std::string&>())
                                        : Result<TimePoint>(not_usable("not a string"));
  if (!expires) return not_usable("its expirationTimestamp is not a time in RFC 3339");
  if (*expires <= now) return not_usable("its credential has expired already");
  if (*expires - now < shortest_life) {
    return not_usable("its credential expires within 10s, which is too soon to be of use");
  }
  out.expires = *expires;
  return out;
}

Duration renew_after(Duration life) {
  return life - std::min(life / 5, renewal_lead_max);
}

}  // namespace regatta::kubeconfig
