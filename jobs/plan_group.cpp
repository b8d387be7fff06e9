#include "jobs/plan_group.h"

#include "jobs/plan_rules.h"
#include "lib/api/names.h"
#include "lib/api/owner_reference.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::jobs {
namespace {

using Actions = std::vector<JobAction>;

/// Why a job is deleted, for its status.
std::string termination_reason(const api::Workload* workload) {
  if (!workload) return "NoMatchingWorkload";
  if (workload->metadata.deleting()) return std::string(workload_deleted);
  const api::Condition* condition =
      api::find_condition(workload->status.conditions, api::conditions::evicted);
  if (condition && condition->status == api::ConditionStatus::True) {
    return "WorkloadEvictedDueTo" + condition->reason;
  }
  return "NotAdmitted";
}

std::optional<JobAction> let_go_of(const std::vector<JobPtr>& jobs) {
  LetJobGo action;
  for (const JobPtr& one : jobs) {
    Json patch = one->let_go_patch();
    if (!patch.empty()) action.writes.push_back({one, std::move(patch)});
  }
  if (action.writes.empty()) return std::nullopt;
  return action;
}

void add(std::optional<JobAction> action, Actions* out) {
  if (action) out->push_back(std::move(*action));
}

/// Members that are being deleted and never ran, or have ended.
std::vector<JobPtr> gone_for_good(const ComposedJob& group) {
  std::vector<JobPtr> out;
  for (const JobPtr& one : group.members()) {
    if (one->metadata().deleting() && !one->active()) out.push_back(one);
  }
  return out;
}

Actions taken_name(const ComposedJob& group) {
  Actions out{Complain{std::string(api::events::workload_name_conflict), group.name_conflict()}};
  add(let_go_of(gone_for_good(group)), &out);
  return out;
}

/// nullopt when a Workload can be made.
std::optional<Actions> before_workload(const JobView& view, const ComposedJob& group) {
  if (view.job->finished()) return in_order({let_go(view.job)});
  // Nothing runs without the Workload that it names.
  if (view.prebuilt) {
    return in_order(
        {terminate(view, nullptr, "missing workload"), let_go_of(gone_for_good(group))});
  }
  const auto obstacle = group.obstacle();
  const Roster roster = group.roster(nullptr);
  Actions out;
  add(let_go_of(roster.replaced), &out);
  if (obstacle) {
    if (obstacle->told || view.policy.tell_obstacles) {
      out.push_back(Complain{std::string(api::events::error_workload_compose), obstacle->message});
    }
    return out;
  }
  if (!roster.excess.empty()) out.push_back(DropExcess{roster.excess});
  if (out.empty()) return std::nullopt;
  return out;
}

/// What does not run on a node is gone with its deletion; the Workload keeps its quota until the
/// rest has ended.
Actions deleted_group_workload(const JobView& view, const WorkloadPtr& workload,
                               const ComposedJob& group) {
  Actions out;
  add(terminate(view, workload.get(), "Workload is deleted"), &out);
  std::vector<JobPtr> idle;
  for (const JobPtr& one : group.members()) {
    if (!one->bound() || one->finished()) idle.push_back(one);
  }
  add(let_go_of(idle), &out);
  if (idle.size() == group.members().size()) out.push_back(ReleaseWorkload{workload});
  return out;
}

Actions finished_group_workload(const JobView& view, const WorkloadPtr& workload) {
  Actions out = in_order({let_go(view.job)});
  if (workload->metadata.has_finalizer(api::finalizers::resource_in_use)) {
    out.push_back(ReleaseWorkload{workload});
  }
  return out;
}

std::set<std::string_view> owners_of(const api::Workload& workload) {
  std::set<std::string_view> uids;
  for (const api::OwnerReference& one : workload.metadata.owner_references) uids.insert(one.uid);
  return uids;
}

/// A Workload that something else owns, too, lives as long as that, so a member that replaces
/// another one of its name need not own it anew.
bool is_owned_by(const api::Workload& workload, const GenericJob& member) {
  const std::string_view kind = member.kind().resource().kind;
  const auto& owners = workload.metadata.owner_references;
  const bool shared =
      std::any_of(owners.begin(), owners.end(), [&](const auto& one) { return one.kind != kind; });
  return std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& one) {
    const bool namesake = one.kind == kind && one.name == member.metadata().name;
    return one.uid == member.metadata().uid || (shared && namesake);
  });
}

/// An eviction makes members wait for replacement, too, and is then named as the reason.
std::optional<JobAction> await_replacement(const WorkloadPtr& workload, const Roster& roster) {
  const api::Conditions& all = workload->status.conditions;
  const api::Condition* had =
      api::find_condition(all, api::conditions::waiting_for_replacement_pods);
  const api::Condition* end = api::find_condition(all, api::conditions::evicted);
  const bool waits = roster.absent > 0;
  const bool evicted = end && end->status == api::ConditionStatus::True;
  const bool waited = had && had->status == api::ConditionStatus::True;
  if (!had && !waits) return std::nullopt;
  api::Condition condition;
  if (had) condition = *had;
  condition.type = api::conditions::waiting_for_replacement_pods;
  condition.observed_generation = workload->metadata.generation;
  if (waits && evicted) {
    condition.reason = end->reason;
    condition.message = end->message;
  } else if (waits && !waited) {
    condition.reason = api::reasons::pods_failed;
    condition.message = "Some Failed pods need replacement";
  } else if (!waits && waited) {
    condition.reason = api::reasons::pods_ready;
    condition.message = "No pods need replacement";
  }
  condition.status = waits ? api::ConditionStatus::True : api::ConditionStatus::False;
  const bool same = had && had->status == condition.status && had->reason == condition.reason &&
                    had->message == condition.message;
  if (same) return std::nullopt;
  return AwaitReplacement{workload, std::move(condition)};
}

/// The members follow the Workload: new ones own it, too many are deleted, replaced ones are let
/// go. New owners come first: a Workload whose last owner went is garbage, and the new members with
/// it.
Actions follow_workload(const WorkloadPtr& workload, const ComposedJob& group) {
  const Roster roster = group.roster(workload.get());
  Actions out;
  std::vector<JobPtr> joined;
  for (const JobPtr& one : roster.kept) {
    if (!is_owned_by(*workload, *one)) joined.push_back(one);
  }
  if (!joined.empty()) out.push_back(ShareWorkload{workload, std::move(joined)});
  if (!roster.excess.empty()) out.push_back(DropExcess{roster.excess});
  add(let_go_of(roster.replaced), &out);
  add(await_replacement(workload, roster), &out);
  return out;
}

}  // namespace

std::optional<JobAction> terminate(const JobView& view, const api::Workload* workload,
                                   std::string message) {
  TerminateJob action;
  for (const JobPtr& one : objects_of(view.job)) {
    auto patch = one->termination_patch(termination_reason(workload), message, view.now);
    if (patch) action.writes.push_back({one, std::move(*patch)});
  }
  if (action.writes.empty()) return std::nullopt;
  action.message = std::move(message);
  return action;
}

std::optional<JobAction> let_go(const JobPtr& job) {
  return let_go_of(objects_of(job));
}

std::vector<JobAction> start_writes(const JobView& view, const WorkloadPtr& workload) {
  const ComposedJob* group = view.job->composed();
  StartJob action;
  std::optional<Error> conflict;
  for (const JobPtr& one : objects_of(view.job)) {
    const bool waits = one->suspended() && !one->finished() && !one->metadata().deleting();
    if (group && !waits) continue;
    Result<Json> patch =
        group ? group->member_start_patch(*one, view.infos) : one->start_patch(view.infos);
    if (!patch) {
      conflict = patch.error();
      break;
    }
    if (!patch->empty()) action.writes.push_back({one, std::move(*patch)});
  }
  std::vector<JobAction> out;
  if (!action.writes.empty()) {
    action.message = "Admitted by clusterQueue " + workload->status.admission->cluster_queue;
    out.push_back(std::move(action));
  }
  if (conflict) {
    out.push_back(
        FinishWorkload{workload, std::string(api::reasons::failed_to_start), conflict->what()});
  }
  return out;
}

std::optional<std::vector<JobAction>> plan_group(const JobView& view) {
  const ComposedJob& group = *view.job->composed();
  // G1. Its Workload's name is taken: it cannot be admitted.
  if (view.name_taken) return taken_name(group);
  const WorkloadPtr workload = view.owned.empty() ? nullptr : view.owned.front();
  // G2. It has no Workload yet: there must be pods enough, which agree with each other.
  if (!workload) return before_workload(view, group);
  // G3. The Workload finished: nothing is kept any more.
  if (api::is_true(workload->status.conditions, api::conditions::finished)) {
    return finished_group_workload(view, workload);
  }
  // G4. The Workload is being deleted, and all members with it.
  if (workload->metadata.deleting()) return deleted_group_workload(view, workload, group);
  // G5. Members and Workload are of one shape: each place has one member.
  if (!view.job->equivalent(*workload, nullptr)) return std::nullopt;
  Actions out = follow_workload(workload, group);
  if (out.empty()) return std::nullopt;
  return out;
}

std::vector<JobPtr> objects_of(const JobPtr& job) {
  const ComposedJob* group = job->composed();
  return group ? group->members() : std::vector<JobPtr>{job};
}

bool may_be_composed(const api::Workload& workload) {
  const std::string marked(api::annotations::is_group_workload);
  return !workload.metadata.controller() || workload.metadata.annotation(marked) == "true";
}

api::ObjectMeta shared_metadata(const api::Workload& workload, const std::vector<JobPtr>& members) {
  api::ObjectMeta metadata = workload.metadata;
  const std::set<std::string_view> owners = owners_of(workload);
  for (const JobPtr& one : members) {
    if (owners.contains(one->metadata().uid)) continue;
    api::OwnerReference owner;
    owner.api_version = one->kind().resource().api_version();
    owner.kind = std::string(one->kind().resource().kind);
    owner.name = one->metadata().name;
    owner.uid = one->metadata().uid;
    metadata.owner_references.push_back(std::move(owner));
  }
  return metadata;
}

}  // namespace regatta::jobs
