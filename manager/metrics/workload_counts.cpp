#include "manager/metrics/workload_counts.h"

#include "lib/api/names.h"

#include <optional>

namespace regatta::manager {
namespace {

namespace conditions = api::conditions;
namespace reasons = api::reasons;

std::string cause_of(const api::Conditions& all) {
  const api::Condition* reserved = api::find_condition(all, conditions::quota_reserved);
  if (!reserved) return std::string(reasons::pending_evaluation);
  return reserved->status == api::ConditionStatus::True ? "" : reserved->reason;
}

/// Unset for admitted workloads.
std::optional<WorkloadCounts::Key> key_of(const api::Workload& workload) {
  const api::Conditions& all = workload.status.conditions;
  const api::ObjectKey queue(workload.metadata.ns, workload.spec.queue_name);
  if (api::is_true(all, conditions::finished)) {
    return WorkloadCounts::Key{queue, WorkloadCounts::finished, ""};
  }
  const api::Condition* admitted = api::find_condition(all, conditions::admitted);
  if (admitted && admitted->status == api::ConditionStatus::True) return {};
  if (workload.metadata.deleting()) return {};
  return WorkloadCounts::Key{
      queue, admitted ? admitted->reason : std::string(reasons::no_reservation), cause_of(all)};
}

}  // namespace

void WorkloadCounts::changed(const api::Workload* before, const api::Workload* after) {
  if (before) add(*before, -1);
  if (after) add(*after, 1);
}

void WorkloadCounts::add(const api::Workload& workload, int by) {
  const auto key = key_of(workload);
  if (!key) return;
  const auto it = counts_.try_emplace(*key, 0).first;
  it->second += by;
  if (it->second == 0) counts_.erase(it);
}

}  // namespace regatta::manager
