#pragma once

#include "jobs/generic_job.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// Most kinds of jobs are custom resources of one shape: some pod templates with counts, a field
/// that suspends the job, perhaps one that names its controller. A kind of this shape says where
/// these are, and reads its status; everything else is the same for all of them.
namespace regatta::jobs {

/// One pod set of a job.
struct PodSlot {
  std::string name;         ///< of the pod set
  Json::json_pointer path;  ///< of the pod template, in the job
  std::string field;        ///< the same as messages show it: "spec.a[0].template"
  /// The field whose annotations messages name; empty: the metadata of the template.
  std::string annotated_field;
  std::int32_t count = 1;
  PodNumbering numbering;
  /// The template where the job has none; null where it always has one.
  Json otherwise;
  bool topology_checked = true;  ///< by webhooks
  /// The template as the pod set shows it, where its pods get more than the job says; null where
  /// they get what it says.
  Json asked;
};

/// Which errors of topology annotations webhooks tell. Kueue's webhooks differ by kind.
enum class TopologyChecks {
  unreadable_first,  ///< only what cannot be read, if anything cannot; else as the next
  sets_then_groups,  ///< each pod set by itself; groups of them if all are right
  sets,              ///< each pod set by itself
  to_unreadable,     ///< as sets_then_groups, up to the first pod set that cannot be read
};

/// Where a kind keeps the fields that all kinds have.
struct JobShape {
  Json::json_pointer suspend{"/spec/suspend"};
  Json::json_pointer managed_by{"/spec/managedBy"};  ///< empty: no such field
  std::string managed_by_field = "spec.managedBy";
  std::string own_controller;  ///< the value of managed_by that means the same as none
  /// A start removes the field instead of setting it to false.
  bool starts_without_suspend = false;
  TopologyChecks topology = TopologyChecks::sets_then_groups;
};

/// Base of the jobs of such kinds.
class TemplatedJob : public GenericJob {
 public:
  const api::ObjectMeta& metadata() const final { return metadata_; }

  Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions& topology) const override;
  std::vector<std::int32_t> pod_counts() const final;
  std::string pod_priority_class() const override;
  bool equivalent(const api::Workload& workload,
                  const std::vector<PodSetInfo>* running) const final;

  bool suspended() const override;
  /// One write stops it, unless the kind says otherwise.
  bool stopping() const override { return false; }

  Result<Json> start_patch(const std::vector<PodSetInfo>& infos) const final;
  std::optional<StopStep> next_stop_step(const api::Workload* workload,
                                         bool at_once) const override;
  Json queue_patch(const std::string& queue) const final;

  Json suspend_patch() const final;
  std::optional<ManagedBy> managed_by() const final;
  Json managed_by_patch(std::string_view manager) const final;
  void check(const CheckOptions& options, api::ErrorList* errors) const override;
  void check_update(const GenericJob& before, const CheckOptions& options,
                    api::ErrorList* errors) const override;

  std::string not_managed_reason() const final;
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;
  Json status_patch(const GenericJob& remote) const override;

 protected:
  TemplatedJob(Json object, api::ObjectMeta metadata, const JobShape& shape,
               std::vector<PodSlot> slots);

  const Json& object() const { return object_; }
  const Json& spec() const;
  const Json& status() const;
  const std::vector<PodSlot>& slots() const { return slots_; }
  /// The job with what its admission adds to its pods.
  virtual Result<Json> started(const std::vector<PodSetInfo>& infos) const;
  /// The job without that.
  virtual Json restored_object(const api::Workload& workload) const;
  /// The status as the hub's job shows it, when it is the status of the worker's job.
  virtual Json shown_status() const { return status(); }
  /// The patch that turns the status of this job into `after`; an empty object when it is that.
  Json status_becomes(const Json& after) const;
  /// The patch that turns the spec of this job into that of `after`.
  Json patch_to(const Json& after) const;

 private:
  const Json& pod_template(const PodSlot& slot) const;
  const Json& asked_template(const PodSlot& slot) const;

  Json object_;
  api::ObjectMeta metadata_;
  const JobShape& shape_;
  std::vector<PodSlot> slots_;
};

/// A number of pods: what the object says, or the nearest bound that fits.
std::int32_t count_at(const Json& value, std::string_view name, std::int32_t otherwise);
/// A condition of the status, as metav1.Condition; null when the status has none of that type.
const Json* condition_in(const Json& status, std::string_view type);
/// Adds a condition to a status, or replaces the one of its type.
void put_condition(Json* status, Json condition);

}  // namespace regatta::jobs
