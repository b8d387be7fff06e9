#include "admission/testing/objects.h"

#include "lib/api/codec.h"
#include "lib/api/yaml.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace regatta::admission::testing {
namespace {

template <class T>
T read(const Json& json) {
  Result<T> object = api::from_json<T>(json);
  if (!object) throw std::runtime_error(object.error().what() + " in " + dump_json(json));
  return std::move(*object);
}

constexpr std::string_view always = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: dev, labels: {team: dev}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}
)";

}  // namespace

Loaded::Loaded(std::string_view yaml, Config config) : state(std::move(config)) {
  load(always);
  load(yaml);
}

void Loaded::load(std::string_view yaml) {
  const Result<std::vector<Json>> documents = api::parse_yaml_documents(yaml);
  if (!documents) throw std::runtime_error(documents.error().what());
  for (Json document : *documents) {
    const std::string kind = document.at("kind").get<std::string>();
    if (kind == "Namespace") {
      state.upsert(read<api::Namespace>(document));
    } else if (kind == "ResourceFlavor") {
      state.upsert(read<api::ResourceFlavor>(document));
    } else if (kind == "AdmissionCheck") {
      state.upsert(read<api::AdmissionCheck>(document));
    } else if (kind == "Topology") {
      state.upsert(read<api::Topology>(document));
    } else if (kind == "Node") {
      state.upsert(read<api::Node>(document), start);
    } else if (kind == "Pod") {
      state.upsert(read<api::Pod>(document), start);
    } else if (kind == "Cohort") {
      state.upsert(read<api::Cohort>(document), start);
    } else if (kind == "ClusterQueue") {
      state.upsert(read<api::ClusterQueue>(document), start);
    } else if (kind == "LocalQueue") {
      state.upsert(read<api::LocalQueue>(document), start);
    } else if (kind == "Workload") {
      Json& metadata = document["metadata"];
      if (!metadata.contains("uid")) {
        metadata["uid"] = "uid-" + metadata.at("name").get<std::string>();
      }
      if (!metadata.contains("creationTimestamp")) {
        metadata["creationTimestamp"] = format_rfc3339(start);
      }
      api::Workload workload = read<api::Workload>(document);
      state.upsert(workload, start);
      workloads[workload.metadata.key()] = std::move(workload);
    } else {
      throw std::runtime_error("no kind of the tests: " + kind);
    }
  }
}

std::string queue_yaml(const std::string& name, int cpus, const std::string& more) {
  return R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: )" +
         name + R"(}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: ")" +
         std::to_string(cpus) + "\"}]}]\n" + more + "\n";
}

std::string local_queue_yaml(const std::string& cluster_queue, const std::string& name) {
  return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, "
         "name: " +
         (name.empty() ? cluster_queue : name) + "}, spec: {clusterQueue: " + cluster_queue +
         "}}\n";
}

std::string workload_yaml(const std::string& name, const std::string& local_queue, int cpus,
                          int priority) {
  return R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {namespace: dev, name: )" +
         name + R"(}
spec:
  queueName: )" +
         local_queue + "\n  priority: " + std::to_string(priority) + R"(
  podSets:
  - name: main
    count: 1
    template: {spec: {containers: [{name: c, resources: {requests: {cpu: )" +
         std::to_string(cpus) + "}}}]}}\n";
}

std::string running_yaml(const std::string& name, const std::string& queue, int cpus, int priority,
                         int since, const std::string& flavor) {
  const std::string when = format_rfc3339(start + std::chrono::minutes(since));
  const std::string tail =
      ", status: \"True\", reason: R, message: m, lastTransitionTime: \"" + when + "\"}";
  return workload_yaml(name, queue, cpus, priority) + R"(status:
  admission:
    clusterQueue: )" +
         queue + R"(
    podSetAssignments:
    - {name: main, count: 1, flavors: {cpu: )" +
         flavor + "}, resourceUsage: {cpu: " + std::to_string(cpus) + "}}\n  conditions:\n" +
         "  - {type: QuotaReserved" + tail + "\n  - {type: Admitted" + tail + "\n";
}

}  // namespace regatta::admission::testing
