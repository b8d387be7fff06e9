#include "bench/objects.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::bench {
namespace {

constexpr const char* kueue = "kueue.x-k8s.io/v1beta2";

Json object(const char* api_version, const char* kind, const std::string& name) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

}  // namespace

int groups_of(int workers) {
  return std::max(1, (workers + group_size - 1) / group_size);
}

std::string group_name(int group) {
  return group == 0 ? "bench" : "bench-" + std::to_string(group + 1);
}

std::vector<Json> ground_objects() {
  return {object("v1", "Namespace", job_namespace), object("v1", "Namespace", "kueue-system"),
          object(kueue, "ResourceFlavor", "default")};
}

std::vector<Json> queue_objects(int group, int slots, bool checked) {
  const std::string name = group_name(group);
  Json queue = object(kueue, "ClusterQueue", name);
  const Json quotas = Json::array({{{"name", "cpu"}, {"nominalQuota", slots}},
                                   {{"name", "memory"}, {"nominalQuota", "1000Ti"}}});
  const Json flavors = Json::array({{{"name", "default"}, {"resources", quotas}}});
  const Json covered = {{"coveredResources", {"cpu", "memory"}}, {"flavors", flavors}};
  queue["spec"]["namespaceSelector"] = Json::object();
  queue["spec"]["resourceGroups"] = Json::array({covered});
  if (checked) {
    const Json checks = Json::array({{{"name", name}}});
    queue["spec"]["admissionChecksStrategy"]["admissionChecks"] = checks;
  }
  Json local = object(kueue, "LocalQueue", name);
  local["metadata"]["namespace"] = job_namespace;
  local["spec"]["clusterQueue"] = name;
  return {std::move(queue), std::move(local)};
}

std::vector<Json> cluster_objects(const std::vector<std::string>& workers) {
  std::vector<Json> all;
  for (const std::string& worker : workers) {
    Json cluster = object(kueue, "MultiKueueCluster", worker);
    Json& where = cluster["spec"]["clusterSource"]["kubeConfig"];
    where["locationType"] = "Secret";
    where["location"] = worker;
    all.push_back(std::move(cluster));
  }
  return all;
}

std::vector<Json> fleet_objects(int group, const std::vector<std::string>& workers,
                                const std::string& dispatcher) {
  const std::string name = group_name(group);
  std::vector<Json> all = cluster_objects(workers);
  Json config = object(kueue, "MultiKueueConfig", name);
  config["spec"]["clusters"] = workers;
  all.push_back(std::move(config));
  Json check = object(kueue, "AdmissionCheck", name);
  check["spec"]["controllerName"] = "kueue.x-k8s.io/multikueue";
  check["spec"]["parameters"] = {
      {"apiGroup", "kueue.x-k8s.io"}, {"kind", "MultiKueueConfig"}, {"name", name}};
  if (!dispatcher.empty()) {
    check["metadata"]["annotations"]["multikueue.regatta.dev/dispatcher"] = dispatcher;
  }
  all.push_back(std::move(check));
  return all;
}

std::vector<Json> raced_job(const lab::RacedKind& kind, const std::string& name,
                            const std::string& queue, double run_seconds) {
  const Json container = {{"name", "main"},
                          {"image", "registry.example/train:1"},
                          {"args", {"--epochs", "3"}},
                          {"resources", {{"requests", {{"cpu", "1"}, {"memory", "1Gi"}}}}}};
  const Json pod = {{"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  std::string seconds = dump_json(Json(run_seconds));
  Json metadata = {{"name", name},
                   {"namespace", job_namespace},
                   {"labels", {{"kueue.x-k8s.io/queue-name", queue}}},
                   {"annotations",
                    {{"sandbox.regatta.dev/run-seconds", std::move(seconds)},
                     {"sandbox.regatta.dev/pods", "false"}}}};
  return kind.make(std::move(metadata), {{"spec", pod}}, group_pods);
}

Json kubeconfig_secret(const std::string& worker, const std::string& kubeconfig) {
  Json secret = object("v1", "Secret", worker);
  secret["metadata"]["namespace"] = "kueue-system";
  secret["stringData"]["kubeconfig"] = kubeconfig;
  return secret;
}

}  // namespace regatta::bench
