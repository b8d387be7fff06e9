#pragma once

#include "jobs/generic_job.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"

#include <memory>
#include <string>
#include <vector>

namespace regatta::jobs {

/// Where decisions find the objects of a cluster. read_job(), lifecycle::read_lifecycle() and
/// dispatch::read_group() make their pictures from it alone; the manager serves it from its
/// informers, `regatta simulate` from the manifests it was given, so that both decide on the same
/// inputs. A null pointer means that there is no such object.
class Lookup {
 public:
  virtual ~Lookup() = default;

  virtual const JobKinds& kinds() const = 0;
  virtual JobPtr job(const JobId& id) const = 0;
  /// The runtime that jobs refer to.
  virtual std::shared_ptr<const Json> runtime(const RuntimeRef&) const { return nullptr; }
  /// Whether the API serves runtimes of that kind, as far as is known.
  virtual bool serves_runtimes(const api::ResourceInfo& /*kind*/) const { return true; }
  virtual WorkloadPtr workload(const api::ObjectKey& key) const = 0;
  /// Workloads that a job of that kind and name controls, whatever its uid, by name; of a serving
  /// job, those that it owns.
  virtual std::vector<WorkloadPtr> workloads_of(const JobId& owner) const = 0;

  /// The Pods that a serving job or its jobs made, by name, as far as they are followed.
  virtual std::vector<JobPtr> pods_of(const JobId& /*parent*/) const { return {}; }

  virtual std::shared_ptr<const api::Namespace> namespace_named(const std::string& name) const = 0;
  virtual std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const = 0;
  virtual std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string& name) const = 0;
  virtual std::shared_ptr<const api::ResourceFlavor> flavor(const std::string& name) const = 0;
  virtual std::shared_ptr<const api::AdmissionCheck> admission_check(
      const std::string& name) const = 0;
  virtual std::shared_ptr<const api::MultiKueueConfig> multikueue_config(
      const std::string& name) const = 0;
  virtual std::shared_ptr<const api::WorkloadPriorityClass> workload_priority_class(
      const std::string& name) const = 0;
  virtual std::vector<std::shared_ptr<const api::PriorityClass>> priority_classes() const = 0;
};

}  // namespace regatta::jobs
