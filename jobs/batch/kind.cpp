#include "jobs/batch/kind.h"

#include "jobs/batch/batch_job.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

/// The value of spec.managedBy that means the same as none.
constexpr std::string_view own_controller = "kubernetes.io/job-controller";

class BatchJobKind final : public JobKind {
 public:
  std::string_view framework() const override { return "batch/job"; }
  const api::ResourceInfo& resource() const override { return api::Job::resource; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool* pool) const override;
  bool may_be_elastic() const override { return true; }
};

class BatchJob final : public GenericJob {
 public:
  explicit BatchJob(api::Job job) : job_(std::move(job)) {}

  const api::Job& job() const { return job_; }
  const JobKind& kind() const override { return *batch_job_kind(); }
  const api::ObjectMeta& metadata() const override { return job_.metadata; }

  Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions& topology) const override {
    return batch_job::pod_sets(job_, topology);
  }
  std::vector<std::int32_t> pod_counts() const override { return {batch_job::pod_count(job_)}; }
  std::string pod_priority_class() const override {
    return job_.spec.pod_template.spec().priority_class_name;
  }
  bool equivalent(const api::Workload& workload,
                  const std::vector<PodSetInfo>* running) const override {
    return batch_job::equivalent(job_, workload, running);
  }

  std::string pod_selector() const override {
    return std::string(api::labels::job_name) + "=" + job_.metadata.name;
  }
  bool suspended() const override { return batch_job::suspended(job_); }
  bool stopping() const override { return batch_job::stopping(job_); }
  bool active() const override { return batch_job::active(job_); }
  std::optional<Finished> finished() const override { return batch_job::finished(job_); }
  bool pods_ready() const override { return batch_job::pods_ready(job_); }
  std::vector<api::ReclaimablePod> reclaimable_pods() const override {
    return batch_job::reclaimable_pods(job_);
  }

  Result<Json> start_patch(const std::vector<PodSetInfo>& infos) const override {
    if (infos.size() != 1) {
      return Error(Errc::invalid,
                   "a Job has one pod set, its admission has " + std::to_string(infos.size()));
    }
    return batch_job::start_patch(job_, infos.front());
  }
  std::optional<StopStep> next_stop_step(const api::Workload* workload,
                                         bool at_once) const override {
    return batch_job::next_stop_step(job_, workload, at_once);
  }
  Json queue_patch(const std::string& queue) const override {
    return batch_job::queue_patch(job_, queue);
  }

  Json suspend_patch() const override {
    return job_.spec.suspend.value_or(false) ? Json::object() : Json{{"spec", {{"suspend", true}}}};
  }
  std::optional<ManagedBy> managed_by() const override {
    const auto& by = job_.spec.managed_by;
    return ManagedBy{by, !by || *by == own_controller};
  }
  Json managed_by_patch(std::string_view manager) const override {
    return {{"spec", {{"managedBy", manager}}}};
  }
  void check(const CheckOptions& options, api::ErrorList* errors) const override {
    batch_job::check(job_, options, errors);
  }
  void check_update(const GenericJob& before, const CheckOptions& options,
                    api::ErrorList* errors) const override {
    if (const api::Job* old = typed(before)) batch_job::check_update(*old, job_, options, errors);
  }

  std::string not_managed_reason() const override { return batch_job::not_managed_reason(job_); }
  Json remote_job(const api::Workload& workload, const std::string& origin) const override {
    return batch_job::remote_job(job_, workload, origin);
  }
  Json status_patch(const GenericJob& remote) const override {
    const api::Job* theirs = typed(remote);
    return theirs ? batch_job::status_patch(job_, *theirs) : Json::object();
  }
  Json resize_patch(const GenericJob& remote) const override {
    const api::Job* theirs = typed(remote);
    return theirs ? batch_job::resize_patch(job_, *theirs) : Json::object();
  }
  Json release_patch() const override { return batch_job::release_patch(job_); }
  Json final_patch(bool success, const std::string& message, TimePoint now) const override {
    return batch_job::final_patch(job_, success, message, now);
  }

 private:
  api::Job job_;
};

/// The shared view of the template has no labels: Regatta never reads them, and those of the Job
/// controller differ from Job to Job.
Result<JobPtr> BatchJobKind::decode(const Json& object, api::TemplatePool* pool) const {
  Result<api::Job> job = api::from_json<api::Job>(object);
  if (!job) return job.error();
  if (pool) {
    pool->share(&*job);
    job->spec.pod_template = job->spec.pod_template.without_labels();
  }
  return generic(std::move(*job));
}

}  // namespace

std::shared_ptr<const JobKind> batch_job_kind() {
  static const auto kind = std::make_shared<const BatchJobKind>();
  return kind;
}

JobPtr generic(api::Job job) {
  return std::make_shared<const BatchJob>(std::move(job));
}

const api::Job* typed(const GenericJob& job) {
  const auto* mine = dynamic_cast<const BatchJob*>(&job);
  return mine ? &mine->job() : nullptr;
}

}  // namespace regatta::jobs
