#include "clusters/kubeconfig_connector.h"

#include "clusters/plugin_connection.h"
#include "kubeconfig/validate.h"
#include "lib/api/names.h"

namespace regatta::clusters {
namespace {

/// The number of requests to one worker that may be under way at once.
constexpr std::size_t connections_max = 32;
/// Of one answer of a worker, which may be a page of a list. Each object in it is decoded alone,
/// and is at most as long as kube::object_bytes_max.
constexpr std::size_t answer_bytes_max = 32u << 20;

void describe(const kubeconfig::Endpoint& endpoint, WorkerConnection* connection) {
  connection->base_path = endpoint.base_path;
  connection->server = endpoint.url + "\n" + endpoint.tls_server_name + "\n" + endpoint.ca_pem;
  connection->url = endpoint.url;
}

}  // namespace

OpenSender open_http_clients(const Executor& executor, Clock& clock) {
  // One for all: it asks for each name once at a time.
  const auto resolver = net::make_system_resolver();
  return [executor, &clock, resolver](const kubeconfig::Endpoint& endpoint) {
    using Sender = std::shared_ptr<net::HttpSender>;
    net::HttpClientOptions options;
    options.connections_max = connections_max;
    options.body_max = answer_bytes_max;
    auto client = kubeconfig::make_http_client(executor, clock, endpoint, options, resolver);
    if (!client) return Result<Sender>(client.error());
    return Result<Sender>(Sender(std::move(*client)));
  };
}

KubeconfigConnector::KubeconfigConnector(OpenSender open, kubeconfig::FileSystem& files,
                                         std::string allowed_prefix, std::optional<Plugins> plugins)
    : open_(std::move(open)),
      files_(files),
      allowed_prefix_(std::move(allowed_prefix)),
      plugins_(plugins) {}

std::variant<WorkerConnection, ConnectFailure> KubeconfigConnector::connect(
    std::string_view kubeconfig) {
  const kubeconfig::Verdict verdict = kubeconfig::from_bytes(kubeconfig);
  if (!verdict.endpoint) return ConnectFailure{std::string(verdict.reason), verdict.message};
  const kubeconfig::Endpoint& endpoint = *verdict.endpoint;
  Result<std::shared_ptr<net::HttpSender>> sender = open_(endpoint);
  if (!sender) {
    return ConnectFailure{std::string(api::reasons::client_connection_failed),
                          sender.error().what()};
  }
  WorkerConnection connection;
  connection.sender = std::move(*sender);
  if (!endpoint.bearer_token.empty()) {
    connection.credentials = std::make_shared<kube::StaticToken>(endpoint.bearer_token);
  }
  describe(endpoint, &connection);
  return connection;
}

std::variant<WorkerConnection, ConnectFailure> KubeconfigConnector::connect_by_plugin(
    const kubeconfig::ProfileAccess& access, TaskScope& scope) {
  if (!plugins_) {
    return ConnectFailure{std::string(api::reasons::bad_rest_config),
                          "credential plugins do not run here"};
  }
  // Whether the authorities can be used is known before any credential.
  const auto tried = open_(access.endpoint);
  if (!tried) {
    return ConnectFailure{std::string(api::reasons::bad_rest_config), tried.error().what()};
  }
  auto plugin = std::make_shared<PluginConnection>(
      PluginConnectionDeps{open_, plugins_->runner, plugins_->clock, scope}, access);
  WorkerConnection connection;
  connection.sender = plugin;
  connection.credentials = plugin;
  describe(access.endpoint, &connection);
  return connection;
}

std::variant<std::string, ConnectFailure> KubeconfigConnector::read_path(
    const std::string& location) {
  Result<std::string> text = allowed_prefix_.empty()
                                 ? files_.read_regular(location, kubeconfig::size_max)
                                 : kubeconfig::load_path(files_, location, allowed_prefix_);
  if (text) return std::move(*text);
  return ConnectFailure{std::string(kubeconfig::reason_bad), text.error().what()};
}

}  // namespace regatta::clusters
