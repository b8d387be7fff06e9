#include "manager/managed_cluster_rules.h"

#include "kubeconfig/endpoint.h"

#include <utility>

namespace regatta::manager {
namespace {

std::string kubeconfig_of(const placement::WorkerAccess& access, const std::string& name) {
  kubeconfig::Endpoint endpoint;
  endpoint.url = access.server;
  endpoint.ca_pem = access.ca_pem;
  endpoint.bearer_token = access.token;
  return kubeconfig::write(endpoint, name);
}

}  // namespace

placement::ManagedClusterRules complete(placement::ManagedClusterRules rules,
                                        const jobs::JobKinds& sent, std::string system_namespace) {
  rules.system_namespace = std::move(system_namespace);
  rules.write_kubeconfig = kubeconfig_of;
  for (const auto& kind : sent.all()) {
    const api::ResourceInfo& resource = kind->resource();
    rules.jobs.push_back({std::string(resource.group), std::string(resource.plural)});
  }
  return rules;
}

}  // namespace regatta::manager
