#include "manager/endpoint.h"

#include "kubeconfig/local.h"
#include "lib/kube/in_cluster.h"

#include <cstdlib>
#include <filesystem>

namespace regatta::manager {
namespace {

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// The variable's value; nullopt also when it is empty.
std::optional<std::string> named_kubeconfig() {
  auto path = environment("KUBECONFIG");
  return path && !path->empty() ? path : std::nullopt;
}

Result<kubeconfig::Endpoint> in_cluster_endpoint(std::string* ns, const std::string& otherwise) {
  auto found = kube::load_in_cluster(environment);
  if (!found) return Error(found.error().code(), found.error().what() + otherwise);
  *ns = found->ns;
  kubeconfig::Endpoint endpoint;
  endpoint.url = "https://" + net::host_and_port(found->host, found->port);
  endpoint.host = found->host;
  endpoint.port = found->port;
  endpoint.ca_pem = found->ca_pem;
  endpoint.bearer_token_file = found->token_file.string();
  return endpoint;
}

}  // namespace

Result<kubeconfig::Endpoint> find_own_cluster(const std::string& kubeconfig, std::string* ns) {
  kubeconfig::SystemFiles files;
  if (!kubeconfig.empty()) return kubeconfig::load_local(files, kubeconfig);
  if (const auto path = named_kubeconfig()) return kubeconfig::load_local(files, *path);
  return in_cluster_endpoint(
      ns, "; outside of a cluster say which one to manage with --kubeconfig or $KUBECONFIG");
}

Result<kubeconfig::Endpoint> find_users_cluster(const std::string& kubeconfig,
                                                const std::string& context) {
  kubeconfig::SystemFiles files;
  if (!kubeconfig.empty()) return kubeconfig::load_local(files, kubeconfig, context);
  if (const auto path = named_kubeconfig()) return kubeconfig::load_local(files, *path, context);
  if (const auto home = environment("HOME")) {
    const std::filesystem::path path = std::filesystem::path(*home) / ".kube" / "config";
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      return kubeconfig::load_local(files, path.string(), context);
    }
  }
  std::string ns;
  auto endpoint = in_cluster_endpoint(&ns, "; say which cluster with --kubeconfig or $KUBECONFIG");
  if (endpoint) endpoint->default_namespace = ns;
  return endpoint;
}

Result<Configuration> read_configuration(const std::string& file, const std::string& feature_gates,
                                         const std::string& ns) {
  constexpr std::size_t bytes_max = 1u << 20;
  std::string text;
  if (!file.empty()) {
    auto read = kube::read_small_file(file, bytes_max);
    if (!read) return read.error().within("--config");
    text = std::move(*read);
  }
  auto config = load_configuration(text, feature_gates, ns.empty() ? "kueue-system" : ns);
  if (!config) return config.error().within(file.empty() ? "the default configuration" : file);
  return config;
}

void log_warnings(const Configuration& configuration, const Log& log) {
  for (const std::string& warning : configuration.warnings) {
    log.warning("configuration", {{"note", warning}});
  }
}

}  // namespace regatta::manager
