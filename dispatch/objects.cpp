#include "dispatch/objects.h"

#include "jobs/elastic.h"
#include "lib/api/codec.h"
#include "lib/api/eviction_record.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/joined.h"
#include "lib/base/limited_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::dispatch {
namespace {

/// When the Workload got its quota, which tells its attempts apart. Empty without quota.
std::string attempt_of(const api::Workload& workload) {
  const api::Condition* reserved =
      api::find_condition(workload.status.conditions, api::conditions::quota_reserved);
  const bool has_quota = reserved && reserved->status == api::ConditionStatus::True;
  return has_quota ? format_rfc3339(reserved->last_transition_time) : std::string();
}

bool all_ready(const api::WorkloadStatus& status) {
  const bool checks = std::all_of(status.admission_checks.begin(), status.admission_checks.end(),
                                  [](const auto& c) { return c.state == api::CheckState::Ready; });
  if (!checks || !status.admission) return false;
  const auto& sets = status.admission->pod_set_assignments;
  return std::none_of(sets.begin(), sets.end(),
                      [](const auto& set) { return set.delayed_topology_request == "Pending"; });
}

/// The worker places the pods, so the hub's pod sets that the copy has places for are Ready.
void note_places(api::Admission* admission, const api::Workload& copy) {
  if (!copy.status.admission) return;
  for (const api::PodSetAssignment& placed : copy.status.admission->pod_set_assignments) {
    if (!placed.topology_assignment) continue;
    for (api::PodSetAssignment& mine : admission->pod_set_assignments) {
      const bool waits = mine.name == placed.name && mine.delayed_topology_request == "Pending";
      if (waits) mine.delayed_topology_request = "Ready";
    }
  }
}

/// Sets the condition Dispatched.
void put_state(std::vector<api::Condition>* conditions, const TellState& state,
               std::int64_t generation, TimePoint now) {
  const bool there = state.reason == api::reasons::dispatched;
  const bool unknown = state.reason == api::reasons::worker_lost;
  api::set_condition(conditions,
                     {std::string(api::conditions::dispatched),
                      there     ? api::ConditionStatus::True
                      : unknown ? api::ConditionStatus::Unknown
                                : api::ConditionStatus::False,
                      generation,
                      {},
                      state.reason,
                      limited_text(state.message, api::condition_message_max)},
                     now);
}

}  // namespace

Json remote_copy(const api::Workload& workload, const std::string& origin, bool gated,
                 const std::string& replaced) {
  Json metadata = {{"name", workload.metadata.name}, {"namespace", workload.metadata.ns}};
  Json labels = workload.metadata.labels;
  labels.erase(std::string(api::labels::job_uid));
  labels[std::string(api::labels::multikueue_origin)] = origin;
  metadata["labels"] = std::move(labels);
  if (!workload.metadata.annotations.empty()) {
    metadata["annotations"] = workload.metadata.annotations;
  }
  if (jobs::is_slice(workload)) {
    // A worker that runs Kueue compares the slice and the job in each turn, and the two cannot
    // shrink in one write. It leaves a slice alone that replaces another one, so the first one says
    // so, too. Nothing can have the name that it gives.
    const std::string key(api::annotations::workload_slice_replacement_for);
    metadata["annotations"][key] = workload.metadata.ns + "/" + (replaced.empty() ? "_" : replaced);
  }
  api::Workload bare;  // what no worker gets is not printed
  bare.spec = workload.spec;
  bare.raw_spec = workload.raw_spec;
  Json spec = std::move(api::to_json(bare)["spec"]);
  if (gated) {
    const Json gate = {{"name", api::gates::multikueue_preemption}};
    spec["preemptionGates"] = Json::array({gate});
  }
  return {{"apiVersion", api::Workload::resource.api_version()},
          {"kind", "Workload"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

void stamp(Json* object, const std::string& origin_uid, const std::string& hub_uid,
           const std::string& worker) {
  Json& annotations = (*object)["metadata"]["annotations"];
  annotations[std::string(api::annotations::multikueue_origin_uid)] = origin_uid;
  if (!hub_uid.empty()) annotations[std::string(api::annotations::hub_uid)] = hub_uid;
  annotations[std::string(api::annotations::worker)] = worker;
}

void stamp_attempt(Json* copy, const api::Workload& workload) {
  const std::string attempt = attempt_of(workload);
  if (attempt.empty()) return;
  const std::string key(api::annotations::quota_reserved_at);
  (*copy)["metadata"]["annotations"][key] = attempt;
}

bool of_earlier_attempt(const api::Workload& copy, const api::Workload& workload) {
  const std::string& made_for =
      copy.metadata.annotation(std::string(api::annotations::quota_reserved_at));
  const std::string now = attempt_of(workload);
  return !made_for.empty() && !now.empty() && made_for != now;
}

FinishLocal believed_end(FinishLocal of_copy, const std::optional<jobs::Finished>& of_job) {
  if (!of_job || !ended_by_job(of_copy.reason)) return of_copy;
  const std::string reason(of_job->success ? api::reasons::succeeded : api::reasons::failed);
  return reason == of_copy.reason ? of_copy : FinishLocal{reason, of_job->message};
}

api::WorkloadStatus open_gate(const api::Workload& copy, TimePoint now) {
  api::WorkloadStatus status = copy.status;
  auto& gates = status.preemption_gates;
  const std::string name(api::gates::multikueue_preemption);
  auto ours = std::find_if(gates.begin(), gates.end(),
                           [&](const api::PreemptionGateState& gate) { return gate.name == name; });
  if (ours == gates.end()) ours = gates.insert(gates.end(), {name, "", {}});
  ours->position = "Open";
  ours->last_transition_time = std::chrono::floor<std::chrono::seconds>(now);
  return status;
}

api::WorkloadStatus deactivate(const api::Workload& copy, const DeactivateRemote& action,
                               TimePoint now) {
  api::WorkloadStatus status = copy.status;
  api::set_condition(&status.conditions,
                     {std::string(api::conditions::deactivation_target),
                      api::ConditionStatus::True,
                      copy.metadata.generation,
                      {},
                      std::string(api::reasons::evicted_on_manager_cluster),
                      action.message},
                     now);
  return status;
}

namespace {

/// Whether it may be said where the workload runs.
bool may_be_placed(const api::WorkloadStatus& status, const api::AdmissionCheckState* check) {
  const bool reserved = api::is_true(status.conditions, api::conditions::quota_reserved);
  const bool taken_back = api::is_true(status.conditions, api::conditions::evicted) ||
                          api::is_true(status.conditions, api::conditions::finished);
  return check && reserved && !taken_back &&
         (check->state == api::CheckState::Pending || check->state == api::CheckState::Ready);
}

void make_ready(api::AdmissionCheckState* check, const std::string& message, TimePoint now) {
  if (check->state != api::CheckState::Ready) {
    check->state = api::CheckState::Ready;
    check->last_transition_time = std::chrono::floor<std::chrono::seconds>(now);
  }
  check->message = message;
}

void admit_if_ready(api::WorkloadStatus* status, std::int64_t generation, TimePoint now) {
  if (!all_ready(*status)) return;
  api::set_condition(&status->conditions,
                     {std::string(api::conditions::admitted),
                      api::ConditionStatus::True,
                      generation,
                      {},
                      std::string(api::reasons::admitted),
                      "The workload is admitted"},
                     now);
}

}  // namespace

std::optional<api::WorkloadStatus> record_winner(const api::Workload& workload,
                                                 const api::AdmissionCheckState* check,
                                                 const RecordWinner& winner, TimePoint now,
                                                 const api::Workload* copy) {
  api::WorkloadStatus status = workload.status;
  if (!may_be_placed(status, check)) return {};
  if (status.cluster_name && *status.cluster_name != winner.cluster) return {};
  status.cluster_name = winner.cluster;
  status.nominated_cluster_names.clear();
  make_ready(api::find_check(&status, check->name), winner.message, now);
  put_state(&status.conditions,
            {std::string(api::reasons::dispatched),
             "Dispatched to worker cluster \"" + winner.cluster + "\"" +
                 (winner.not_elsewhere.empty() ? "" : "; " + winner.not_elsewhere)},
            workload.metadata.generation, now);
  if (copy && status.admission) note_places(&*status.admission, *copy);
  admit_if_ready(&status, workload.metadata.generation, now);
  return status;
}

std::optional<api::WorkloadStatus> take_place(const api::Workload& workload,
                                              const api::AdmissionCheckState* check,
                                              const TakePlace& place) {
  api::WorkloadStatus status = workload.status;
  if (!may_be_placed(status, check) || status.cluster_name) return {};
  status.cluster_name = place.cluster;
  status.nominated_cluster_names.clear();
  return status;
}

std::optional<api::WorkloadStatus> record_hub(const api::Workload& workload,
                                              const api::AdmissionCheckState* check,
                                              TimePoint now) {
  api::WorkloadStatus status = workload.status;
  if (!may_be_placed(status, check) || status.cluster_name) return {};
  status.nominated_cluster_names.clear();
  make_ready(api::find_check(&status, check->name), std::string(runs_on_hub_message), now);
  put_state(&status.conditions,
            {std::string(api::reasons::dispatched), std::string(runs_on_hub_message)},
            workload.metadata.generation, now);
  admit_if_ready(&status, workload.metadata.generation, now);
  return status;
}

std::optional<api::WorkloadStatus> set_check(const api::Workload& workload,
                                             const api::AdmissionCheckState* check,
                                             const SetCheck& wanted, TimePoint now) {
  const api::CheckState state =
      wanted.state == CheckState::retry ? api::CheckState::Retry : api::CheckState::Rejected;
  if (!check || check->state == state) return {};
  api::WorkloadStatus status = workload.status;
  api::AdmissionCheckState* mine = api::find_check(&status, check->name);
  std::string message = wanted.message + (wanted.own_sentence ? ". " : ", ") + "Previously: \"";
  (message += text_of(check->state)) += '"';
  mine->message = limited_text(std::move(message), api::condition_message_max);
  mine->state = state;
  mine->last_transition_time = std::chrono::floor<std::chrono::seconds>(now);
  mine->requeue_after_seconds.reset();
  if (wanted.pause.count() > 0) {
    mine->requeue_after_seconds = static_cast<std::int32_t>(wanted.pause.count());
  }
  return status;
}

Refusals refusals_of(const api::Workload& workload) {
  Refusals out;
  const api::Condition* told =
      api::find_condition(workload.status.conditions, api::conditions::refused_by_workers);
  if (!told || told->status != api::ConditionStatus::True) return out;
  // "[east west] refused the job; the last one: why". Names of clusters have no brackets.
  const std::string& text = told->message;
  const std::size_t end = text.find(']');
  if (text.empty() || text.front() != '[' || end == std::string::npos) return out;
  for (std::size_t at = 1; at < end;) {
    const std::size_t stop = std::min(text.find(' ', at), end);
    if (stop > at) out.clusters.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  out.until = told->last_transition_time + refusal_remembered;
  return out;
}

api::WorkloadStatus with_refusal(const api::Workload& workload, const std::string& cluster,
                                 const std::string& why, TimePoint now) {
  const Refusals known = refusals_of(workload);
  std::vector<std::string> clusters;
  if (known.until > now) clusters = known.clusters;
  if (std::find(clusters.begin(), clusters.end(), cluster) == clusters.end()) {
    clusters.push_back(cluster);
  }
  api::WorkloadStatus status = workload.status;
  // Its time is that of the last refusal.
  std::erase_if(status.conditions,
                [](const auto& c) { return c.type == api::conditions::refused_by_workers; });
  api::set_condition(
      &status.conditions,
      {std::string(api::conditions::refused_by_workers),
       api::ConditionStatus::True,
       workload.metadata.generation,
       {},
       std::string(api::reasons::job_refused),
       limited_text("[" + joined(clusters, " ") + "] refused the job; the last one: " + why,
                    api::condition_message_max)},
      now);
  return status;
}

api::WorkloadStatus with_state(const api::Workload& workload, const TellState& state,
                               TimePoint now) {
  api::WorkloadStatus status = workload.status;
  set_state(&status, workload.metadata.generation, state, now);
  return status;
}

void set_state(api::WorkloadStatus* status, std::int64_t generation, TellState state,
               TimePoint now) {
  if (const auto from = api::evicted_from(*status)) {
    state.message = api::evicted_from_text(*from, state.message);
  }
  put_state(&status->conditions, state, generation, now);
}

}  // namespace regatta::dispatch
