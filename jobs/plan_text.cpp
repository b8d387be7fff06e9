#include "jobs/plan.h"

namespace regatta::jobs {
namespace {

std::string names_of(const std::vector<JobPtr>& jobs) {
  std::string out;
  for (const JobPtr& one : jobs) out += " " + one->metadata().name;
  return out;
}

/// Which members are meant, where the job may have several.
std::string members_of(const std::vector<JobWrite>& writes) {
  std::vector<JobPtr> jobs;
  for (const JobWrite& one : writes) {
    if (!one.job->kind().group_of(*one.job).empty()) jobs.push_back(one.job);
  }
  return names_of(jobs);
}

std::string text(const CreateWorkload& a) {
  return "create workload " + a.workload.metadata.name;
}
std::string text(const DeleteWorkload& a) {
  return "delete workload " + a.workload->metadata.name;
}
std::string text(const AdoptWorkload& a) {
  return "adopt workload " + a.workload->metadata.name;
}
std::string text(const UpdateWorkload& a) {
  return "update workload " + a.workload->metadata.name;
}
std::string text(const FinishWorkload& a) {
  return "finish workload " + a.reason + " (" + a.message + ")";
}
std::string text(const ReleaseWorkload& a) {
  return "release workload " + a.workload->metadata.name;
}
std::string text(const SetReclaimable& a) {
  return "reclaimable " + std::to_string(a.pods.empty() ? 0 : a.pods.front().count);
}
std::string text(const DropReservation&) {
  return "drop reservation";
}
std::string text(const StopJob& a) {
  return std::string(a.step.last ? "stop job (" : "stop job, more to come (") + a.message + ")";
}
std::string text(const TerminateJob& a) {
  return "terminate job" + members_of(a.writes) + " (" + a.message + ")";
}
std::string text(const LetJobGo& a) {
  return "let job go" + members_of(a.writes);
}
std::string text(const StartJob& a) {
  return "start job" + members_of(a.writes) + " (" + a.message + ")";
}
std::string text(const DropExcess& a) {
  return "drop excess" + names_of(a.members);
}
std::string text(const ShareWorkload& a) {
  return "share workload with" + names_of(a.members);
}
std::string text(const RetireWorkload& a) {
  return "delete workload " + a.workload->metadata.name;
}
std::string text(const HoldWorkload& a) {
  return (a.message.empty() ? "release held workload " : "hold workload ") +
         a.workload->metadata.name;
}
std::string text(const PatchPods& a) {
  std::string out = "patch pods";
  for (const JobWrite& one : a.writes) out += " " + one.job->metadata().name;
  return out;
}
std::string text(const AwaitReplacement& a) {
  const bool waits = a.condition.status == api::ConditionStatus::True;
  return std::string(waits ? "await" : "no longer await") + " replacement (" + a.condition.message +
         ")";
}
std::string text(const HoldJob&) {
  return "suspend job that a waiting job made";
}
std::string text(const QueueJob&) {
  return "put job into the default queue";
}
std::string text(const NoteSize&) {
  return "note size of job";
}
std::string text(const DeleteJob&) {
  return "delete job";
}
std::string text(const GateWorkload& a) {
  return "gate workload by \"" + a.gates + "\"";
}
std::string text(const SetPodsReady& a) {
  switch (a.readiness) {
    case api::PodsReadiness::wait_for_start:
      return "pods ready: waiting for start";
    case api::PodsReadiness::started:
      return "pods ready: started";
    case api::PodsReadiness::wait_for_recovery:
      return "pods ready: waiting for recovery";
    case api::PodsReadiness::recovered:
      return "pods ready: recovered";
  }
  return "";
}
std::string text(const LookAgain& a) {
  return "look again after " + std::to_string(a.after.count()) + " ms";
}
std::string text(const Tell& a) {
  return "tell " + a.reason + " (" + a.message + ")";
}
std::string text(const Complain& a) {
  return "complain " + a.reason + " (" + a.message + ")";
}

}  // namespace

std::string describe(const std::vector<JobAction>& actions) {
  std::string out;
  for (const JobAction& action : actions) {
    const std::string one = std::visit([](const auto& a) { return text(a); }, action);
    out += (out.empty() ? "" : ", ") + one;
  }
  return out;
}

}  // namespace regatta::jobs
