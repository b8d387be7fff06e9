#include "dispatch/group.h"

#include "dispatch/objects.h"
#include "jobs/batch_job.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::dispatch {
namespace {

namespace conditions = api::conditions;

std::string rejection_of(const api::Workload& workload) {
  const auto& owners = workload.metadata.owner_references;
  const api::OwnerReference* owner = workload.metadata.controller();
  if (!owner && !owners.empty()) owner = &owners.front();
  if (!owner) return "No multikueue adapter found";
  if (owner->api_version == "batch/v1" && owner->kind == "Job") return "";
  return "No multikueue adapter found for owner kind \"" + owner->api_version +
         ", Kind=" + owner->kind + "\"";
}

void read_owner(const clusters::LocalCluster& local, const api::Workload& workload,
                LocalView* view) {
  view->rejection = rejection_of(workload);
  if (!view->rejection.empty()) return;
  const auto job = owner_job(local, workload);
  view->job_missing = !job;
  if (!job) return;
  view->job_active = jobs::batch_job::active(*job);
  if (const std::string reason = jobs::batch_job::not_managed_reason(*job); !reason.empty()) {
    view->rejection = "The owner is not managed by Kueue: " + reason;
  }
}

LocalView read_local(const clusters::LocalCluster& local, const api::Workload& workload) {
  LocalView view;
  const api::WorkloadStatus& status = workload.status;
  view.deleted = workload.metadata.deleting();
  view.uid = workload.metadata.uid;
  view.finished = api::is_true(status.conditions, conditions::finished);
  if (const api::Condition* c = api::find_condition(status.conditions, conditions::quota_reserved);
      c && c->status == api::ConditionStatus::True) {
    view.quota_reserved = true;
    view.quota_reserved_at = c->last_transition_time;
  }
  if (const api::Condition* c = api::find_condition(status.conditions, conditions::evicted);
      c && c->status == api::ConditionStatus::True) {
    view.evicted = true;
    view.evicted_message = c->message;
  }
  const api::AdmissionCheckState* mine = multikueue_check(local, workload);
  if (mine) read_check(*mine, &view);
  view.other_checks_ready = std::all_of(
      status.admission_checks.begin(), status.admission_checks.end(),
      [&](const auto& check) { return &check == mine || check.state == api::CheckState::Ready; });
  view.cluster_name = status.cluster_name.value_or("");
  view.nominated = status.nominated_cluster_names;
  read_owner(local, workload, &view);
  return view;
}

void read_gate(const api::Workload& copy, RemoteCopy* view) {
  const auto& gates = copy.spec.preemption_gates;
  if (std::find(gates.begin(), gates.end(), api::gates::multikueue_preemption) == gates.end()) {
    return;
  }
  for (const api::PreemptionGateState& gate : copy.status.preemption_gates) {
    if (gate.name != api::gates::multikueue_preemption || gate.position != "Open") continue;
    view->gate_open_since = gate.last_transition_time;
    return;
  }
  const api::Condition* blocked =
      api::find_condition(copy.status.conditions, conditions::blocked_on_preemption_gates);
  if (blocked && blocked->status == api::ConditionStatus::True) {
    view->blocked_since = blocked->last_transition_time;
  }
}

RemoteCopy read_copy(const clusters::RemoteCluster& remote, const api::Workload& copy,
                     const api::Workload* local) {
  RemoteCopy view;
  const api::Conditions& all = copy.status.conditions;
  if (const api::Condition* c = api::find_condition(all, conditions::admitted);
      c && c->status == api::ConditionStatus::True) {
    view.admitted_at = c->last_transition_time;
  }
  if (const api::Condition* c = api::find_condition(all, conditions::finished);
      c && c->status == api::ConditionStatus::True) {
    view.finished = Finish{c->reason, c->message, c->last_transition_time};
  }
  view.evicted = api::is_true(all, conditions::evicted);
  view.waiting = api::is_false(all, conditions::quota_reserved);
  view.deactivating = api::is_true(all, conditions::deactivation_target) ||
                      (local && local->spec.active && !copy.spec.active);
  view.deleting = copy.metadata.deleting() || remote.removing_workload(copy);
  view.has_finalizers = copy.metadata.has_finalizer(api::finalizers::resource_in_use) &&
                        !remote.removing_workload(copy);
  if (local) view.drift = drift_between(*local, copy);
  read_gate(copy, &view);
  return view;
}

ClusterView read_cluster(const clusters::Fleet::Member& member, const api::ObjectKey& key,
                         const api::Workload* local, const api::Job* job) {
  ClusterView view;
  view.connected = member.ready();
  view.lost_since = member.lost_since;
  if (!member.remote) return view;
  if (const auto copy = member.remote->workloads.get(key)) {
    view.copy = read_copy(*member.remote, *copy, local);
  }
  if (const auto theirs = remote_job_of(*member.remote, key)) {
    view.job = RemoteJob::ours;
    view.job_deleting = theirs->metadata.deleting() || member.remote->removing_job(*theirs);
    view.job_news = job && !jobs::batch_job::status_patch(*job, *theirs).empty();
  }
  return view;
}

bool same_but_priority(api::WorkloadSpec a, const api::WorkloadSpec& b) {
  a.priority = b.priority;
  a.priority_class_ref = b.priority_class_ref;
  a.active = b.active;
  a.preemption_gates = b.preemption_gates;
  return a == b;
}

bool is_workload_class(const std::optional<api::PriorityClassRef>& ref) {
  return ref && ref->kind == "WorkloadPriorityClass";
}

Json comparable_spec(const api::Workload& workload) {
  const Json whole = api::to_json(workload);
  Json spec = whole.value("spec", Json::object());
  for (const char* field : {"active", "preemptionGates", "priority", "priorityClassRef"}) {
    spec.erase(field);
  }
  return spec;
}

}  // namespace

void ForeignJobs::add(const std::string& cluster, const api::ObjectKey& job, TimePoint now) {
  std::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
  until_[{cluster, job}] = now + remembered;
}

bool ForeignJobs::contains(const std::string& cluster, const api::ObjectKey& job,
                           TimePoint now) const {
  const auto found = until_.find({cluster, job});
  return found != until_.end() && found->second > now;
}

const api::AdmissionCheckState* multikueue_check(const clusters::LocalCluster& local,
                                                 const api::Workload& workload) {
  for (const api::AdmissionCheckState& state : workload.status.admission_checks) {
    const auto check = local.checks.get(api::ObjectKey(state.name));
    if (check && check->spec.controller_name == api::multikueue_controller_name) return &state;
  }
  return nullptr;
}

std::shared_ptr<const api::MultiKueueConfig> config_of(const clusters::LocalCluster& local,
                                                       const std::string& check) {
  const auto found = local.checks.get(api::ObjectKey(check));
  if (!found || !found->spec.parameters) return nullptr;
  const api::AdmissionCheckParameters& parameters = *found->spec.parameters;
  if (parameters.api_group != api::kueue_group || parameters.kind != "MultiKueueConfig") {
    return nullptr;
  }
  return local.multikueue_configs.get(api::ObjectKey(parameters.name));
}

Drift drift_between(const api::Workload& local, const api::Workload& remote) {
  // The copy was made from this text, so this is nearly always enough.
  if (local.raw_spec == remote.raw_spec) return Drift::none;
  if (!same_but_priority(local.spec, remote.spec)) return Drift::other;
  if (comparable_spec(local) != comparable_spec(remote)) return Drift::other;
  const bool same = local.spec.priority == remote.spec.priority &&
                    local.spec.priority_class_ref == remote.spec.priority_class_ref;
  if (same) return Drift::none;
  const bool may_follow = is_workload_class(remote.spec.priority_class_ref) &&
                          is_workload_class(local.spec.priority_class_ref);
  return may_follow ? Drift::priority : Drift::other;
}

std::shared_ptr<const api::Job> remote_job_of(const clusters::RemoteCluster& remote,
                                              const api::ObjectKey& workload) {
  const auto found = remote.jobs.by_index(clusters::by_workload, workload.str());
  return found.empty() ? nullptr : found.front();
}

std::shared_ptr<const api::Job> owner_job(const clusters::LocalCluster& local,
                                          const api::Workload& workload) {
  const api::OwnerReference* owner = workload.metadata.controller();
  if (!owner || owner->kind != "Job") return nullptr;
  const auto job = local.jobs.get(api::ObjectKey(workload.metadata.ns, owner->name));
  return job && job->metadata.uid == owner->uid ? job : nullptr;
}

GroupView read_group(const clusters::LocalCluster& local, const clusters::Fleet& fleet,
                     const ForeignJobs& foreign, const api::ObjectKey& key, TimePoint now) {
  GroupView group;
  const auto workload = local.workloads.get(key);
  std::shared_ptr<const api::Job> job;
  if (workload) {
    group.local = read_local(local, *workload);
    job = owner_job(local, *workload);
    if (const api::AdmissionCheckState* check = multikueue_check(local, *workload)) {
      const auto config = config_of(local, check->name);
      group.local.config_missing = !config;
      if (config) group.config_order = config->spec.clusters;
    }
  } else {
    group.local.deleted = true;
  }
  for (const auto& [name, member] : fleet.members()) {
    ClusterView view = read_cluster(member, key, workload.get(), job.get());
    view.listed = std::find(group.config_order.begin(), group.config_order.end(), name) !=
                  group.config_order.end();
    if (view.job == RemoteJob::absent && job && foreign.contains(name, job->metadata.key(), now)) {
      view.job = RemoteJob::foreign;
    }
    const bool holds = view.copy || view.job == RemoteJob::ours;
    if (view.listed || holds) group.clusters.emplace(name, std::move(view));
  }
  return group;
}

}  // namespace regatta::dispatch
