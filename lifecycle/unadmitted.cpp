#include "lifecycle/unadmitted.h"

#include "lib/api/names.h"

namespace regatta::lifecycle {
namespace {

namespace reasons = api::reasons;

/// Of an admission gate. Older managers used the reason AdmissionGated for preemption gates, too.
constexpr std::string_view gated_by = "Admission is gated by: ";

struct Obstacle {
  std::string_view reason;
  std::string message;
  std::string said;  ///< the wording of a lost reservation for the same
};

/// The first thing that is wrong with the workload's queues.
std::optional<Obstacle> queue_obstacle(const api::Workload& w, const LifecycleView& view) {
  const auto about = [](std::string_view reason, const std::string& queue, const char* text,
                        const char* said) { return Obstacle{reason, queue + text, queue + said}; };
  const std::string local = "LocalQueue " + w.spec.queue_name;
  if (!view.local_queue.exists) {
    return about(reasons::misconfigured, local, " doesn't exist", " is terminating or missing");
  }
  if (view.local_queue.stop_policy != api::StopPolicy::None) {
    return about(reasons::suspended, local, " is inactive", " is stopped");
  }
  const std::string cluster = "ClusterQueue " + view.cluster_queue_name;
  if (!view.cluster_queue.exists) {
    return about(reasons::misconfigured, cluster, " doesn't exist", " is terminating or missing");
  }
  if (!view.cluster_queue.active) {
    return about(reasons::suspended, cluster, " is inactive", " is stopped");
  }
  return {};
}

/// The ClusterQueue is being deleted, and therefore the workload lost its reservation.
bool lost_its_queue(const LifecycleView& view, const api::Condition* said) {
  return view.cluster_queue.deleting && said && said->reason == reasons::misconfigured &&
         said->message == "ClusterQueue " + view.cluster_queue_name + " is terminating or missing";
}

Waiting explain_gate(const std::string& gates, const api::Condition* said) {
  Waiting out{std::string(reasons::admission_gated), std::string(gated_by) + gates, {}};
  if (!said || said->reason != reasons::admission_gated) {
    out.note = {false, out.reason, "Workload admission is gated by: " + gates};
  }
  return out;
}

/// The condition is about an obstacle of this file that no longer exists.
bool is_outdated(const api::Condition& said) {
  // The scheduler uses the reason Misconfigured for other things, too.
  const bool about_queue =
      said.message.starts_with("LocalQueue ") || said.message.starts_with("ClusterQueue ");
  return (said.reason == reasons::misconfigured && about_queue) ||
         said.reason == reasons::suspended || said.reason == reasons::deactivated;
}

}  // namespace

std::optional<Waiting> explain_pending(const api::Workload& w, const LifecycleView& view,
                                       const LifecycleConfig& config) {
  const api::Condition* said =
      api::find_condition(w.status.conditions, api::conditions::quota_reserved);
  // 1. On hold: the component that put it on hold takes that back.
  if (said && said->reason == reasons::on_hold) return {};
  // 2. The queues.
  if (lost_its_queue(view, said)) return {};
  if (const auto obstacle = queue_obstacle(w, view)) {
    if (said && said->reason == obstacle->reason && said->message == obstacle->said) return {};
    return Waiting{std::string(obstacle->reason), obstacle->message, {}};
  }
  // 3. An admission gate, closed or just opened.
  const std::string& gates =
      w.metadata.annotation(std::string(api::annotations::admission_gated_by));
  if (config.admission_gates && !gates.empty()) return explain_gate(gates, said);
  if (said && said->message.starts_with(gated_by)) {
    return Waiting{std::string(reasons::pending_evaluation),
                   "AdmissionGatedBy cleared, waiting for quota reservation",
                   {}};
  }
  // 4. A workload of the same class has just failed.
  const bool evaluated = said && said->reason != reasons::pending_evaluation && !is_outdated(*said);
  if (!view.bypassed.empty() && !evaluated && (said || view.may_tell_bypassed)) {
    return Waiting{view.bypassed,
                   "Bypassed scheduling evaluation because an equivalent workload recently failed",
                   {}};
  }
  // 5. A condition that is no longer true.
  if ((said && is_outdated(*said)) || (!said && config.explicit_status)) {
    return Waiting{std::string(reasons::pending_evaluation),
                   "Workload is pending evaluation in the scheduling queue",
                   {}};
  }
  return {};
}

}  // namespace regatta::lifecycle
