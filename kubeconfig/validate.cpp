#include "kubeconfig/validate.h"

namespace regatta::kubeconfig {
namespace {

Error refused(std::string what) {
  return Error(Errc::invalid, std::move(what));
}

Status validate_user(const std::string& name, const User& user) {
  if (!user.token_file.empty()) return refused("tokenFile is not allowed");
  if (!user.client_certificate.empty()) {
    return refused(
        "client-certificate file paths are not allowed, use client-certificate-data for user " +
        name);
  }
  if (!user.client_key.empty()) {
    return refused("client-key file paths are not allowed, use client-key-data for user " + name);
  }
  if (!user.impersonate.empty() || !user.impersonate_uid.empty() ||
      !user.impersonate_groups.empty() || !user.impersonate_extra.empty()) {
    return refused("impersonation is not allowed for user " + name);
  }
  return ok();
}

bool has_scheme(std::string_view url, std::string_view scheme) {
  return url.size() > scheme.size() &&
         std::equal(scheme.begin(), scheme.end(), url.begin(), [](char want, char got) {
           return want == std::tolower(static_cast<unsigned char>(got));
         });
}

Status validate_cluster(const std::string& name, const Cluster& cluster) {
  if (cluster.insecure_skip_tls_verify) {
    return refused("insecure TLS verification is not allowed for cluster " + name);
  }
  if (!cluster.certificate_authority.empty()) {
    return refused(
        "certificate-authority file paths are not allowed, use certificate-authority-data for "
        "cluster " +
        name);
  }
  if (cluster.server.empty()) return refused("server URL is required for cluster " + name);
  if (has_scheme(cluster.server, "http://")) {
    return refused("http scheme is not allowed, use https for cluster " + name);
  }
  if (!cluster.proxy_url.empty()) return refused("proxy-url is not allowed for cluster " + name);
  return ok();
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

Status validate_file(const Kubeconfig& config) {
  for (const auto& [name, user] : config.users) {
    if (auto fine = validate_user(name, user); !fine) return fine;
  }
  for (const auto& [name, cluster] : config.clusters) {
    if (auto fine = validate_cluster(name, cluster); !fine) return fine;
  }
  return ok();
}

Result<Endpoint> validate_current(const Kubeconfig& config) {
  const auto current = select_current(config);
  if (!current) return current.error();
  const auto url = parse_server_url(current->cluster->server);
  if (!url || !url->tls) return refused("untrusted server endpoint");
  const User user = current->user ? *current->user : User();
  if (!user.username.empty() || !user.password.empty()) return refused("basic auth is not allowed");
  if (!user.exec.empty()) return refused("exec plugins are not allowed");
  if (!user.auth_provider.empty()) return refused("auth providers are not allowed");
  const std::string& name = current->context->user;
  if (has_control_character(user.token)) {
    return refused("token with control characters is not allowed for user " + name);
  }
  if (user.client_certificate_data.empty() != user.client_key_data.empty()) {
    return refused("client-certificate-data and client-key-data need each other for user " + name);
  }
  Endpoint out;
  out.host = url->host;
  out.port = url->port;
  out.base_path = url->base_path;
  out.url = "https://" + net::host_and_port(out.host, out.port) + out.base_path;
  out.tls_server_name = current->cluster->tls_server_name;
  out.ca_pem = current->cluster->certificate_authority_data;
  out.client_certificate_pem = user.client_certificate_data;
  out.client_key_pem = user.client_key_data;
  out.bearer_token = user.token;
  out.default_namespace = current->context->default_namespace;
  return out;
}

Result<Endpoint> validate(std::string_view text) {
  const auto config = parse(text);
  if (!config) return config.error().within("failed to parse kubeconfig(apiconfig)");
  if (auto fine = validate_file(*config); !fine) return fine.error();
  return validate_current(*config);
}

Verdict from_bytes(std::string_view text) {
  auto endpoint = validate(text);
  if (endpoint) return {std::move(*endpoint), {}, {}};
  return {std::nullopt, reason_insecure, endpoint.error().what()};
}

Verdict from_path(FileSystem& files, const std::string& path, const std::string& allowed_prefix) {
  const auto text = load_path(files, path, allowed_prefix);
  if (text) return from_bytes(*text);
  return {std::nullopt, reason_bad, text.error().what()};
}

}  // namespace regatta::kubeconfig
