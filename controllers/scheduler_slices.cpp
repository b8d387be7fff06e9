#include "controllers/scheduler.h"
#include "lib/api/names.h"
#include "lifecycle/lifecycle.h"

namespace regatta::controllers {

/// The smaller slice of an elastic job is over once the larger one has its quota. When this write
/// fails, the job's reconciler ends the slice, since it keeps one slice with quota.
Task<> Scheduler::finish_replaced(admission::AdmittedWorkload admitted) {
  const auto slice = cluster_.workloads.get(admitted.key);
  const std::string job = slice ? slice->metadata.label(std::string(api::labels::job_uid)) : "";
  const std::string message = "Replaced to accommodate a workload (UID: " + admitted.uid +
                              ", JobUID: " + job + ") due to workload slice aggregation";
  const TimePoint now = cluster_.clock.now();
  bool done = false;
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    if (lifecycle::is_finished(workload)) {
      const auto* end = api::find_condition(workload.status.conditions, api::conditions::finished);
      done = end->reason == api::reasons::workload_slice_replaced;  // by the job's reconciler
      return {};
    }
    done = true;
    return lifecycle::finished_status(workload, api::reasons::workload_slice_replaced, message,
                                      now);
  };
  const Status written = co_await cluster_.update_status(admitted.replaces, wanted);
  if (!written) {
    log_.warning("replaced slice not finished",
                 {{"workload", admitted.replaces.str()}, {"error", written.error().what()}});
    co_return;
  }
  if (done) {
    note(admitted.replaces, false, std::string(api::reasons::workload_slice_replaced), message);
  }
}

}  // namespace regatta::controllers
