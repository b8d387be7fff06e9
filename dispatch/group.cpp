#include "dispatch/group.h"

#include "dispatch/brake.h"
#include "dispatch/objects.h"
#include "dispatch/parts.h"
#include "dispatch/ranking.h"
#include "jobs/composed_job.h"
#include "jobs/elastic.h"
#include "jobs/multikueue.h"
#include "jobs/read_job.h"
#include "lib/api/check_retries.h"
#include "lib/api/codec.h"
#include "lib/api/eviction_record.h"
#include "lib/api/execution.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/placements.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace regatta::dispatch {
namespace {

namespace conditions = api::conditions;

CheckState state_of(api::CheckState state) {
  switch (state) {
    case api::CheckState::Pending:
      return CheckState::pending;
    case api::CheckState::Ready:
      return CheckState::ready;
    case api::CheckState::Retry:
      return CheckState::retry;
    case api::CheckState::Rejected:
      return CheckState::rejected;
  }
  return CheckState::pending;
}

std::string rejection_of(const jobs::Lookup& hub, const api::Workload& workload) {
  // What is several objects has no controller.
  auto owning = jobs::parent_of(hub.kinds(), workload);
  if (!owning) owning = jobs::group_of(hub.kinds(), workload);
  if (owning && owning->kind->dispatched()) return "";
  if (owning) {
    return "No multikueue adapter found for owner kind \"" +
           std::string(owning->kind->resource().kind) + "\"";
  }
  const auto& owners = workload.metadata.owner_references;
  const api::OwnerReference* owner = workload.metadata.controller();
  if (!owner && !owners.empty()) owner = &owners.front();
  if (!owner) return "No multikueue adapter found";
  const jobs::JobKind* kind = hub.kinds().find(*owner);
  if (kind && kind->dispatched()) return "";
  return "No multikueue adapter found for owner kind \"" + owner->api_version +
         ", Kind=" + owner->kind + "\"";
}

/// It is in its place on a cluster, and not on its way out.
bool is_placed(const jobs::Lookup& hub, const api::Workload& workload) {
  const api::WorkloadStatus& status = workload.status;
  if (!status.cluster_name || workload.metadata.deleting()) return false;
  if (api::is_true(status.conditions, conditions::finished)) return false;
  if (api::is_true(status.conditions, conditions::evicted)) return false;
  const api::AdmissionCheckState* check = multikueue_check(hub, status);
  return check && check->state != api::CheckState::Retry &&
         check->state != api::CheckState::Rejected;
}

void read_owner(const jobs::Lookup& hub, const api::Workload& workload, const jobs::JobPtr& job,
                LocalView* view) {
  const bool asks = job && jobs::asks_for_hub(job->metadata().annotations);
  const bool runs_there = asks && !job->not_managed_reason().empty();
  view->runs_on_hub = runs_there;
  if (runs_there) return;
  view->rejection = rejection_of(hub, workload);
  if (!view->rejection.empty() && !view->cluster_name.empty()) {
    view->kind_dropped = std::exchange(view->rejection, {});
    return;
  }
  if (view->rejection.empty() && asks) {
    view->rejection = "The job asks to run on the hub (" +
                      std::string(api::annotations::run_on_hub) +
                      "), and is one that MultiKueue runs";
  }
  if (!view->rejection.empty()) return;
  const auto index = jobs::group_index_of(workload);
  if (index && static_cast<std::size_t>(*index) >= jobs::copied_groups_max) {
    view->rejection = "MultiKueue runs no more than " + std::to_string(jobs::copied_groups_max) +
                      " groups of one job";
    return;
  }
  view->job_missing = !job;
  if (!job) return;
  const std::string reason = job->not_managed_reason();
  view->job_active = reason.empty() && job->active();
  view->job_unended = reason.empty() && !has_ended(*job);
  view->job_over = reason.empty() && has_ended(*job);
  if (!reason.empty()) {
    view->rejection = "The owner is not managed by Kueue: " + reason;
  }
}

/// The AdmissionCheck of each of them is there, so that its controller is known.
bool are_known(const jobs::Lookup& hub, const std::vector<api::AdmissionCheckState>& checks) {
  return std::all_of(checks.begin(), checks.end(), [&hub](const api::AdmissionCheckState& check) {
    return hub.admission_check(check.name) != nullptr;
  });
}

/// Whether another slice of its elastic job goes before this one, which came late. `all` are the
/// Workloads of the job, and of those that had its name before.
bool is_stray(const api::Workload& workload, const jobs::GenericJob& job,
              std::vector<jobs::WorkloadPtr> all) {
  std::erase_if(
      all, [&job](const jobs::WorkloadPtr& one) { return !jobs::is_controlled_by(*one, job); });
  return jobs::is_stray(workload, all);
}

/// What is known of the other slices of the elastic job.
void read_other_slices(const jobs::Lookup& hub, const api::Workload& workload,
                       const jobs::JobPtr& job, LocalView* view) {
  if (!job || !jobs::is_slice(workload)) return;
  const std::string key = workload.metadata.key().str();
  std::vector<jobs::WorkloadPtr> all = hub.workloads_of(jobs::id_of(*job));
  for (const jobs::WorkloadPtr& other : all) {
    if (jobs::replaced_slice(*other) != key) continue;
    view->has_successor = true;
    if (!jobs::keeps_quota(*other)) continue;
    const auto& place = other->status.cluster_name;
    const bool same = place && place == workload.status.cluster_name;
    view->superseded |= !same;
    view->overtaken |= same;
  }
  view->superseded |= is_stray(workload, *job, std::move(all));
}

LocalView read_local(const jobs::Lookup& hub, const api::Workload& workload,
                     const jobs::JobPtr& job, TimePoint now) {
  LocalView view;
  const api::WorkloadStatus& status = workload.status;
  const api::AdmissionCheckState* mine = multikueue_check(hub, workload.status);
  view.deleted = workload.metadata.deleting();
  view.uid = workload.metadata.uid;
  view.created_at = workload.metadata.creation_timestamp.value_or(TimePoint{});
  if (const api::Condition* c = api::find_condition(status.conditions, conditions::finished);
      c && c->status == api::ConditionStatus::True) {
    view.finished = true;
    if (ended_by_job(c->reason)) view.ended_at = c->last_transition_time;
  }
  if (const api::Condition* c = api::find_condition(status.conditions, conditions::quota_reserved);
      c && c->status == api::ConditionStatus::True) {
    view.quota_reserved = true;
    view.quota_reserved_at = c->last_transition_time;
  }
  if (const api::Condition* c = api::find_condition(status.conditions, conditions::evicted);
      c && c->status == api::ConditionStatus::True) {
    view.evicted = true;
    view.evicted_message = c->message;
    view.evicted_from = api::evicted_from(status);
    view.never_ran = never_ran(status, mine, are_known(hub, status.admission_checks));
    view.evicted_at = c->last_transition_time;
  }
  if (mine) {
    view.check = state_of(mine->state);
    view.check_since = mine->last_transition_time;
    view.retries = api::retries_of(*mine);
  }
  const Refusals refusals = refusals_of(workload);
  if (refusals.until > now) {
    view.refused_by = refusals.clusters;
    view.refused_until = refusals.until;
  }
  if (const api::Condition* c = api::find_condition(status.conditions, conditions::dispatched)) {
    view.told = c->reason;
  }
  view.admitted = api::is_true(status.conditions, conditions::admitted);
  view.may_run_until = api::may_run_until(workload.spec, status);
  view.other_checks_ready = other_checks_ready(hub, status, mine);
  for (const api::AdmissionCheckState& check : status.admission_checks) {
    if (&check == mine) continue;
    view.other_checks_since = std::max(view.other_checks_since, check.last_transition_time);
  }
  view.placed = std::any_of(status.admission_checks.begin(), status.admission_checks.end(),
                            [&](const auto& check) { return names_placement(hub, check.name); });
  if (mine) view.dispatcher = named_dispatcher(hub, mine->name);
  view.cluster_name = status.cluster_name.value_or("");
  view.never_reserved = !view.quota_reserved && shows_no_record(status);
  view.replaced = jobs::was_replaced(workload);
  view.takes_over = !view.cluster_name.empty() && view.check == CheckState::pending &&
                    jobs::is_slice(workload) && !jobs::replaced_slice(workload).empty();
  read_other_slices(hub, workload, job, &view);
  if (view.cluster_name.empty()) {
    view.place_of_replaced = place_of_replaced(hub, workload).value_or("");
  }
  view.nominated = status.nominated_cluster_names;
  read_owner(hub, workload, job, &view);
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

/// The worker charges the slice for what it has beyond the one that it says it replaces.
bool says_it_replaces(const api::Workload& copy, const std::string& name) {
  return jobs::replaced_slice(copy) == copy.metadata.ns + "/" + name;
}

RemoteCopy read_copy(const WorkerView& worker, const api::Workload* local) {
  RemoteCopy view;
  const api::Workload& copy = *worker.copy;
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
  view.out_of_time = out_of_time(copy);
  view.waiting = api::is_false(all, conditions::quota_reserved);
  view.deactivating = api::is_true(all, conditions::deactivation_target) ||
                      (local && local->spec.active && !copy.spec.active);
  view.of_another_life = worker.of_another_life;
  view.unmarked =
      local && copy.metadata.annotation(std::string(api::annotations::multikueue_origin_uid)) !=
                   local->metadata.uid;
  const api::Condition* asked = api::find_condition(all, conditions::deactivation_target);
  if (asked && asked->status == api::ConditionStatus::True && copy.spec.active && !view.evicted) {
    view.stop_asked_at = asked->last_transition_time;
  }
  // A copy with a Job may be what a hub that was restored has forgotten.
  const bool left_over = local && !worker.job && of_earlier_attempt(copy, *local);
  view.removal_begun = worker.removal_begun || left_over;
  view.deleting = copy.metadata.deleting() || worker.removing_copy;
  view.has_finalizers =
      copy.metadata.has_finalizer(api::finalizers::resource_in_use) && !worker.removing_copy;
  if (local) view.drift = drift_between(*local, copy);
  const bool waits = local && !view.admitted_at && !worker.replaces.empty();
  if (waits && view.drift == Drift::none && !says_it_replaces(copy, worker.replaces)) {
    view.drift = Drift::updatable;
  }
  read_gate(copy, &view);
  return view;
}

std::optional<TimePoint> deleting_since(const jobs::JobPtr& job) {
  std::optional<TimePoint> first;
  for (const jobs::JobPtr& one : jobs::objects_of(job)) {
    const auto& since = one->metadata().deletion_timestamp;
    if (since && (!first || *since < *first)) first = since;
  }
  return first;
}

ClusterView read_cluster(const WorkerView& worker, const api::Workload* local,
                         const jobs::JobPtr& job, bool leads) {
  ClusterView view;
  view.connected = worker.connected;
  view.lost_since = worker.lost_since;
  view.unknown = worker.unknown;
  view.kind_served = worker.kind_served;
  view.certainty = worker.certainty;
  if (worker.copy) view.copy = read_copy(worker, local);
  view.job_handing_over = worker.handing_over;
  view.job_without_quota = worker.without_quota;
  view.job_out_of_time = worker.named_out_of_time;
  if (worker.job) {
    view.job = RemoteJob::ours;
    view.job_deleting = is_deleting(*worker.job) || worker.removing_job;
    view.job_removed_for = worker.removing_job_for;
    if (view.job_deleting) view.job_deleting_since = deleting_since(worker.job);
    view.job_removal_asked = worker.job_removal_asked;
    view.job_ended = has_ended(*worker.job);
    view.job_tells_no_end = !worker.job->tells_its_end();
    view.job_unmarked = worker.job_unmarked;
    view.job_shared = worker.job_shared;
    view.job_strays = worker.strays;
    const bool several = job && local && job->composed();
    view.job_incomplete = several && !parts_to_create(job, worker.job, *local).empty();
    // One of its Workloads is enough to see to it.
    view.job_behind = job && local && leads &&
                      !job_update(*job, *worker.job, *local, worker.named_is_over).empty();
    view.job_under_other_slice = worker.other_slice;
    view.job_left_behind = worker.named_was_replaced;
    view.job_active = worker.job->active();
    const bool told_to_stop = dispatch::told_to_stop(*worker.job);
    view.job_stopped = told_to_stop && !view.job_active;
    view.job_stopping = told_to_stop && view.job_active;
    view.job_rests = rests(*worker.job);
    view.job_read = worker.job_read;
    view.job_news = has_news(job, worker.job, worker.namesakes);
  }
  return view;
}

/// `a`, in which a slice has shrunk to the counts of `b`.
api::WorkloadSpec shrunk_to(api::WorkloadSpec a, const api::WorkloadSpec& b) {
  if (a.pod_sets.size() != b.pod_sets.size()) return a;
  for (std::size_t i = 0; i < a.pod_sets.size(); ++i) {
    if (b.pod_sets[i].count > a.pod_sets[i].count) return a;
  }
  for (std::size_t i = 0; i < a.pod_sets.size(); ++i) a.pod_sets[i].count = b.pod_sets[i].count;
  return a;
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

/// What a copy may differ in.
Json without_what_may_differ(Json spec) {
  if (!spec.is_object()) return spec;
  for (const char* field : {"active", "preemptionGates", "priority", "priorityClassRef"}) {
    spec.erase(field);
  }
  return spec;
}

Json comparable_spec(const api::Workload& workload) {
  const Json whole = api::to_json(workload);
  return without_what_may_differ(whole.value("spec", Json::object()));
}

/// Fields that are not known included.
bool same_otherwise(const api::Workload& a, const api::Workload& b) {
  // The texts as they were read are enough as a rule, and much quicker.
  if (!a.raw_spec.empty() && !b.raw_spec.empty() &&
      without_what_may_differ(a.raw_spec.json()) == without_what_may_differ(b.raw_spec.json())) {
    return true;
  }
  return comparable_spec(a) == comparable_spec(b);
}

}  // namespace

void ForeignJobs::add(const std::string& cluster, const jobs::JobId& job, SteadyPoint now) {
  until_[{cluster, job}] = now + remembered;
}

void ForeignJobs::expire(SteadyPoint now) {
  std::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
}

std::optional<SteadyPoint> ForeignJobs::next_end() const {
  const auto first = std::min_element(until_.begin(), until_.end(),
                                      [](auto& a, auto& b) { return a.second < b.second; });
  return first == until_.end() ? std::nullopt : std::optional(first->second);
}

bool ForeignJobs::contains(const std::string& cluster, const jobs::JobId& job) const {
  return until_.contains({cluster, job});
}

bool never_ran(const api::WorkloadStatus& status, const api::AdmissionCheckState* check,
               bool known) {
  if (!api::is_true(status.conditions, conditions::quota_reserved)) return false;
  // With a recorded cluster it is admitted at once, or the eviction remembers the cluster,
  if (api::evicted_from(status) || status.cluster_name) return false;
  if (!api::is_true(status.conditions, conditions::admitted)) return true;
  // and resets the check. One that got it after it was admitted has it as it was made.
  if (!check) return known;
  return check->state == api::CheckState::Pending && !check->message.starts_with(api::reset_prefix);
}

const api::AdmissionCheckState* multikueue_check(const jobs::Lookup& hub,
                                                 const api::WorkloadStatus& status) {
  // Better ones first: when the check was exchanged meanwhile, the one that sent the workload to
  // its worker counts. It may be gone by now; then it is one of those that let the workload be
  // admitted.
  enum Rank { sent, may_have_sent, ours, may_be_ours, none };
  const bool recorded = status.cluster_name.has_value();
  const bool admitted = api::is_true(status.conditions, conditions::admitted);
  const auto rank = [&](const api::AdmissionCheckState& state) {
    const bool ready = recorded && state.state == api::CheckState::Ready;
    if (const auto check = hub.admission_check(state.name)) {
      if (!api::is_multikueue(*check)) return none;
      return ready ? sent : ours;
    }
    if (!recorded) return none;
    return ready && admitted ? may_have_sent : may_be_ours;
  };
  const api::AdmissionCheckState* found = nullptr;
  Rank best = none;
  for (const api::AdmissionCheckState& state : status.admission_checks) {
    const Rank its = rank(state);
    if (its >= best) continue;
    best = its;
    found = &state;
  }
  return found;
}

bool other_checks_ready(const jobs::Lookup& hub, const api::WorkloadStatus& status,
                        const api::AdmissionCheckState* mine) {
  const auto has_say = [&](const api::AdmissionCheckState& check) {
    if (&check == mine) return false;
    if (!status.cluster_name) return true;
    const auto found = hub.admission_check(check.name);
    return found && !api::is_multikueue(*found);
  };
  return std::all_of(status.admission_checks.begin(), status.admission_checks.end(),
                     [&](const api::AdmissionCheckState& check) {
                       return !has_say(check) || check.state == api::CheckState::Ready;
                     });
}

bool names_placement(const jobs::Lookup& hub, const std::string& check) {
  const auto found = hub.admission_check(check);
  return found && found->spec.controller_name == api::placement_controller_name;
}

std::optional<placement::Dispatcher> named_dispatcher(const jobs::Lookup& hub,
                                                      const std::string& check) {
  const auto found = hub.admission_check(check);
  if (!found || found->metadata.annotations.empty()) return std::nullopt;
  const std::string& name = found->metadata.annotation(std::string(api::annotations::dispatcher));
  if (name.empty()) return std::nullopt;
  return placement::dispatcher_of(name);
}

std::shared_ptr<const api::MultiKueueConfig> config_of(const jobs::Lookup& hub,
                                                       const std::string& check) {
  const auto found = hub.admission_check(check);
  if (!found || !found->spec.parameters) return nullptr;
  const api::AdmissionCheckParameters& parameters = *found->spec.parameters;
  if (parameters.api_group != api::kueue_group || parameters.kind != "MultiKueueConfig") {
    return nullptr;
  }
  return hub.multikueue_config(parameters.name);
}

std::optional<TimePoint> out_of_time(const api::Workload& copy) {
  const api::Condition* evicted = api::find_condition(copy.status.conditions, conditions::evicted);
  const bool so = evicted && evicted->status == api::ConditionStatus::True &&
                  evicted->reason.ends_with(api::reasons::maximum_execution_time_exceeded);
  return so ? std::optional(evicted->last_transition_time) : std::nullopt;
}

Drift drift_between(const api::Workload& local, const api::Workload& remote) {
  // The copy was made from this text, so this comparison is nearly always enough. Workloads that
  // were not read have no text, and their fields are all there is.
  const bool same_text = local.raw_spec == remote.raw_spec;
  if (same_text && (!local.raw_spec.empty() || local.spec == remote.spec)) return Drift::none;
  if (jobs::is_slice(local) && local.spec.pod_sets != remote.spec.pod_sets) {
    const api::WorkloadSpec shrunk = shrunk_to(remote.spec, local.spec);
    return same_but_priority(local.spec, shrunk) ? Drift::updatable : Drift::other;
  }
  if (!same_but_priority(local.spec, remote.spec)) return Drift::other;
  if (!same_text && !same_otherwise(local, remote)) return Drift::other;
  const bool same = local.spec.priority == remote.spec.priority &&
                    local.spec.priority_class_ref == remote.spec.priority_class_ref;
  if (same) return Drift::none;
  const bool may_follow = is_workload_class(remote.spec.priority_class_ref) &&
                          is_workload_class(local.spec.priority_class_ref);
  return may_follow ? Drift::updatable : Drift::other;
}

Json job_update(const jobs::GenericJob& job, const jobs::GenericJob& remote,
                const api::Workload& workload, bool named_is_over) {
  if (jobs::is_slice(workload)) return jobs::slice_update(job, remote, workload, named_is_over);
  return job.follow_patch(remote);
}

std::optional<std::string> place_of_replaced(const jobs::Lookup& hub,
                                             const api::Workload& workload) {
  if (!jobs::is_slice(workload)) return std::nullopt;
  const jobs::WorkloadPtr before = jobs::find_replaced(hub, workload);
  if (!before) return std::nullopt;
  // One that is over has left its place to this slice, unless that came late. If this one shows no
  // record, it has not had it yet, and the Job may only just have been sent there. Otherwise it has
  // lost it since.
  const bool left = jobs::was_replaced(*before) && before->status.cluster_name &&
                    !before->metadata.deleting() && shows_no_record(workload.status);
  const jobs::JobPtr job = left ? jobs::owner_of(hub, workload) : nullptr;
  if (job && is_stray(workload, *job, hub.workloads_of(jobs::id_of(*job)))) return std::nullopt;
  if (!left && !is_placed(hub, *before)) return std::nullopt;
  const bool theirs = before->metadata.controller() && workload.metadata.controller() &&
                      before->metadata.controller()->uid == workload.metadata.controller()->uid;
  return theirs ? before->status.cluster_name : std::nullopt;
}

/// The first group's Workload races. Its place is recorded before any other one has one, and a
/// Workload that has a place follows only those with a lower index, so that all of them follow one.
std::optional<std::string> followed_cluster(const jobs::Lookup& hub,
                                            const api::Workload& workload) {
  const auto mine = jobs::group_index_of(workload);
  const auto parent = mine ? jobs::parent_of(hub.kinds(), workload) : std::nullopt;
  if (!parent) return std::nullopt;
  const bool placed = is_placed(hub, workload);
  const auto shares_owner = [&](const api::Workload& other) {
    const auto& owners = workload.metadata.owner_references;
    const auto& theirs = other.metadata.owner_references;
    return std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& owner) {
      return owner.kind == parent->kind->resource().kind &&
             std::any_of(theirs.begin(), theirs.end(),
                         [&](const auto& one) { return one.uid == owner.uid; });
    });
  };
  std::optional<std::int32_t> first;
  std::string cluster;
  for (const jobs::WorkloadPtr& other : hub.workloads_of(*parent)) {
    const auto index = jobs::group_index_of(*other);
    const bool before = index && (placed ? *index < *mine : *index != *mine);
    if (!before || (first && *first < *index)) continue;
    if (!is_placed(hub, *other) || !shares_owner(*other)) continue;
    first = index;
    cluster = *other->status.cluster_name;
  }
  if (!first && (placed || *mine == 0)) return std::nullopt;
  return cluster;
}

namespace {

/// The worker has another job of the name of one of these, which it lacks.
bool has_foreign(const ForeignJobs& foreign, const std::string& worker,
                 const std::vector<jobs::JobPtr>& lacking) {
  return std::any_of(lacking.begin(), lacking.end(), [&](const jobs::JobPtr& one) {
    return foreign.contains(worker, jobs::id_of(*one));
  });
}

/// Of workers without the job, those where another one has the name of it or of a part.
std::vector<std::string> with_foreign_job(const std::vector<std::string>& workers,
                                          const ForeignJobs& foreign, const jobs::JobPtr& job,
                                          const api::Workload& workload) {
  std::vector<std::string> out;
  if (foreign.empty() || !job) return out;
  const auto parts = parts_to_create(job, nullptr, workload);
  std::copy_if(workers.begin(), workers.end(), std::back_inserter(out),
               [&](const std::string& name) { return has_foreign(foreign, name, parts); });
  return out;
}

/// Which workers are to be looked at besides those that may hold something of the workload. Sets
/// what nominations follow from: the roster or the order of the config.
std::vector<std::string> to_look_at(GroupView* group, const std::vector<std::string>& listed,
                                    const std::shared_ptr<const Roster>& roster, TimePoint now,
                                    const PlanConfig& config) {
  const auto all = [&] { return group->config_order = listed; };
  if (listed.size() <= placement::nominated_max) return all();
  // Of more workers than the API lets a config name, those that have nothing of the workload are of
  // interest only while it waits for its cluster,
  const LocalView& local = group->local;
  const bool chooses =
      local.quota_reserved && !local.finished && !local.evicted && local.cluster_name.empty();
  if (!chooses) return {};
  // and then those that are to be nominated. If none can be, the others tell why.
  if (!roster || roster->able.size() <= local.refused_by.size() + group->with_foreign_job.size()) {
    return all();
  }
  group->roster = roster;
  std::vector<std::string> chosen = nomination_of(*group, now, config).nominated.clusters;
  if (!local.place_of_replaced.empty()) chosen.push_back(local.place_of_replaced);
  return chosen;
}

}  // namespace

GroupView read_group(const jobs::Lookup& hub, const FleetView& fleet, const ForeignJobs& foreign,
                     const api::ObjectKey& key, TimePoint now, const PlanConfig& config) {
  GroupView group;
  const jobs::WorkloadPtr workload = hub.workload(key);
  jobs::JobPtr job;
  std::shared_ptr<const api::MultiKueueConfig> workers;
  if (workload) {
    job = jobs::owner_of(hub, *workload);
    group.local = read_local(hub, *workload, job, now);
    group.local.follows = followed_cluster(hub, *workload);
    if (const api::AdmissionCheckState* check = multikueue_check(hub, workload->status)) {
      workers = config_of(hub, check->name);
      group.local.config_missing = !workers;
    }
  } else {
    group.local.deleted = true;
  }
  static const std::vector<std::string> none;
  const std::vector<std::string>& order = workers ? workers->spec.clusters : none;
  const bool many = order.size() > placement::nominated_max;
  std::shared_ptr<const Roster> roster;
  if (many && !is_compared(group.local, config)) {
    roster = fleet.roster(workers, job ? &job->kind() : nullptr);
  }
  std::set<std::string_view> listed;
  if (roster) {
    group.with_foreign_job = with_foreign_job(roster->able, foreign, job, *workload);
  } else {
    listed.insert(order.begin(), order.end());
  }
  const std::vector<std::string> visited = to_look_at(&group, order, roster, now, config);
  const auto look = [&](const std::string& name, const WorkerView& worker) {
    // The name that it was evicted from has gone, and this is another one of the same worker.
    const bool renamed = !worker.made_through.empty() && worker.made_through != name;
    if (renamed && group.local.evicted_from == worker.made_through) {
      group.local.evicted_from = name;
    }
    ClusterView view = read_cluster(worker, workload.get(), job, !group.local.follows);
    view.listed = roster ? roster->listed.contains(name) : listed.contains(name);
    // A config that is gone says nothing about the worker that runs the Job.
    if (group.local.config_missing) view.listed = name == group.local.cluster_name;
    // Nor does a MultiKueueCluster that cannot be read, whose labels may select it.
    const bool unreadable = view.certainty == Certainty::unreadable;
    view.listed = view.listed || (view.unknown && unreadable);
    const bool remembered = group.local.evicted_from == name;
    const bool holds = view.copy || view.job == RemoteJob::ours || unreadable;
    if (!view.listed && !holds && !remembered) return;
    const bool creates = workload && job && (view.job == RemoteJob::absent || view.job_incomplete);
    if (creates && !foreign.empty()) {
      const auto lacking = parts_to_create(job, worker.job, *workload);
      if (has_foreign(foreign, name, lacking)) view.job = RemoteJob::foreign;
    }
    if (worker.other_name && view.job == RemoteJob::absent) view.job = RemoteJob::foreign;
    group.clusters.emplace(name, std::move(view));
  };
  fleet.for_each_worker(key, visited, look);
  return group;
}

}  // namespace regatta::dispatch
