#include "jobs/job_notes.h"

#include "lib/api/names.h"

namespace regatta::jobs {
namespace {

namespace events = api::events;

JobNote normal(std::string_view reason, std::string message) {
  return {false, std::string(reason), std::move(message)};
}

/// A dispatched job has events enough already.
bool is_dispatched(const GenericJob& job) {
  const bool on_hub = !job.waits_on_hub() && job.not_managed_reason().empty();
  return on_hub || !job.metadata().label(std::string(api::labels::multikueue_origin)).empty();
}

struct Notes {
  const GenericJob& job;

  std::optional<JobNote> operator()(const CreateWorkload& a) const {
    return normal(events::created_workload, "Created Workload: " + a.workload.metadata.key().str());
  }
  std::optional<JobNote> operator()(const DeleteWorkload& a) const {
    return normal(events::deleted_workload,
                  "Deleted not matching Workload: " + a.workload->metadata.key().str());
  }
  std::optional<JobNote> operator()(const UpdateWorkload& a) const {
    if (a.message.empty()) return std::nullopt;
    return normal(events::updated_workload, a.message);
  }
  std::optional<JobNote> operator()(const FinishWorkload& a) const {
    if (is_dispatched(job) || a.reason == api::reasons::out_of_sync) return std::nullopt;
    return normal(events::finished_workload,
                  "Workload '" + a.workload->metadata.key().str() + "' is declared finished");
  }
  std::optional<JobNote> operator()(const StopJob& a) const {
    if (!a.step.last) return std::nullopt;
    return normal(events::stopped, a.message);
  }
  std::optional<JobNote> operator()(const TerminateJob& a) const {
    return normal(events::stopped, a.message);
  }
  std::optional<JobNote> operator()(const StartJob& a) const {
    return normal(events::started, a.message);
  }
  std::optional<JobNote> operator()(const HoldJob&) const {
    return normal(events::suspended, "Kueue managed child job suspended");
  }
  std::optional<JobNote> operator()(const DeleteJob& a) const {
    return normal(events::deleted, a.message);
  }
  std::optional<JobNote> operator()(const GateWorkload& a) const {
    return normal(events::updated_workload,
                  "Updated workload AdmissionGatedBy to \"" + a.gates + "\"");
  }
  std::optional<JobNote> operator()(const Tell& a) const { return normal(a.reason, a.message); }
  std::optional<JobNote> operator()(const Complain& a) const {
    return JobNote{true, a.reason, a.message};
  }
  template <class Other>
  std::optional<JobNote> operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<JobNote> note_of(const GenericJob& job, const JobAction& action) {
  return std::visit(Notes{job}, action);
}

}  // namespace regatta::jobs
