#pragma once

#include "jobs/lookup.h"

namespace regatta::clusters {

class LocalCluster;

/// Serves decisions from the informers of the local cluster.
class LocalLookup final : public jobs::Lookup {
 public:
  explicit LocalLookup(const LocalCluster& cluster) : cluster_(cluster) {}

  const jobs::JobKinds& kinds() const override;
  jobs::JobPtr job(const jobs::JobId& id) const override;
  std::shared_ptr<const Json> runtime(const jobs::RuntimeRef& ref) const override;
  bool serves_runtimes(const api::ResourceInfo& kind) const override;
  jobs::WorkloadPtr workload(const api::ObjectKey& key) const override;
  std::vector<jobs::WorkloadPtr> workloads_of(const jobs::JobId& owner) const override;
  std::vector<jobs::JobPtr> pods_of(const jobs::JobId& parent) const override;
  std::shared_ptr<const api::Namespace> namespace_named(const std::string& name) const override;
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const override;
  std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string& name) const override;
  std::shared_ptr<const api::ResourceFlavor> flavor(const std::string& name) const override;
  std::shared_ptr<const api::AdmissionCheck> admission_check(
      const std::string& name) const override;
  std::shared_ptr<const api::MultiKueueConfig> multikueue_config(
      const std::string& name) const override;
  std::shared_ptr<const api::WorkloadPriorityClass> workload_priority_class(
      const std::string& name) const override;
  std::vector<std::shared_ptr<const api::PriorityClass>> priority_classes() const override;

 private:
  const LocalCluster& cluster_;
};

}  // namespace regatta::clusters
