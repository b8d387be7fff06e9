#include "lib/api/names.h"
#include "whatif/engine/cluster.h"

namespace regatta::whatif {
namespace {

template <class Map, class Key>
typename Map::mapped_type find_in(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

template <class Map>
std::vector<typename Map::mapped_type> values_of(const Map& map) {
  std::vector<typename Map::mapped_type> all;
  for (const auto& [key, one] : map) all.push_back(one);
  return all;
}

}  // namespace

jobs::WorkloadPtr Cluster::workload_of(const Course& course) {
  return jobs::WorkloadPtr(jobs::WorkloadPtr(), &course.workload);
}

jobs::JobPtr Cluster::job(const jobs::JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

jobs::WorkloadPtr Cluster::workload(const api::ObjectKey& key) const {
  const Course* course = find(key);
  return course ? workload_of(*course) : nullptr;
}

std::vector<jobs::WorkloadPtr> Cluster::workloads_of(const jobs::JobId& owner) const {
  const auto found = by_job_.find(owner);
  if (found == by_job_.end()) return {};
  return {workload_of(courses_[found->second])};
}

/// An object cannot be in a namespace that does not exist. A namespace without a manifest is
/// implied.
std::shared_ptr<const api::Namespace> Cluster::namespace_named(const std::string& name) const {
  if (auto given = find_in(namespaces_, name)) return given;
  auto implied = std::make_shared<api::Namespace>();
  implied->metadata.name = name;
  implied->metadata.labels["kubernetes.io/metadata.name"] = name;
  return implied;
}

std::shared_ptr<const api::LocalQueue> Cluster::local_queue(const api::ObjectKey& key) const {
  return find_in(local_queues_, key);
}

std::shared_ptr<const api::ClusterQueue> Cluster::cluster_queue(const std::string& name) const {
  return find_in(cluster_queues_, name);
}

std::shared_ptr<const api::ResourceFlavor> Cluster::flavor(const std::string& name) const {
  return find_in(flavors_, name);
}

std::shared_ptr<const api::AdmissionCheck> Cluster::admission_check(const std::string& name) const {
  return find_in(checks_, name);
}

std::shared_ptr<const api::MultiKueueConfig> Cluster::multikueue_config(
    const std::string& name) const {
  const auto selecting = find_in(selecting_, name);
  return selecting ? selecting : find_in(configs_, name);
}

std::shared_ptr<const api::MultiKueueCluster> Cluster::multikueue_cluster(
    const std::string& name) const {
  return find_in(multikueue_clusters_, name);
}

std::shared_ptr<const api::WorkloadPriorityClass> Cluster::workload_priority_class(
    const std::string& name) const {
  return find_in(workload_classes_, name);
}

std::vector<std::shared_ptr<const api::PriorityClass>> Cluster::priority_classes() const {
  return values_of(priority_classes_);
}

std::vector<std::shared_ptr<const api::Cohort>> Cluster::cohorts() const {
  return values_of(cohorts_);
}

std::vector<std::shared_ptr<const api::LocalQueue>> Cluster::local_queues() const {
  return values_of(local_queues_);
}

std::vector<std::string> Cluster::cluster_queues() const {
  std::vector<std::string> names;
  for (const auto& [name, queue] : cluster_queues_) names.push_back(name);
  return names;
}

std::shared_ptr<const api::ClusterQueue> Cluster::shown_queue(const std::string& name) {
  const auto given = find_in(cluster_queues_, name);
  if (!given) return nullptr;
  auto shown = std::make_shared<api::ClusterQueue>(*given);
  shown->status = state_.reader().status(name);
  // Whatever changed before shows in it.
  shown->metadata.resource_version = std::to_string(versions_ + 1);
  return shown;
}

std::vector<jobs::WorkloadPtr> Cluster::copies() const {
  std::vector<jobs::WorkloadPtr> all;
  for (const std::uint32_t id : active_) {
    if (courses_[id].copy) all.push_back(workload_of(courses_[id]));
  }
  return all;
}

}  // namespace regatta::whatif
