#include "jobs/job_notes.h"

#include "jobs/composed_job.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"

namespace regatta::jobs {
namespace {

namespace events = api::events;

using Notes = std::vector<JobNote>;

JobNote note_on(const GenericJob& job, std::string_view reason, std::string message) {
  const ComposedJob* group = job.composed();
  const GenericJob& speaker = group ? *group->members().front() : job;
  return {&speaker.kind().resource(), &speaker.metadata(), false, std::string(reason),
          std::move(message)};
}

Notes on_each(const std::vector<JobWrite>& writes, std::string_view reason,
              const std::string& message) {
  Notes out;
  for (const JobWrite& one : writes) out.push_back(note_on(*one.job, reason, message));
  return out;
}

/// A dispatched job has events enough already.
bool is_dispatched(const GenericJob& job) {
  const bool on_hub = !job.waits_on_hub() && job.not_managed_reason().empty();
  return on_hub || api::made_on_hub(job.metadata());
}

struct NotesOf {
  const GenericJob& job;

  Notes normal(std::string_view reason, std::string message) const {
    return {note_on(job, reason, std::move(message))};
  }

  Notes operator()(const CreateWorkload& a) const {
    return normal(events::created_workload, "Created Workload: " + a.workload.metadata.key().str());
  }
  Notes operator()(const DeleteWorkload& a) const {
    return normal(events::deleted_workload,
                  "Deleted not matching Workload: " + a.workload->metadata.key().str());
  }
  Notes operator()(const UpdateWorkload& a) const {
    if (a.message.empty()) return {};
    return normal(events::updated_workload, a.message);
  }
  Notes operator()(const FinishWorkload& a) const {
    const bool silent =
        a.reason == api::reasons::out_of_sync || a.reason == api::reasons::owner_not_found;
    if (is_dispatched(job) || silent) return {};
    return normal(events::finished_workload,
                  "Workload '" + a.workload->metadata.key().str() + "' is declared finished");
  }
  Notes operator()(const StopJob& a) const {
    if (!a.step.last) return {};
    return normal(events::stopped, a.message);
  }
  Notes operator()(const TerminateJob& a) const {
    return on_each(a.writes, events::stopped, a.message);
  }
  Notes operator()(const StartJob& a) const {
    return on_each(a.writes, events::started, a.message);
  }
  Notes operator()(const DropExcess& a) const {
    Notes out;
    for (const JobPtr& one : a.members) {
      out.push_back(note_on(*one, events::excess_pod_deleted, "Excess pod deleted"));
    }
    return out;
  }
  Notes operator()(const ShareWorkload& a) const {
    return {{&api::Workload::resource, &a.workload->metadata, false,
             std::string(events::owner_references_added),
             "Added " + std::to_string(a.members.size()) + " owner reference(s)"}};
  }
  Notes operator()(const HoldJob&) const {
    return normal(events::suspended, "Kueue managed child job suspended");
  }
  Notes operator()(const DeleteJob& a) const { return normal(events::deleted, a.message); }
  Notes operator()(const GateWorkload& a) const {
    return normal(events::updated_workload,
                  "Updated workload AdmissionGatedBy to \"" + a.gates + "\"");
  }
  Notes operator()(const Tell& a) const { return normal(a.reason, a.message); }
  Notes operator()(const Complain& a) const {
    Notes out = normal(a.reason, a.message);
    out.front().warning = true;
    return out;
  }
  template <class Other>
  Notes operator()(const Other&) const {
    return {};
  }
};

}  // namespace

Notes notes_of(const GenericJob& job, const JobAction& action) {
  return std::visit(NotesOf{job}, action);
}

}  // namespace regatta::jobs
