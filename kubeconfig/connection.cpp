#include "kubeconfig/connection.h"

#include "lib/kube/in_cluster.h"

#include <utility>

namespace regatta::kubeconfig {
namespace {

std::shared_ptr<kube::Credentials> credentials_of(Clock& clock, const Endpoint& endpoint) {
  if (!endpoint.bearer_token_file.empty()) {
    return std::make_shared<kube::TokenFile>(clock, endpoint.bearer_token_file);
  }
  if (!endpoint.bearer_token.empty()) {
    return std::make_shared<kube::StaticToken>(endpoint.bearer_token);
  }
  return nullptr;
}

}  // namespace

Connection::Connection(Clock& clock, Rng& rng, Endpoint endpoint,
                       std::unique_ptr<net::HttpClient> http, kube::ClientConfig config)
    : endpoint_(std::move(endpoint)),
      http_(std::move(http)),
      client_(kube::ClientDeps{*http_, clock, rng, credentials_of(clock, endpoint_),
                               std::move(config)}) {}

Result<std::unique_ptr<Connection>> Connection::create(const Executor& executor, Clock& clock,
                                                       Rng& rng, Endpoint endpoint,
                                                       kube::ClientConfig config,
                                                       net::HttpClientOptions http_options) {
  auto http = make_http_client(executor, clock, endpoint, http_options);
  if (!http) return http.error();
  config.base_path = endpoint.base_path;
  return std::unique_ptr<Connection>(
      new Connection(clock, rng, std::move(endpoint), std::move(*http), std::move(config)));
}

}  // namespace regatta::kubeconfig
