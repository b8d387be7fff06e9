#include "controllers/placement_controller.h"
#include "jobs/multikueue.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/base/joined.h"
#include "lib/base/limited_text.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>

/// What PlacementController decides about one workload, from the caches.
namespace regatta::controllers {
namespace {

bool wants_attention(const api::Workload& workload) {
  return lifecycle::is_reserved(workload) && !lifecycle::is_finished(workload) &&
         !lifecycle::is_evicted(workload) && !workload.metadata.deleting();
}

TimePoint reserved_at(const api::Workload& workload) {
  const auto* reserved =
      api::find_condition(workload.status.conditions, api::conditions::quota_reserved);
  return reserved ? reserved->last_transition_time : TimePoint();
}

void keep_common(std::vector<std::string>* names, const std::vector<std::string>& others) {
  std::erase_if(*names, [&](const std::string& name) { return !contains(others, name); });
}

/// Changes nothing when the check says so already.
void set_state(api::AdmissionCheckState* state, api::CheckState wanted, const std::string& message,
               TimePoint now) {
  if (state->state != wanted) state->last_transition_time = now;
  state->state = wanted;
  state->message = limited_text(message, api::condition_message_max);
}

std::string quoted(const std::vector<std::string>& names) {
  return "\"" + joined(names, "\", \"") + "\"";
}

}  // namespace

const api::AdmissionCheckState* PlacementController::multikueue_check(
    const api::Workload& workload) const {
  for (const api::AdmissionCheckState& state : workload.status.admission_checks) {
    const auto check = deps_.checks.get(api::ObjectKey(state.name));
    if (check && api::is_multikueue(*check)) return &state;
  }
  return nullptr;
}

/// Its check of MultiKueue names another dispatcher.
bool PlacementController::is_of_other(const api::Workload& workload) const {
  const auto* state = multikueue_check(workload);
  const auto check = state ? deps_.checks.get(api::ObjectKey(state->name)) : nullptr;
  return check && check->metadata.annotations.contains(std::string(api::annotations::dispatcher));
}

/// Of the Workloads of one job, MultiKueue sends all to the worker that has the first one.
bool PlacementController::goes_with_others(const api::Workload& workload) const {
  const auto index = jobs::group_index_of(workload);
  if (!index || *index > 0) return index.has_value();
  const auto& owners = workload.metadata.owner_references;
  const auto all = deps_.workloads.list();
  return std::any_of(all.begin(), all.end(), [&](const auto& other) {
    const auto& theirs = other->metadata.owner_references;
    return other->status.cluster_name && other->metadata.ns == workload.metadata.ns &&
           std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& owner) {
             return std::any_of(theirs.begin(), theirs.end(),
                                [&](const auto& one) { return one.uid == owner.uid; });
           });
  });
}

/// MultiKueue waits for its nominations.
bool PlacementController::wants_clusters(const api::Workload& workload) const {
  if (goes_with_others(workload)) return false;
  const auto* check = multikueue_check(workload);
  return check && check->state == api::CheckState::Pending && !workload.status.cluster_name;
}

bool PlacementController::waits(const api::Workload& workload) const {
  if (!wants_attention(workload)) return false;
  const auto& states = workload.status.admission_checks;
  const bool checked = std::any_of(states.begin(), states.end(),
                                   [&](const auto& state) { return ours_.contains(state.name); });
  const bool pending = std::any_of(states.begin(), states.end(), [&](const auto& state) {
    return ours_.contains(state.name) && state.state == api::CheckState::Pending;
  });
  const bool mine = checked || (config_.every_workload && !is_of_other(workload));
  return pending || (mine && wants_clusters(workload));
}

Result<std::vector<placement::Reference>> PlacementController::references_of(
    const api::Workload& workload) const {
  placement::Naming naming;
  naming.ns = workload.metadata.ns;
  naming.system_namespace = deps_.system_namespace;
  naming.workload = workload.metadata.annotations;
  if (deps_.job_annotations) naming.job = deps_.job_annotations(workload);
  if (const auto queue = deps_.local_queues.get({naming.ns, workload.spec.queue_name})) {
    naming.local_queue = queue->metadata.annotations;
  }
  if (workload.status.admission) {
    const std::string& name = workload.status.admission->cluster_queue;
    const auto queue = deps_.cluster_queues.get(api::ObjectKey(name));
    if (queue) naming.cluster_queue = queue->metadata.annotations;
  }
  for (const api::AdmissionCheckState& state : workload.status.admission_checks) {
    if (!ours_.contains(state.name)) continue;
    const auto check = deps_.checks.get(api::ObjectKey(state.name));
    if (check) naming.checks.push_back(check->spec);
  }
  return placement::references(naming);
}

std::vector<placement::Member> PlacementController::members() const {
  std::vector<placement::Member> out;
  for (const auto& cluster : deps_.multikueue_clusters.list()) {
    placement::Member member;
    member.name = cluster->metadata.name;
    member.managed_cluster =
        cluster->metadata.annotation(std::string(api::annotations::managed_cluster));
    const auto& profile = cluster->spec.cluster_source.cluster_profile_ref;
    if (profile) member.profile = profile->name;
    out.push_back(std::move(member));
  }
  return out;
}

placement::ChooseInput PlacementController::input_of(
    const api::Workload& workload, const std::string& check,
    const std::vector<placement::Reference>& references, std::vector<std::string>* unknown) {
  placement::ChooseInput input;
  const std::vector<placement::Member> known = members();
  for (std::size_t i = 0; i < references.size(); ++i) {
    const auto decided =
        placement::members_named(verdict_of(references[i]).clusters, known, unknown);
    if (i == 0) input.decided = decided;
    keep_common(&input.decided, decided);
  }
  const auto found = deps_.checks.get(api::ObjectKey(check));
  const auto config = found && found->spec.parameters
                          ? deps_.selection.config(found->spec.parameters->name)
                          : nullptr;
  if (config) input.listed.insert(config->spec.clusters.begin(), config->spec.clusters.end());
  for (const std::string& name : input.listed) {
    const auto cluster = deps_.multikueue_clusters.get(api::ObjectKey(name));
    if (cluster && api::is_true(cluster->status.conditions, api::conditions::active)) {
      input.connected.insert(name);
    }
  }
  input.full = ledger_.full();
  input.nominated = workload.status.nominated_cluster_names;
  input.quota_reserved_at = reserved_at(workload);
  return input;
}

/// The workload waits on, and its checks say why.
PlacementController::Outcome PlacementController::refuse(const api::Workload& workload,
                                                         std::string why) const {
  Outcome out;
  out.status = workload.status;
  for (api::AdmissionCheckState& state : out.status->admission_checks) {
    if (!ours_.contains(state.name) || state.state != api::CheckState::Pending) continue;
    set_state(&state, api::CheckState::Pending, why, clock_.now());
  }
  out.text = std::move(why);
  return out;
}

/// No worker is to be chosen for it.
PlacementController::Outcome PlacementController::leave_on_hub(
    const api::Workload& workload) const {
  Outcome out;
  out.status = workload.status;
  for (api::AdmissionCheckState& state : out.status->admission_checks) {
    if (!ours_.contains(state.name) || state.state != api::CheckState::Pending) continue;
    set_state(&state, api::CheckState::Ready, "The job asks to run on the hub", clock_.now());
  }
  return out;
}

PlacementController::Outcome PlacementController::decide(const api::Workload& workload) {
  if (deps_.job_annotations && jobs::asks_for_hub(deps_.job_annotations(workload))) {
    return leave_on_hub(workload);
  }
  const auto references = references_of(workload);
  if (!references) return refuse(workload, references.error().what());
  if (references->empty()) {
    return refuse(workload, "No annotation " + std::string(api::annotations::placement) +
                                " names a Placement for this workload");
  }
  std::vector<std::string> says;
  for (const placement::Reference& reference : *references) {
    const placement::Verdict& verdict = verdict_of(reference);
    if (verdict.standing == placement::Standing::unknown) return {};
    if (!verdict.has_clusters()) return refuse(workload, verdict.message);
    says.push_back(verdict.message);
  }
  Outcome out;
  const std::string decided = joined(says, "; ");
  if (wants_clusters(workload)) {
    std::vector<std::string> unknown;
    const placement::ChooseInput input =
        input_of(workload, multikueue_check(workload)->name, *references, &unknown);
    out.chosen = placement::choose(input, clock_.now(), config_.choose);
    for (const std::string& name : unknown) {
      out.chosen.why_not.push_back(name + " has no MultiKueueCluster");
    }
    if (out.chosen.clusters.empty()) {
      const std::string why = out.chosen.why_not.empty() ? "no cluster is chosen by all of them"
                                                         : joined(out.chosen.why_not, ", ");
      placement::Chosen chosen = std::move(out.chosen);
      // Why a moment has no room is nothing to write into every workload.
      out = chosen.waits_for.empty() ? refuse(workload, decided + "; " + why) : Outcome();
      out.chosen = std::move(chosen);
      return out;
    }
    out.nominated = out.chosen.clusters != workload.status.nominated_cluster_names;
  }
  out.status = workload.status;
  if (out.nominated) {
    out.status->nominated_cluster_names = out.chosen.clusters;
    out.text = decided + "; nominated " + quoted(out.chosen.clusters);
  }
  for (api::AdmissionCheckState& state : out.status->admission_checks) {
    if (!ours_.contains(state.name) || state.state != api::CheckState::Pending) continue;
    set_state(&state, api::CheckState::Ready, decided, clock_.now());
  }
  return out;
}

}  // namespace regatta::controllers
