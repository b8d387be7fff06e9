#pragma once

#include "kubeconfig/kubeconfig.h"
#include "lib/base/clock.h"
#include "lib/net/dialer.h"
#include "lib/net/http_client.h"
#include "lib/net/tls.h"

#include <cstdint>
#include <memory>

namespace regatta::kubeconfig {

/// The address of an API server and our identity there. Holds credentials: never logged, no
/// formatter.
struct Endpoint {
  std::string url;  ///< "https://host:port/base", normalised
  bool tls = true;
  std::string host;  ///< lower case; an IPv6 address without brackets
  std::uint16_t port = 443;
  std::string base_path;  ///< "" or "/clusters/east": no slash at the end
  std::string tls_server_name;
  std::string ca_pem;
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::string bearer_token;
  std::string bearer_token_file;  ///< read again when old or rejected; local cluster only
  std::string default_namespace;
};

struct ServerUrl {
  bool tls = true;
  std::string host;
  std::uint16_t port = 443;
  std::string base_path;
};

/// Splits "https://host[:port][/path]" (or http). `invalid` for anything else: other schemes, user
/// names, queries, hosts that are neither an IP address nor a DNS name.
Result<ServerUrl> parse_server_url(std::string_view text);

/// What the current context refers to. Says nothing about safety; see validate() and local.h.
struct Selected {
  const Cluster* cluster = nullptr;
  const User* user = nullptr;  ///< null when the context names none
  const Context* context = nullptr;
};
Result<Selected> select_current(const Kubeconfig& config);

net::TlsClientOptions tls_options(const Endpoint& endpoint);

/// Connections to the endpoint; `invalid` when its certificates cannot be used.
Result<std::shared_ptr<net::Dialer>> make_dialer(
    Clock& clock, const Endpoint& endpoint,
    std::shared_ptr<net::Resolver> resolver = net::make_system_resolver());

/// A client of the endpoint, which remembers the addresses that `resolver` finds. The caller puts
/// the base path and the bearer token into requests.
Result<std::unique_ptr<net::HttpClient>> make_http_client(
    const Executor& executor, Clock& clock, const Endpoint& endpoint,
    net::HttpClientOptions options = {},
    std::shared_ptr<net::Resolver> resolver = net::make_system_resolver());

/// A kubeconfig of one cluster, user and context called `name`, for kubectl and Secrets.
std::string write(const Endpoint& endpoint, const std::string& name);

}  // namespace regatta::kubeconfig
