#include "jobs/plan_rules.h"

#include "jobs/admission_info.h"
#include "jobs/elastic.h"
#include "lib/api/names.h"
#include "lib/api/reclaimable.h"

#include <algorithm>
#include <charconv>

namespace regatta::jobs {
namespace {

namespace conditions = api::conditions;

bool from_workload_class(const std::optional<api::PriorityClassRef>& ref) {
  return ref && ref->kind == api::priority::workload_kind;
}

/// While an elastic job changes its size its Workload has more pods, or fewer. What the Workload
/// needs no more is what it has beyond the pods that the job will yet need. That the job is smaller
/// gives nothing back: its Workload shrinks as well, or the job gets its size again. That it is
/// larger takes nothing back: others may have that quota, and the larger slice is charged anew.
std::vector<api::ReclaimablePod> beyond_need(const GenericJob& job, const api::Workload& workload) {
  const std::vector<api::ReclaimablePod> of_job = job.reclaimable_pods();
  const std::vector<std::int32_t> counts = job.pod_counts();
  std::vector<api::ReclaimablePod> out;
  for (std::size_t i = 0; i < workload.spec.pod_sets.size() && i < counts.size(); ++i) {
    const api::PodSet& set = workload.spec.pod_sets[i];
    const std::int32_t of_these = api::reclaimable_count(of_job, set.name);
    const std::int32_t needed = std::max(0, counts[i] - of_these);
    const bool unknown = of_these == 0 && set.count > counts[i];
    const std::int32_t before = api::reclaimable_count(workload.status.reclaimable_pods, set.name);
    const bool grows = counts[i] > set.count;
    const bool keeps = has_reservation(workload) && (grows || !has_shrunk(workload, set));
    std::int32_t pods = unknown ? before : set.count - needed;
    if (keeps) pods = std::max(pods, before);
    if (pods > 0) out.push_back({set.name, pods});
  }
  return out;
}

/// What waits on a hub keeps its gates there while it runs elsewhere, and has no ready pods with
/// them where it runs.
bool has_ready_pods(const JobView& view) {
  if (view.dispatched && view.job->untold_on_hub()) return true;
  return (view.job->waits_on_hub() || !view.job->suspended()) && view.job->pods_ready();
}

}  // namespace

std::vector<JobAction> in_order(std::vector<std::optional<JobAction>> actions) {
  std::vector<JobAction> out;
  for (std::optional<JobAction>& action : actions) {
    if (action) out.push_back(std::move(*action));
  }
  return out;
}

bool has_reservation(const api::Workload& w) {
  return api::is_true(w.status.conditions, conditions::quota_reserved);
}

bool is_as_admitted(const JobView& view, const api::Workload& workload) {
  if (!has_reservation(workload)) return view.job->equivalent(workload, nullptr);
  const auto as_started = [&](const std::vector<PodSetInfo>& infos) {
    return view.job->equivalent(workload, infos.empty() ? nullptr : &infos);
  };
  const bool unknown = view.infos_error && !view.job->suspended();
  return unknown ? as_started(admitted_sizes(workload)) : as_started(view.infos);
}

bool is_on_hold(const api::Workload& w) {
  const api::Condition* reserved =
      api::find_condition(w.status.conditions, conditions::quota_reserved);
  return reserved && reserved->status == api::ConditionStatus::False &&
         reserved->reason == api::reasons::on_hold;
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

std::optional<JobAction> follow_reclaimable(const JobView& view, const WorkloadPtr& workload) {
  if (!view.policy.reclaimable_pods) return {};
  const bool resizes = is_elastic(*view.job, view.policy);
  const std::vector<api::ReclaimablePod> reclaimable =
      resizes ? beyond_need(*view.job, *workload) : view.job->reclaimable_pods();
  // This applies without quota too: the Workload then asks for less.
  if (reclaimable == workload->status.reclaimable_pods) return {};
  return SetReclaimable{workload, reclaimable};
}

std::optional<JobAction> follow_priority(const JobView& view, const WorkloadPtr& workload) {
  const api::WorkloadSpec& before = workload->spec;
  const bool same =
      before.priority == view.priority && before.priority_class_ref == view.priority_class;
  if (same || view.invalid || view.prebuilt) return {};
  // While the Workload holds quota, only a WorkloadPriorityClass may replace another one.
  if (has_reservation(*workload) && (!from_workload_class(view.priority_class) ||
                                     !from_workload_class(before.priority_class_ref))) {
    return {};
  }
  api::WorkloadSpec spec = before;
  spec.priority_class_ref = view.priority_class;
  spec.priority = view.priority;
  return UpdateWorkload{workload, std::move(spec),
                        "Updated workload priority class: " + workload->metadata.key().str()};
}

std::optional<JobAction> follow_gate(const JobView& view, const WorkloadPtr& workload) {
  if (!view.policy.admission_gates || view.prebuilt) return {};
  const std::string annotation(api::annotations::admission_gated_by);
  const std::string& wanted = view.job->metadata().annotation(annotation);
  if (wanted == workload->metadata.annotation(annotation)) return {};
  if (!wanted.empty() && has_reservation(*workload)) return {};
  return GateWorkload{workload, wanted};
}

std::optional<JobAction> follow_pods(const JobView& view, const WorkloadPtr& workload) {
  const api::Conditions& all = workload->status.conditions;
  const api::Condition* admission = api::find_condition(all, conditions::admitted);
  const bool runs = admission && admission->status == api::ConditionStatus::True &&
                    !api::is_true(all, conditions::evicted);
  if (!view.policy.wait_for_pods_ready) return {};
  const bool ready = runs && has_ready_pods(view);
  const api::PodsReadiness next = api::next_readiness(*workload, ready);
  if (next == api::PodsReadiness::wait_for_start) {
    // An absent condition means the same.
    if (view.policy.unready_with_quota || api::find_condition(all, conditions::pods_ready)) {
      return {};
    }
    return SetPodsReady{workload, next};
  }
  if (!runs) return {};
  api::WorkloadStatus trial;
  trial.conditions = all;
  if (!api::set_pods_ready(&trial, workload->metadata.generation, next, view.now)) return {};
  // The time of a condition is cut to whole seconds, so a second is added.
  const Duration after = view.policy.pods_ready_after;
  const TimePoint due = admission->last_transition_time +
                        (after > Duration(0) ? after + std::chrono::seconds(1) : after);
  if (next == api::PodsReadiness::started && due > view.now) return LookAgain{due - view.now};
  return SetPodsReady{workload, next};
}

std::optional<JobAction> retain_deactivated(const JobView& view, const api::Workload& workload) {
  const api::Condition* end = api::find_condition(workload.status.conditions, conditions::evicted);
  const bool ours = end && end->status == api::ConditionStatus::True &&
                    end->reason.starts_with(api::reasons::deactivated_due_to);
  if (!view.policy.retain_deactivated || !ours || workload.spec.active) return {};
  // The pods may use their grace period first.
  if (has_reservation(workload) || view.job->active()) return {};
  const TimePoint until = end->last_transition_time + *view.policy.retain_deactivated;
  if (until > view.now) return LookAgain{until - view.now};
  return DeleteJob{"Deleted job: deactivation retention period expired"};
}

std::optional<JobAction> tell_obstacle(const JobView& view, const Error& why) {
  if (!view.policy.tell_obstacles) return {};
  return Complain{std::string(api::events::error_workload_compose), why.what()};
}

std::optional<JobAction> tell_checks(const JobView& view, const api::Workload& workload) {
  // MultiKueue has its own events for this.
  if (view.job->not_managed_reason().empty()) return {};
  std::string message;
  for (const api::AdmissionCheckState& check : workload.status.admission_checks) {
    if (check.state != api::CheckState::Pending || check.message.empty()) continue;
    message += (message.empty() ? "" : "; ") + check.name + ": " + check.message;
  }
  if (message.empty()) return {};
  return Tell{std::string(api::events::updated_admission_check), std::move(message)};
}

}  // namespace regatta::jobs
