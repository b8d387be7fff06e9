#pragma once

#include "jobs/generic_job.h"

#include <string>
#include <string_view>

namespace regatta::jobs {

/// The label under which topology-aware scheduling finds the index of a pod of a group.
inline constexpr const char* pod_group_pod_index = "kueue.x-k8s.io/pod-group-pod-index";

/// The group of a pod, and the field that names it: the annotation comes before the label, unless
/// names are in labels. Empty for a pod of no group.
struct PodGroupName {
  std::string name;
  std::string field;
};
PodGroupName pod_group_name(const api::ObjectMeta& metadata, bool names_in_labels);

/// v1 Pod: a job by itself, or a member of a group.
class Pod final : public GenericJob {
 public:
  Pod(const Json& object, api::ObjectMeta metadata, bool names_in_labels)
      : object_(object), metadata_(std::move(metadata)), names_in_labels_(names_in_labels) {}

  PodGroupName group_name() const { return pod_group_name(metadata_, names_in_labels_); }

  // What a group asks its members.
  const std::string& phase() const;
  bool ended() const { return phase() == "Succeeded" || phase() == "Failed"; }
  /// It will not run again, or never ran and goes.
  bool given_up() const;
  bool lost_place() const override;
  /// It goes without having ended by itself.
  bool goes_in_vain() const;
  /// By which pods of one shape are known.
  std::string role() const;
  /// Since when it no longer runs; `now` where it does not say.
  TimePoint last_active(TimePoint otherwise) const;

  const JobKind& kind() const override;
  const api::ObjectMeta& metadata() const override { return metadata_; }

  Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions& topology) const override;
  std::vector<std::int32_t> pod_counts() const override { return {1}; }
  std::string pod_priority_class() const override;
  bool equivalent(const api::Workload& workload,
                  const std::vector<PodSetInfo>* running) const override;

  std::string pod_selector() const override { return {}; }
  bool suspended() const override;
  bool stopping() const override { return false; }
  /// The webhook marks the pods that it holds back; no other one is touched.
  bool passed_over() const override;
  bool active() const override;
  bool bound() const override;
  std::optional<Finished> finished() const override;
  bool pods_ready() const override;
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return {}; }

  Result<Json> start_patch(const std::vector<PodSetInfo>& infos) const override;
  /// A pod that runs cannot be held back again.
  std::optional<StopStep> next_stop_step(const api::Workload*, bool) const override {
    return std::nullopt;
  }
  std::optional<Json> termination_patch(const std::string& reason, const std::string& message,
                                        TimePoint now) const override;
  Json let_go_patch() const override;
  Json queue_patch(const std::string& queue) const override;

  Json suspend_patch() const override { return Json::object(); }
  Json gated_patch(const TopologyOptions& topology) const override;
  bool held_by_parent() const override;
  std::optional<ManagedBy> managed_by() const override { return std::nullopt; }
  Json managed_by_patch(std::string_view) const override { return Json::object(); }
  void check(const CheckOptions& options, api::ErrorList* errors) const override;
  void check_update(const GenericJob& before, const CheckOptions& options,
                    api::ErrorList* errors) const override;

  bool waits_on_hub() const override { return true; }
  std::string not_managed_reason() const override { return {}; }
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;
  Json status_patch(const GenericJob& remote) const override;
  Json release_patch() const override { return Json::object(); }
  Json final_patch(bool success, const std::string& message, TimePoint now) const override;

 private:
  const Json& spec() const;
  const Json& status() const;
  Json status_becomes(const Json& after) const;
  bool is_ended_by_manager() const;
  void check_group(api::ErrorList* errors) const;

  Json object_;
  api::ObjectMeta metadata_;
  bool names_in_labels_;
};

}  // namespace regatta::jobs
