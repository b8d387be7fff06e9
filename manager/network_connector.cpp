#include "manager/network_connector.h"

#include "lib/base/digest.h"

#include <utility>

namespace regatta::manager {
namespace {

/// Writes to one worker that may be under way at once.
constexpr std::size_t connections_max = 32;

clusters::ConnectFailure bad(std::string message) {
  return {std::string(kubeconfig::reason_bad), std::move(message)};
}

}  // namespace

std::variant<clusters::Connection, clusters::ConnectFailure> NetworkConnector::connect(
    std::string_view text) {
  kubeconfig::Verdict verdict = kubeconfig::from_bytes(text);
  if (!verdict.endpoint) {
    return clusters::ConnectFailure{std::string(verdict.reason), std::move(verdict.message)};
  }
  const kubeconfig::Endpoint& endpoint = *verdict.endpoint;
  net::HttpClientOptions options;
  options.connections_max = connections_max;
  auto http = kubeconfig::make_http_client(executor_, clock_, endpoint, options);
  if (!http) return bad("load client config failed: " + http.error().what());
  clusters::Connection connection;
  connection.sender = std::move(*http);
  if (!endpoint.bearer_token.empty()) {
    connection.credentials = std::make_shared<kube::StaticToken>(endpoint.bearer_token);
  }
  connection.base_path = endpoint.base_path;
  connection.server = endpoint.url + "#" + sha256_hex(endpoint.ca_pem);
  return connection;
}

std::variant<std::string, clusters::ConnectFailure> NetworkConnector::read_path(
    const std::string& location) {
  auto text =
      paths_checked_
          ? kubeconfig::load_path(files_, location, std::string(kubeconfig::default_allowed_prefix))
          : files_.read_regular(location, kubeconfig::size_max);
  if (!text) return bad("load client config failed: " + text.error().what());
  return std::move(*text);
}

}  // namespace regatta::manager
