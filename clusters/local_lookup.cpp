#include "clusters/local_lookup.h"

#include "clusters/local_cluster.h"

namespace regatta::clusters {

const jobs::JobKinds& LocalLookup::kinds() const {
  return cluster_.jobs.kinds();
}

jobs::JobPtr LocalLookup::job(const jobs::JobId& id) const {
  return cluster_.jobs.get(id);
}

std::shared_ptr<const Json> LocalLookup::runtime(const jobs::RuntimeRef& ref) const {
  return cluster_.runtimes.get(ref);
}

bool LocalLookup::serves_runtimes(const api::ResourceInfo& kind) const {
  return cluster_.runtimes.serves(kind);
}

jobs::WorkloadPtr LocalLookup::workload(const api::ObjectKey& key) const {
  return cluster_.workloads.get(key);
}

std::vector<jobs::WorkloadPtr> LocalLookup::workloads_of(const jobs::JobId& owner) const {
  return cluster_.workloads.by_index(by_owner, owner_name(owner));
}

std::vector<jobs::JobPtr> LocalLookup::pods_of(const jobs::JobId& parent) const {
  return cluster_.jobs.pods_of(parent);
}

std::shared_ptr<const api::Namespace> LocalLookup::namespace_named(const std::string& name) const {
  return cluster_.namespaces.get(api::ObjectKey(name));
}

std::shared_ptr<const api::LocalQueue> LocalLookup::local_queue(const api::ObjectKey& key) const {
  return cluster_.local_queues.get(key);
}

std::shared_ptr<const api::ClusterQueue> LocalLookup::cluster_queue(const std::string& name) const {
  return cluster_.cluster_queues.get(api::ObjectKey(name));
}

std::shared_ptr<const api::ResourceFlavor> LocalLookup::flavor(const std::string& name) const {
  return cluster_.flavors.get(api::ObjectKey(name));
}

std::shared_ptr<const api::AdmissionCheck> LocalLookup::admission_check(
    const std::string& name) const {
  return cluster_.checks.get(api::ObjectKey(name));
}

std::shared_ptr<const api::MultiKueueConfig> LocalLookup::multikueue_config(
    const std::string& name) const {
  return cluster_.selection.config(name);
}

std::shared_ptr<const api::WorkloadPriorityClass> LocalLookup::workload_priority_class(
    const std::string& name) const {
  return cluster_.workload_priority_classes.get(api::ObjectKey(name));
}

std::vector<std::shared_ptr<const api::PriorityClass>> LocalLookup::priority_classes() const {
  return cluster_.priority_classes.list();
}

}  // namespace regatta::clusters
