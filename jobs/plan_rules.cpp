#include "jobs/plan_rules.h"

#include "lib/api/names.h"

#include <algorithm>
#include <charconv>

namespace regatta::jobs {
namespace {

namespace conditions = api::conditions;

bool from_workload_class(const std::optional<api::PriorityClassRef>& ref) {
  return ref && ref->kind == api::priority::workload_kind;
}

}  // namespace

bool has_reservation(const api::Workload& w) {
  return api::is_true(w.status.conditions, conditions::quota_reserved);
}

Result<std::optional<std::int32_t>> max_execution_seconds(const GenericJob& job) {
  const std::string& text = job.metadata().label(std::string(api::labels::max_exec_time_seconds));
  if (text.empty()) return std::optional<std::int32_t>();
  std::int32_t seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || seconds <= 0) {
    return Error(Errc::invalid, "metadata.labels[" +
                                    std::string(api::labels::max_exec_time_seconds) +
                                    "]: must be a number above 0, got \"" + text + "\"");
  }
  return std::optional<std::int32_t>(seconds);
}

bool follow_reclaimable(std::vector<JobAction>* out, const JobView& view,
                        const WorkloadPtr& workload) {
  if (!view.policy.reclaimable_pods) return false;
  auto reclaimable = view.job->reclaimable_pods();
  // The Workload may have fewer pods than its job while an elastic job changes its size.
  for (api::ReclaimablePod& pods : reclaimable) {
    for (const api::PodSet& set : workload->spec.pod_sets) {
      if (set.name == pods.name) pods.count = std::min(pods.count, set.count);
    }
  }
  // This applies without quota too: the Workload then asks for less.
  if (reclaimable == workload->status.reclaimable_pods) return false;
  out->push_back(SetReclaimable{workload, std::move(reclaimable)});
  return true;
}

bool follow_priority(std::vector<JobAction>* out, const JobView& view,
                     const WorkloadPtr& workload) {
  const api::WorkloadSpec& before = workload->spec;
  const bool same =
      before.priority == view.priority && before.priority_class_ref == view.priority_class;
  if (same || view.invalid || view.prebuilt) return false;
  // While the Workload holds quota, only a WorkloadPriorityClass may replace another one.
  if (has_reservation(*workload) && (!from_workload_class(view.priority_class) ||
                                     !from_workload_class(before.priority_class_ref))) {
    return false;
  }
  api::WorkloadSpec spec = before;
  spec.priority_class_ref = view.priority_class;
  spec.priority = view.priority;
  out->push_back(
      UpdateWorkload{workload, std::move(spec),
                     "Updated workload priority class: " + workload->metadata.key().str()});
  return true;
}

bool follow_gate(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload) {
  if (!view.policy.admission_gates || view.prebuilt) return false;
  const std::string annotation(api::annotations::admission_gated_by);
  const std::string& wanted = view.job->metadata().annotation(annotation);
  if (wanted == workload->metadata.annotation(annotation)) return false;
  if (!wanted.empty() && has_reservation(*workload)) return false;
  out->push_back(GateWorkload{workload, wanted});
  return true;
}

bool follow_pods(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload) {
  const api::Conditions& all = workload->status.conditions;
  const api::Condition* admission = api::find_condition(all, conditions::admitted);
  const bool runs = admission && admission->status == api::ConditionStatus::True &&
                    !api::is_true(all, conditions::evicted);
  if (!view.policy.wait_for_pods_ready || !runs) return false;
  const bool ready = !view.job->suspended() && view.job->pods_ready();
  const api::PodsReadiness next = api::next_readiness(*workload, ready);
  // This state is written with the reservation, and an absent condition means the same.
  if (next == api::PodsReadiness::wait_for_start) return false;
  api::Workload trial;
  trial.status.conditions = all;
  if (!api::set_pods_ready(&trial, next, view.now)) return false;
  // The time of a condition is cut to whole seconds, so a second is added.
  const Duration after = view.policy.pods_ready_after;
  const TimePoint due = admission->last_transition_time +
                        (after > Duration(0) ? after + std::chrono::seconds(1) : after);
  if (next == api::PodsReadiness::started && due > view.now) {
    out->push_back(LookAgain{due - view.now});
    return false;
  }
  out->push_back(SetPodsReady{workload, next});
  return true;
}

void retain_deactivated(std::vector<JobAction>* out, const JobView& view,
                        const api::Workload& workload) {
  const api::Condition* end = api::find_condition(workload.status.conditions, conditions::evicted);
  const bool ours = end && end->status == api::ConditionStatus::True &&
                    end->reason.starts_with(api::reasons::deactivated_due_to);
  if (!view.policy.retain_deactivated || !ours || workload.spec.active) return;
  // The pods may use their grace period first.
  if (has_reservation(workload) || view.job->active()) return;
  const TimePoint until = end->last_transition_time + *view.policy.retain_deactivated;
  if (until > view.now) {
    out->push_back(LookAgain{until - view.now});
  } else {
    out->push_back(DeleteJob{"Deleted job: deactivation retention period expired"});
  }
}

void tell_checks(std::vector<JobAction>* out, const JobView& view, const api::Workload& workload) {
  // MultiKueue has its own events for this.
  if (view.job->not_managed_reason().empty()) return;
  std::string message;
  for (const api::AdmissionCheckState& check : workload.status.admission_checks) {
    if (check.state != api::CheckState::Pending || check.message.empty()) continue;
    message += (message.empty() ? "" : "; ") + check.name + ": " + check.message;
  }
  if (message.empty()) return;
  out->push_back(Tell{std::string(api::events::updated_admission_check), std::move(message)});
}

}  // namespace regatta::jobs
