#pragma once

#include "jobs/integrations/integrations.h"
#include "jobs/lookup.h"

namespace regatta::jobs {

/// A cluster without objects that knows every kind of job, for what tests do not look up.
class NoObjects : public Lookup {
 public:
  const JobKinds& kinds() const override { return kinds_; }
  JobPtr job(const JobId&) const override { return nullptr; }
  WorkloadPtr workload(const api::ObjectKey&) const override { return nullptr; }
  std::vector<WorkloadPtr> workloads_of(const JobId&) const override { return {}; }
  std::shared_ptr<const api::Namespace> namespace_named(const std::string&) const override {
    return nullptr;
  }
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey&) const override {
    return nullptr;
  }
  std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string&) const override {
    return nullptr;
  }
  std::shared_ptr<const api::ResourceFlavor> flavor(const std::string&) const override {
    return nullptr;
  }
  std::shared_ptr<const api::AdmissionCheck> admission_check(const std::string&) const override {
    return nullptr;
  }
  std::shared_ptr<const api::MultiKueueConfig> multikueue_config(
      const std::string&) const override {
    return nullptr;
  }
  std::shared_ptr<const api::WorkloadPriorityClass> workload_priority_class(
      const std::string&) const override {
    return nullptr;
  }
  std::vector<std::shared_ptr<const api::PriorityClass>> priority_classes() const override {
    return {};
  }

 private:
  JobKinds kinds_ = all_kinds();
};

}  // namespace regatta::jobs
