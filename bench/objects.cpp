#include "bench/objects.h"

#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

constexpr const char* kueue = "kueue.x-k8s.io/v1beta2";

Json object(const char* api_version, const char* kind, const std::string& name) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

}  // namespace

std::vector<Json> queue_objects(int slots, const std::string& check) {
  Json flavor = object(kueue, "ResourceFlavor", "default");
  Json queue = object(kueue, "ClusterQueue", cluster_queue);
  const Json quotas = Json::array({{{"name", "cpu"}, {"nominalQuota", slots}},
                                   {{"name", "memory"}, {"nominalQuota", "1000Ti"}}});
  const Json flavors = Json::array({{{"name", "default"}, {"resources", quotas}}});
  const Json group = {{"coveredResources", {"cpu", "memory"}}, {"flavors", flavors}};
  queue["spec"]["namespaceSelector"] = Json::object();
  queue["spec"]["resourceGroups"] = Json::array({group});
  if (!check.empty()) {
    const Json checks = Json::array({{{"name", check}}});
    queue["spec"]["admissionChecksStrategy"]["admissionChecks"] = checks;
  }
  Json local = object(kueue, "LocalQueue", local_queue);
  local["metadata"]["namespace"] = job_namespace;
  local["spec"]["clusterQueue"] = cluster_queue;
  return {object("v1", "Namespace", job_namespace), std::move(flavor), std::move(queue),
          std::move(local)};
}

std::vector<Json> fleet_objects(const std::vector<std::string>& workers,
                                const std::string& dispatcher) {
  std::vector<Json> all;
  for (const std::string& worker : workers) {
    Json cluster = object(kueue, "MultiKueueCluster", worker);
    Json& where = cluster["spec"]["clusterSource"]["kubeConfig"];
    where["locationType"] = "Secret";
    where["location"] = worker;
    all.push_back(std::move(cluster));
  }
  Json config = object(kueue, "MultiKueueConfig", "fleet");
  config["spec"]["clusters"] = workers;
  all.push_back(std::move(config));
  Json check = object(kueue, "AdmissionCheck", race_check);
  check["spec"]["controllerName"] = "kueue.x-k8s.io/multikueue";
  check["spec"]["parameters"] = {
      {"apiGroup", "kueue.x-k8s.io"}, {"kind", "MultiKueueConfig"}, {"name", "fleet"}};
  if (!dispatcher.empty()) {
    check["metadata"]["annotations"]["multikueue.regatta.dev/dispatcher"] = dispatcher;
  }
  all.push_back(std::move(check));
  return all;
}

Json kubeconfig_secret(const std::string& worker, const std::string& kubeconfig) {
  Json secret = object("v1", "Secret", worker);
  secret["metadata"]["namespace"] = "kueue-system";
  secret["stringData"]["kubeconfig"] = kubeconfig;
  return secret;
}

}  // namespace regatta::bench
