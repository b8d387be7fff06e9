#pragma once

#include "jobs/generic_job.h"

#include <nlohmann/json.hpp>

namespace regatta::jobs {

/// Base of what is on the wall but is neither started nor stopped itself, because its Pods are.
class IdleJob : public GenericJob {
 public:
  bool stopping() const override { return false; }

  std::optional<StopStep> next_stop_step(const api::Workload*, bool) const override {
    return std::nullopt;
  }
  Json queue_patch(const std::string&) const override { return Json::object(); }

  Json suspend_patch() const override { return Json::object(); }
  std::optional<ManagedBy> managed_by() const override { return std::nullopt; }
  Json managed_by_patch(std::string_view) const override { return Json::object(); }
  void check(const CheckOptions&, api::ErrorList*) const override {}
  void check_update(const GenericJob&, const CheckOptions&, api::ErrorList*) const override {}

  bool waits_on_hub() const override { return true; }
  std::string not_managed_reason() const override { return {}; }
  Json remote_job(const api::Workload&, const std::string&) const override {
    return Json::object();
  }
  Json status_patch(const GenericJob&) const override { return Json::object(); }
  Json release_patch() const override { return Json::object(); }
  Json final_patch(bool, const std::string&, TimePoint) const override { return Json::object(); }
};

/// One that is a single object, of which no Workload says whether it runs.
class IdleObject : public IdleJob {
 public:
  const JobKind& kind() const final { return kind_; }
  const api::ObjectMeta& metadata() const final { return metadata_; }

  Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions&) const override {
    return std::vector<api::PodSet>();
  }
  std::vector<std::int32_t> pod_counts() const override { return {}; }
  std::string pod_priority_class() const override { return {}; }
  bool equivalent(const api::Workload&, const std::vector<PodSetInfo>*) const override {
    return true;
  }

  bool untold_on_hub() const override { return true; }
  std::string pod_selector() const override { return {}; }
  bool suspended() const override { return false; }
  bool active() const override { return false; }
  std::optional<Finished> finished() const override { return std::nullopt; }
  bool pods_ready() const override { return false; }
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return {}; }
  Result<Json> start_patch(const std::vector<PodSetInfo>&) const override {
    return Error(Errc::invalid, "its Pods are started, not the job");
  }

 protected:
  /// `kind` outlives the job.
  IdleObject(const JobKind& kind, Json object, api::ObjectMeta metadata)
      : kind_(kind), object_(std::move(object)), metadata_(std::move(metadata)) {}
  const Json& object() const { return object_; }

 private:
  const JobKind& kind_;
  Json object_;
  api::ObjectMeta metadata_;
};

}  // namespace regatta::jobs
