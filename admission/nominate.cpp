#include "admission/entry.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

std::vector<Target> targets_for(Trial& trial, const Entry& entry, const Assignment& assignment,
                                SimulatedPreemption* simulated) {
  Names& names = trial.access().names();
  Preemptor preemptor{entry.id, entry.queue, assignment.frs_to_preempt(&names), assignment.usage,
                      assignment.topology.empty() ? nullptr : &assignment.topology};
  // The implicit request for pods can ask for preemption, but need not fit in the search for
  // targets. Whether the pods fit is checked when the entry is processed.
  std::erase_if(preemptor.usage, [&](const FrAmount& want) {
    return names.resource_name(want.fr) == api::pods_resource;
  });
  return simulated->targets(preemptor);
}

/// Finds the largest counts that fit, by moving all pod sets together between their minimum and
/// their full count. As in Kueue, the full count includes reclaimable pods.
class PartialAdmission {
 public:
  PartialAdmission(Trial& trial, Entry* entry, FlavorAssigner* assigner,
                   SimulatedPreemption* simulated)
      : trial_(trial), entry_(*entry), assigner_(*assigner), simulated_(simulated) {
    const WorkloadEntry& workload = trial.access().workloads()[entry->id];
    const auto& pod_sets = workload.shape->pod_sets;
    for (std::size_t i = 0; i < pod_sets.size(); ++i) {
      const auto* specified = workload.full_counts.get();
      const std::int32_t full = specified != nullptr ? (*specified)[i] : pod_sets[i].count;
      const std::int32_t least = pod_sets[i].min_count.value_or(full);
      full_.push_back(full);
      spare_.push_back(full > least ? full - least : 0);
      total_ += spare_.back();
    }
  }

  /// Leaves the entry unchanged when nothing fits.
  void search() {
    if (total_ == 0) return;
    std::int64_t low = 0;
    std::int64_t high = total_ + 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (fits(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (low > total_ || low != last_fit_) return;
    entry_.assignment = std::move(assignment_);
    entry_.targets = std::move(targets_);
  }

 private:
  bool fits(std::int64_t step) {
    std::vector<std::int32_t> counts;
    for (std::size_t i = 0; i < full_.size(); ++i) {
      counts.push_back(full_[i] - static_cast<std::int32_t>(spare_[i] * step / total_));
    }
    Assignment assignment = assigner_.assign(counts);
    std::vector<Target> targets;
    if (assignment.mode() == AssignmentMode::preempt) {
      targets = targets_for(trial_, entry_, assignment, simulated_);
    }
    if (assignment.mode() != AssignmentMode::fit && targets.empty()) return false;
    assignment_ = std::move(assignment);
    targets_ = std::move(targets);
    last_fit_ = step;
    return true;
  }

  Trial& trial_;
  Entry& entry_;
  FlavorAssigner& assigner_;
  SimulatedPreemption* simulated_;
  std::vector<std::int32_t> full_;
  std::vector<std::int64_t> spare_;
  std::int64_t total_ = 0;
  std::int64_t last_fit_ = -1;
  Assignment assignment_;
  std::vector<Target> targets_;
};

/// Progress is kept while the workload's shape and priority are the same and, unless it is from the
/// last cycle, no quota has changed.
void drop_outdated_progress(CycleAccess& access, WorkloadId id, QueueId queue) {
  const WorkloadEntry& workload = access.workloads()[id];
  if (workload.progress == nullptr) return;
  const ScanProgress& progress = *workload.progress;
  bool outdated = false;
  if (access.config().preserve_scan_progress) {
    if (progress.shape != workload.shape->id || progress.priority != workload.priority) {
      outdated = true;
    } else if (access.cycle() - progress.cycle <= 1) {
      return;
    }
  }
  const NodeId node = access.queue(queue).node;
  outdated = outdated || access.forest().node(node).generation > progress.generation;
  if (outdated) access.set_progress(id, nullptr);
}

/// Gives a preemptor the places that it will have when its targets are gone or, without targets,
/// the places that it would have in an empty cluster.
void reserve_places_to_come(Trial& trial, Entry* entry) {
  Assignment& assignment = entry->assignment;
  if (assignment.topology.empty() || assignment.mode() != AssignmentMode::preempt) return;
  const Trial::Nested nested(trial);
  for (const Target& target : entry->targets) {
    if (target.held.has_places) trial.remove_places(target.id);
  }
  reserve_places(trial, &assignment, entry->targets.empty());
}

}  // namespace

void nominate_flavors(Trial& trial, Entry* entry, const Assignment* pinned, TimePoint now) {
  CycleAccess& access = trial.access();
  drop_outdated_progress(access, entry->id, entry->queue);
  SimulatedPreemption oracle(trial, entry->id, entry->queue, now);
  FlavorAssigner assigner(trial, entry->id, entry->queue, oracle);
  assigner.pin(pinned);
  if (const WorkloadId replaced = access.replaced_by(entry->id); replaced != no_id) {
    assigner.replace(access.workloads()[replaced].reservation.get());
  }
  entry->assignment = assigner.assign();
  entry->targets.clear();
  const AssignmentMode mode = entry->assignment.mode();
  if (mode == AssignmentMode::fit) return;
  if (mode == AssignmentMode::preempt) {
    entry->targets = targets_for(trial, *entry, entry->assignment, &oracle);
  }
  if (entry->targets.empty() && access.config().partial_admission) {
    PartialAdmission(trial, entry, &assigner, &oracle).search();
  }
  reserve_places_to_come(trial, entry);
}

}  // namespace regatta::admission
