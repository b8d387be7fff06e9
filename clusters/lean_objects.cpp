#include "clusters/lean_objects.h"

#include "lib/api/names.h"
#include "lib/api/placed.h"

#include <algorithm>
#include <utility>

namespace regatta::clusters {
namespace {

bool concerns_placement(const std::string& annotation) {
  return annotation == api::annotations::workload ||
         annotation == api::annotations::workload_slice_name ||
         annotation == api::annotations::pod_index_offset ||
         annotation.starts_with("kueue.x-k8s.io/podset-");
}

}  // namespace

api::ObjectMeta lean(api::ObjectMeta metadata) {
  api::ObjectMeta kept;
  kept.name = std::move(metadata.name);
  kept.ns = std::move(metadata.ns);
  kept.uid = std::move(metadata.uid);
  kept.resource_version = std::move(metadata.resource_version);
  kept.creation_timestamp = metadata.creation_timestamp;
  kept.deletion_timestamp = metadata.deletion_timestamp;
  return kept;
}

void keep_for_placement(api::Node* node) {
  api::StringMap labels = std::move(node->metadata.labels);
  node->metadata = lean(std::move(node->metadata));
  node->metadata.labels = std::move(labels);
  node->status.capacity.clear();
  std::erase_if(node->status.conditions, [](const auto& c) { return c.type != "Ready"; });
  for (api::StatusCondition& condition : node->status.conditions) {
    // Kubelets renew these fields all the time, and no decision reads them.
    condition.last_probe_time.reset();
    condition.message.clear();
  }
}

void keep_for_placement(api::Pod* pod) {
  api::StringMap labels = std::move(pod->metadata.labels);
  api::StringMap annotations = std::move(pod->metadata.annotations);
  api::PodSpec spec = std::move(pod->spec);
  pod->metadata = lean(std::move(pod->metadata));
  pod->spec = {};
  pod->spec.node_name = spec.node_name;
  pod->status = {std::move(pod->status.phase), {}, {}, {}, {}};
  if (!spec.node_name.empty()) {
    api::Container all;
    all.resources.requests = api::pod_requests(spec);
    pod->spec.containers.push_back(std::move(all));
  }
  if (api::placed_by_topology(annotations)) {
    std::erase_if(annotations, [](const auto& one) { return !concerns_placement(one.first); });
    pod->metadata.labels = std::move(labels);
    pod->metadata.annotations = std::move(annotations);
    pod->spec.node_selector = std::move(spec.node_selector);
    pod->spec.scheduling_gates = std::move(spec.scheduling_gates);
    return;
  }
  if (spec.node_name.empty()) return;
  for (const std::string_view name :
       {api::annotations::workload, api::annotations::workload_slice_name}) {
    const auto found = annotations.find(std::string(name));
    if (found != annotations.end()) pod->metadata.annotations.insert(*found);
  }
}

std::string workload_of(const api::Pod& pod) {
  const std::string& name = pod.metadata.annotation(std::string(api::annotations::workload));
  return name.empty() ? std::string() : pod.metadata.ns + "/" + name;
}

std::string first_slice_of(const api::Pod& pod) {
  const std::string& name =
      pod.metadata.annotation(std::string(api::annotations::workload_slice_name));
  return name.empty() ? workload_of(pod) : pod.metadata.ns + "/" + name;
}

}  // namespace regatta::clusters
