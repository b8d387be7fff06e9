#include "admission/state.h"

#include <algorithm>

namespace regatta::admission {

State::Affected State::waiting_in_namespace(const std::string& ns) const {
  Affected affected;
  for (const LocalQueueInfo& local : local_queues_) {
    if (local.key.ns != ns) continue;
    for (const WorkloadId id : local.members) {
      if (workloads_[id].reservation == nullptr) affected.push_back(workloads_[id].key);
    }
  }
  return affected;
}

State::Affected State::waiting_with_class(const std::string& runtime_class) const {
  Affected affected;
  for (const LocalQueueInfo& local : local_queues_) {
    for (const WorkloadId id : local.members) {
      const WorkloadEntry& entry = workloads_[id];
      const auto& classes = entry.shape->runtime_classes;
      const bool named = std::find(classes.begin(), classes.end(), runtime_class) != classes.end();
      if (named && entry.reservation == nullptr) affected.push_back(entry.key);
    }
  }
  return affected;
}

State::Affected State::upsert(const api::LimitRange& range) {
  return pod_defaults_.upsert(range) ? waiting_in_namespace(range.metadata.ns) : Affected();
}

State::Affected State::erase_limit_range(const api::ObjectKey& key) {
  return pod_defaults_.erase_limit_range(key) ? waiting_in_namespace(key.ns) : Affected();
}

State::Affected State::upsert(const api::RuntimeClass& runtime_class) {
  if (!pod_defaults_.upsert(runtime_class)) return {};
  return waiting_with_class(runtime_class.metadata.name);
}

State::Affected State::erase_runtime_class(const std::string& name) {
  return pod_defaults_.erase_runtime_class(name) ? waiting_with_class(name) : Affected();
}

std::vector<api::PodSetRequest> State::resource_requests(const api::ObjectKey& workload) const {
  std::vector<api::PodSetRequest> out;
  const WorkloadId id = workloads_.find(workload);
  if (id == no_id || workloads_[id].shape == nullptr) return out;
  for (const PodSetShape& pod_set : workloads_[id].shape->pod_sets) {
    api::PodSetRequest& request = out.emplace_back();
    request.name = pod_set.name;
    for (const ResourceAmount& wanted : pod_set.requests) {
      const std::string& resource = names_.resources.name(wanted.resource);
      request.resources.emplace(resource, api::resource_quantity(resource, wanted.amount));
    }
  }
  return out;
}

}  // namespace regatta::admission
