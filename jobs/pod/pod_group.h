#pragma once

#include "jobs/composed_job.h"
#include "jobs/idle_job.h"
#include "jobs/pod/pod.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::jobs {

/// Pods of one namespace that name the same group. Each role, that is, each shape of pods, is a pod
/// set. The first pod by name speaks for the group: its labels and annotations are the group's.
class PodGroup final : public IdleJob, public ComposedJob {
 public:
  /// `pods` are not empty.
  PodGroup(const api::ObjectKey& key, std::vector<std::shared_ptr<const Pod>> pods);

  const JobKind& kind() const override;
  const api::ObjectMeta& metadata() const override { return metadata_; }
  const ComposedJob* composed() const override { return this; }

  const std::vector<JobPtr>& members() const override { return members_; }
  std::optional<Obstacle> obstacle() const override;
  Roster roster(const api::Workload* workload) const override;
  Result<Json> member_start_patch(const GenericJob& member,
                                  const std::vector<PodSetInfo>& infos) const override;
  std::string name_conflict() const override;

  Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions& topology) const override;
  std::vector<std::int32_t> pod_counts() const override;
  std::string pod_priority_class() const override;
  bool equivalent(const api::Workload& workload,
                  const std::vector<PodSetInfo>* running) const override;

  std::string pod_selector() const override;
  /// Some of its pods are held back, or ended.
  bool suspended() const override;
  bool passed_over() const override;
  bool held_by_parent() const override;
  bool active() const override;
  std::optional<Finished> finished() const override;
  /// Of Pods that serve, whose parent is sent, no status comes home.
  bool untold_on_hub() const override;
  bool pods_ready() const override;
  std::vector<api::ReclaimablePod> reclaimable_pods() const override;

  // What is written to a group is written to its members.
  Result<Json> start_patch(const std::vector<PodSetInfo>& infos) const override;

 private:
  struct Role {
    std::string name;
    const Pod* first = nullptr;  ///< its template is the role's
    std::int32_t count = 0;
  };
  /// Of the pods that a new Workload would be for, by name.
  std::vector<Role> roles() const;
  std::optional<std::int32_t> total() const;
  /// Its Workload is made before all of its pods are there.
  bool fast() const;
  /// It is made for a StatefulSet or a LeaderWorkerSet, and runs until that one ends it.
  bool serves() const;
  Roster roster_of_none() const;
  /// The hub makes such pods anew when they are gone, which they are when they are let go.
  bool renews_pods(const api::Workload& workload) const;

  std::vector<std::shared_ptr<const Pod>> pods_;
  std::vector<std::string> role_names_;  ///< of the pods, in their order
  std::vector<JobPtr> members_;
  api::ObjectMeta metadata_;
};

}  // namespace regatta::jobs
