#pragma once

#include "jobs/job_notes.h"
#include "jobs/lookup.h"
#include "jobs/plan.h"
#include "lib/base/json.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace regatta::lab {

/// The objects of one cluster in a scenario of jobs: an API server without defaults, validation,
/// garbage collection and controllers. It remembers what was done to its objects since begin().
class JobWorld final : public jobs::Lookup {
 public:
  /// Without `runtimes` no kind of runtimes is served.
  JobWorld(jobs::JobKinds kinds, TimePoint now, bool runtimes = true)
      : kinds_(std::move(kinds)), now_(now), runtimes_(runtimes) {}

  void put(const Json& object);
  /// What happened before is forgotten.
  void begin();

  /// Carries out an action on a job, as the reconciler of the manager does.
  void carry_out(const jobs::GenericJob& job, const jobs::JobAction& action);
  /// Lets a Workload go whose job is gone.
  void release(const jobs::WorkloadPtr& workload);
  void create(const Json& object);
  /// A merge patch; one that names another uid applies to nothing.
  void patch(const api::ResourceInfo& kind, const api::ObjectKey& key, Json patch);
  void remove(const api::ResourceInfo& kind, const api::ObjectKey& key);
  void note(const jobs::JobNote& note);
  void fail(const std::string& error);

  /// {changed, created, deleted}; empty members are left out.
  Json changes() const;
  /// The same with {events, errors}.
  Json outcome() const;
  const Json* object(const api::ResourceInfo& kind, const api::ObjectKey& key) const;
  std::vector<Json> created(std::string_view kind) const;
  /// What is planned for objects of a kind, by namespace and name: jobs, and groups of them.
  std::vector<jobs::JobId> jobs_of(const jobs::JobKind& kind) const;
  /// Changes with every write.
  std::size_t version() const { return version_; }
  TimePoint now() const { return now_; }

  const jobs::JobKinds& kinds() const override { return kinds_; }
  jobs::JobPtr job(const jobs::JobId& id) const override;
  std::shared_ptr<const Json> runtime(const jobs::RuntimeRef& ref) const override;
  bool serves_runtimes(const api::ResourceInfo&) const override { return runtimes_; }
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
  struct Id {
    std::string group;
    std::string kind;
    api::ObjectKey key;
    friend auto operator<=>(const Id&, const Id&) = default;
  };
  struct Entry {
    Json object;
    mutable std::shared_ptr<const void> decoded;  ///< of the type of its kind, or a GenericJob
  };

  static Id id_of(const Json& object);
  static Id id_of(const api::ResourceInfo& kind, const api::ObjectKey& key);
  template <class T>
  std::shared_ptr<const T> typed(const Entry& entry) const;
  template <class T>
  std::shared_ptr<const T> find(const api::ObjectKey& key) const;
  void store(const Id& id, Json object);
  void write_workload(const jobs::GenericJob& job, const jobs::JobAction& action);
  void write_job(const jobs::GenericJob& job, const jobs::JobAction& action);
  void patch(const jobs::JobWrite& write);
  void remove(const jobs::GenericJob& job);
  jobs::JobPtr decode(const jobs::JobKind& kind, const Entry& entry) const;
  jobs::JobPtr compose(const jobs::JobId& id) const;

  jobs::JobKinds kinds_;
  TimePoint now_;
  bool runtimes_;
  std::map<Id, Entry> objects_;
  std::map<Id, Json> before_;
  std::set<std::string> deleted_;
  std::set<std::tuple<std::string, std::string, std::string, std::string>> events_;
  std::vector<std::string> errors_;
  std::size_t version_ = 0;
};

}  // namespace regatta::lab
