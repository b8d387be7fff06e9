#include "kubeconfig/endpoint.h"

#include "lib/api/yaml.h"
#include "lib/base/base64.h"
#include "lib/base/json.h"
#include "lib/net/resolver.h"
#include "lib/net/tcp.h"

#include <boost/asio/ip/address.hpp>
#include <boost/url/parse.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace regatta::kubeconfig {
namespace {

bool is_dns_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
    return false;
  }
  return std::all_of(label.begin(), label.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool is_dns_name(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  while (true) {
    const auto dot = name.find('.');
    if (!is_dns_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool is_ip(const std::string& text) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(text, ec);
  return !ec && (address.is_v4() || address.to_v6().scope_id() == 0);
}

Error missing(const std::string& context, const char* what, const std::string& name) {
  return Error(Errc::invalid,
               "context \"" + context + "\": " + what + " \"" + name + "\" does not exist");
}

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view text) {
  const Error bad(Errc::invalid, "not a server URL (https://host[:port][/path])");
  const auto url = boost::urls::parse_uri({text.data(), text.size()});
  if (!url || url->has_userinfo() || url->has_query() || url->has_fragment()) return bad;
  ServerUrl out;
  out.tls = url->scheme_id() == boost::urls::scheme::https;
  if (!out.tls && url->scheme_id() != boost::urls::scheme::http) return bad;
  const auto host = url->encoded_host_address();
  out.host.assign(host.data(), host.size());
  for (char& c : out.host) c = char(std::tolower(static_cast<unsigned char>(c)));
  const bool bracketed = url->encoded_host().starts_with('[');
  if (!is_ip(out.host) && (bracketed || !is_dns_name(out.host))) return bad;
  out.port = out.tls ? 443 : 80;
  if (url->has_port()) {  // port_number() wraps numbers beyond 16 bits
    const auto port = url->port();
    const auto read = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (read.ec != std::errc() || out.port == 0) return bad;
  }
  const auto path = url->encoded_path();
  out.base_path.assign(path.data(), path.find_last_not_of('/') + 1);
  return out;
}

Result<Selected> select_current(const Kubeconfig& config) {
  const std::string& name = config.current_context;
  if (name.empty()) return Error(Errc::invalid, "current-context is required");
  const auto context = config.contexts.find(name);
  if (context == config.contexts.end()) {
    return Error(Errc::invalid, "current-context: context \"" + name + "\" does not exist");
  }
  Selected out;
  out.context = &context->second;
  const auto cluster = config.clusters.find(context->second.cluster);
  if (cluster == config.clusters.end()) return missing(name, "cluster", context->second.cluster);
  out.cluster = &cluster->second;
  if (context->second.user.empty()) return out;
  const auto user = config.users.find(context->second.user);
  if (user == config.users.end()) return missing(name, "user", context->second.user);
  out.user = &user->second;
  return out;
}

net::TlsClientOptions tls_options(const Endpoint& endpoint) {
  return {endpoint.ca_pem, endpoint.tls_server_name, endpoint.client_certificate_pem,
          endpoint.client_key_pem};
}

Result<std::shared_ptr<net::Dialer>> make_dialer(Clock& clock, const Endpoint& endpoint,
                                                 std::shared_ptr<net::Resolver> resolver) {
  if (!endpoint.tls) {
    std::shared_ptr<net::Dialer> plain =
        std::make_shared<net::TcpDialer>(clock, std::move(resolver));
    return plain;
  }
  auto dialer = net::TlsDialer::create(clock, tls_options(endpoint), std::move(resolver));
  if (!dialer) return dialer.error();
  std::shared_ptr<net::Dialer> encrypted = std::move(*dialer);
  return encrypted;
}

Result<std::unique_ptr<net::HttpClient>> make_http_client(const Executor& executor, Clock& clock,
                                                          const Endpoint& endpoint,
                                                          net::HttpClientOptions options,
                                                          std::shared_ptr<net::Resolver> resolver) {
  auto remembering = std::make_shared<net::RememberingResolver>(clock, std::move(resolver));
  auto dialer = make_dialer(clock, endpoint, std::move(remembering));
  if (!dialer) return dialer.error();
  return std::make_unique<net::HttpClient>(executor, clock, std::move(*dialer), endpoint.host,
                                           endpoint.port, options);
}

std::string write(const Endpoint& endpoint, const std::string& name) {
  Json cluster = {{"server", endpoint.url}};
  if (!endpoint.ca_pem.empty()) {
    cluster["certificate-authority-data"] = base64_encode(endpoint.ca_pem);
  }
  if (!endpoint.tls_server_name.empty()) cluster["tls-server-name"] = endpoint.tls_server_name;
  Json user = Json::object();
  if (!endpoint.client_certificate_pem.empty()) {
    user["client-certificate-data"] = base64_encode(endpoint.client_certificate_pem);
    user["client-key-data"] = base64_encode(endpoint.client_key_pem);
  }
  if (!endpoint.bearer_token.empty()) user["token"] = endpoint.bearer_token;
  if (!endpoint.bearer_token_file.empty()) user["tokenFile"] = endpoint.bearer_token_file;
  Json context = {{"cluster", name}, {"user", name}};
  if (!endpoint.default_namespace.empty()) context["namespace"] = endpoint.default_namespace;
  const auto named = [&](const char* member, Json value) {
    Json entry = Json::object();
    entry["name"] = name;
    entry[member] = std::move(value);
    Json list = Json::array();
    list.push_back(std::move(entry));
    return list;
  };
  Json config = {{"apiVersion", "v1"}, {"kind", "Config"}, {"current-context", name}};
  config["clusters"] = named("cluster", std::move(cluster));
  config["users"] = named("user", std::move(user));
  config["contexts"] = named("context", std::move(context));
  return api::dump_yaml(config);
}

}  // namespace regatta::kubeconfig
