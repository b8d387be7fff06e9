#include "kubeconfig/local.h"

#include <boost/asio/ip/address.hpp>

#include <filesystem>

namespace regatta::kubeconfig {
namespace {

Error unusable(std::string what) {
  return Error(Errc::invalid, std::move(what));
}

std::string below(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

/// The inline data if there is any, else the contents of the file.
Result<std::string> data_or_file(FileSystem& files, const std::string& folder,
                                 const std::string& data, const std::string& path,
                                 const std::string& field) {
  if (!data.empty() || path.empty()) return data;
  auto text = files.read_regular(below(folder, path), size_max);
  if (!text) return text.error().within(field);
  return text;
}

bool is_loopback(const std::string& host) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(host, ec);
  return host == "localhost" || (!ec && address.is_loopback());
}

Status check_cluster(const std::string& name, const Cluster& cluster) {
  const std::string where = "cluster \"" + name + "\": ";
  if (cluster.insecure_skip_tls_verify) {
    return unusable(where + "insecure-skip-tls-verify is refused: give the certificate authority");
  }
  if (!cluster.proxy_url.empty()) return unusable(where + "proxy-url is not supported");
  if (cluster.server.empty()) return unusable(where + "server is required");
  return ok();
}

Status check_user(const std::string& name, const User& user) {
  const std::string where = "user \"" + name + "\": ";
  if (!user.exec.empty()) return unusable(where + "exec plugins are not supported");
  if (!user.auth_provider.empty()) return unusable(where + "auth-provider is not supported");
  if (!user.username.empty() || !user.password.empty()) {
    return unusable(where + "username and password are not supported");
  }
  if (!user.impersonate.empty() || !user.impersonate_uid.empty() ||
      !user.impersonate_groups.empty() || !user.impersonate_extra.empty()) {
    return unusable(where + "impersonation is not supported");
  }
  if (user.token.find_first_of("\r\n") != std::string::npos) {
    return unusable(where + "token contains a line break");
  }
  return ok();
}

Status add_credentials(FileSystem& files, const std::string& folder, const std::string& name,
                       const User& user, Endpoint* out) {
  const std::string where = "user \"" + name + "\": ";
  auto certificate = data_or_file(files, folder, user.client_certificate_data,
                                  user.client_certificate, where + "client-certificate");
  if (!certificate) return certificate.error();
  auto key =
      data_or_file(files, folder, user.client_key_data, user.client_key, where + "client-key");
  if (!key) return key.error();
  if (certificate->empty() != key->empty()) {
    return unusable(where + "client-certificate and client-key need each other");
  }
  out->client_certificate_pem = std::move(*certificate);
  out->client_key_pem = std::move(*key);
  out->bearer_token = user.token;
  // As kubectl does: the file wins over the inline token, because it is newer.
  if (!user.token_file.empty()) out->bearer_token_file = below(folder, user.token_file);
  return ok();
}

}  // namespace

Result<Endpoint> resolve_local(FileSystem& files, Kubeconfig config, const std::string& folder,
                               const std::string& context) {
  if (!context.empty()) config.current_context = context;
  const auto current = select_current(config);
  if (!current) return current.error();
  const std::string& name = current->context->cluster;
  const Cluster& cluster = *current->cluster;
  if (auto fine = check_cluster(name, cluster); !fine) return fine.error();
  const auto url = parse_server_url(cluster.server);
  if (!url) return url.error().within("cluster \"" + name + "\": server");
  Endpoint out;
  out.tls = url->tls;
  out.host = url->host;
  out.port = url->port;
  out.base_path = url->base_path;
  out.url =
      (out.tls ? "https://" : "http://") + net::host_and_port(out.host, out.port) + out.base_path;
  out.tls_server_name = cluster.tls_server_name;
  out.default_namespace = current->context->default_namespace;
  auto ca =
      data_or_file(files, folder, cluster.certificate_authority_data, cluster.certificate_authority,
                   "cluster \"" + name + "\": certificate-authority");
  if (!ca) return ca.error();
  out.ca_pem = std::move(*ca);
  if (current->user) {
    const std::string& user = current->context->user;
    if (auto fine = check_user(user, *current->user); !fine) return fine.error();
    auto added = add_credentials(files, folder, user, *current->user, &out);
    if (!added) return added.error();
  }
  const bool credentials = !out.client_certificate_pem.empty() || !out.bearer_token.empty() ||
                           !out.bearer_token_file.empty();
  if (!out.tls && (credentials || !is_loopback(out.host))) {
    return unusable("cluster \"" + name +
                    "\": server: plain http is only for loopback and without "
                    "credentials, use https");
  }
  return out;
}

Result<Endpoint> load_local(FileSystem& files, const std::string& path,
                            const std::string& context) {
  const auto text = files.read_regular(path, size_max);
  if (!text) return text.error().within("kubeconfig");
  auto config = parse(*text);
  if (!config) return config.error().within("kubeconfig " + path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  auto endpoint = resolve_local(files, std::move(*config), folder, context);
  if (!endpoint) return endpoint.error().within("kubeconfig " + path);
  return endpoint;
}

}  // namespace regatta::kubeconfig
