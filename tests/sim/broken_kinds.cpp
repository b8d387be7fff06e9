#include "tests/sim/broken_kinds.h"

#include <utility>

namespace regatta::simtest {
namespace {

using jobs::CheckOptions;
using jobs::GenericJob;
using jobs::JobKind;
using jobs::JobPtr;
using jobs::PodSetInfo;

class BrokenKind;

class BrokenJob final : public GenericJob {
 public:
  BrokenJob(const BrokenKind& kind, JobPtr sound) : kind_(kind), sound_(std::move(sound)) {}

  const JobKind& kind() const override;
  const api::ObjectMeta& metadata() const override { return sound_->metadata(); }
  Result<std::optional<jobs::RuntimeRef>> runtime() const override { return sound_->runtime(); }
  JobPtr with_runtime(const Json& runtime) const override {
    return std::make_shared<const BrokenJob>(kind_, sound_->with_runtime(runtime));
  }
  Result<std::vector<api::PodSet>> pod_sets(const jobs::TopologyOptions& topology) const override {
    return sound_->pod_sets(topology);
  }
  std::vector<std::int32_t> pod_counts() const override;
  std::string pod_priority_class() const override { return sound_->pod_priority_class(); }
  bool equivalent(const api::Workload& workload,
                  const std::vector<PodSetInfo>* running) const override {
    return sound_->equivalent(workload, running);
  }
  std::string pod_selector() const override { return sound_->pod_selector(); }
  bool suspended() const override;
  bool stopping() const override { return sound_->stopping(); }
  bool passed_over() const override { return sound_->passed_over(); }
  bool on_hold() const override { return sound_->on_hold(); }
  bool active() const override;
  std::optional<jobs::Finished> finished() const override;
  bool pods_ready() const override { return sound_->pods_ready(); }
  std::vector<api::ReclaimablePod> reclaimable_pods() const override {
    return sound_->reclaimable_pods();
  }
  Result<Json> start_patch(const std::vector<PodSetInfo>& infos) const override;
  std::optional<jobs::StopStep> next_stop_step(const api::Workload* workload,
                                               bool at_once) const override;
  Json queue_patch(const std::string& queue) const override { return sound_->queue_patch(queue); }
  Json suspend_patch() const override { return sound_->suspend_patch(); }
  Json webhook_patch() const override { return sound_->webhook_patch(); }
  std::optional<jobs::ManagedBy> managed_by() const override { return sound_->managed_by(); }
  Json managed_by_patch(std::string_view manager) const override {
    return sound_->managed_by_patch(manager);
  }
  void check(const CheckOptions& options, api::ErrorList* errors) const override {
    sound_->check(options, errors);
  }
  void check_update(const GenericJob& before, const CheckOptions& options,
                    api::ErrorList* errors) const override {
    sound_->check_update(sound_of(before), options, errors);
  }
  std::string not_managed_reason() const override;
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;
  Json follow_patch(const GenericJob& remote) const override {
    return sound_->follow_patch(sound_of(remote));
  }
  Json status_patch(const GenericJob& remote) const override;
  Json release_patch() const override;
  Json final_patch(bool success, const std::string& message, TimePoint now) const override {
    return sound_->final_patch(success, message, now);
  }

 private:
  static const GenericJob& sound_of(const GenericJob& job) {
    const auto* broken = dynamic_cast<const BrokenJob*>(&job);
    return broken ? *broken->sound_ : job;
  }

  const BrokenKind& kind_;
  JobPtr sound_;
};

class BrokenKind final : public JobKind {
 public:
  BrokenKind(std::shared_ptr<const JobKind> sound, Breakage given)
      : breakage(std::move(given)), sound_(std::move(sound)) {}

  std::string_view framework() const override { return sound_->framework(); }
  const api::ResourceInfo& resource() const override { return sound_->resource(); }
  std::span<const api::ResourceInfo> runtimes() const override { return sound_->runtimes(); }
  Result<JobPtr> decode(const Json& object, api::TemplatePool* pool) const override {
    auto job = sound_->decode(object, pool);
    if (!job) return job.error();
    return std::make_shared<const BrokenJob>(*this, std::move(*job));
  }

  const Breakage breakage;

 private:
  std::shared_ptr<const JobKind> sound_;
};

const JobKind& BrokenJob::kind() const {
  return kind_;
}

std::vector<std::int32_t> BrokenJob::pod_counts() const {
  const auto& broken = kind_.breakage.pod_counts;
  return broken ? broken(*sound_) : sound_->pod_counts();
}

bool BrokenJob::suspended() const {
  const auto& broken = kind_.breakage.suspended;
  return broken ? broken(*sound_) : sound_->suspended();
}

bool BrokenJob::active() const {
  const auto& broken = kind_.breakage.active;
  return broken ? broken(*sound_) : sound_->active();
}

std::optional<jobs::Finished> BrokenJob::finished() const {
  const auto& broken = kind_.breakage.finished;
  return broken ? broken(*sound_) : sound_->finished();
}

Result<Json> BrokenJob::start_patch(const std::vector<PodSetInfo>& infos) const {
  const auto& broken = kind_.breakage.start_patch;
  return broken ? broken(*sound_, infos) : sound_->start_patch(infos);
}

std::optional<jobs::StopStep> BrokenJob::next_stop_step(const api::Workload* workload,
                                                        bool at_once) const {
  const auto& broken = kind_.breakage.next_stop_step;
  return broken ? broken(*sound_, workload) : sound_->next_stop_step(workload, at_once);
}

std::string BrokenJob::not_managed_reason() const {
  const auto& broken = kind_.breakage.not_managed_reason;
  return broken ? broken(*sound_) : sound_->not_managed_reason();
}

Json BrokenJob::remote_job(const api::Workload& workload, const std::string& origin) const {
  const auto& broken = kind_.breakage.remote_job;
  return broken ? broken(*sound_, workload, origin) : sound_->remote_job(workload, origin);
}

Json BrokenJob::status_patch(const GenericJob& remote) const {
  const auto& broken = kind_.breakage.status_patch;
  const GenericJob& theirs = sound_of(remote);
  return broken ? broken(*sound_, theirs) : sound_->status_patch(theirs);
}

Json BrokenJob::release_patch() const {
  const auto& broken = kind_.breakage.release_patch;
  return broken ? broken(*sound_) : sound_->release_patch();
}

}  // namespace

jobs::JobKinds with_broken(const jobs::JobKinds& kinds, const std::string& kind,
                           const Breakage& breakage) {
  std::vector<std::shared_ptr<const JobKind>> all = kinds.all();
  for (auto& one : all) {
    if (one->resource().kind == kind) one = std::make_shared<const BrokenKind>(one, breakage);
  }
  return jobs::JobKinds(std::move(all));
}

}  // namespace regatta::simtest
