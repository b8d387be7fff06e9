#include "whatif/engine/federation.h"

#include "dispatch/objects.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::whatif {
namespace {

namespace conditions = api::conditions;

dispatch::RemoteCopy read_copy(const Course& course) {
  dispatch::RemoteCopy out;
  const api::Conditions& all = course.workload.status.conditions;
  if (api::is_true(all, conditions::admitted)) {
    out.admitted_at = api::find_condition(all, conditions::admitted)->last_transition_time;
  }
  if (api::is_true(all, conditions::finished)) {
    const api::Condition* end = api::find_condition(all, conditions::finished);
    out.finished = dispatch::Finish{end->reason, end->message, end->last_transition_time};
  }
  out.evicted = api::is_true(all, conditions::evicted);
  out.waiting = api::is_false(all, conditions::quota_reserved);
  out.deactivating =
      api::is_true(all, conditions::deactivation_target) || !course.workload.spec.active;
  out.deleting = course.deleting;
  return out;
}

/// Whether its pods are gone that once ran.
bool wound_down(const Course& copy) {
  return copy.has_job && !copy.started;
}

}  // namespace

Federation::Federation(std::vector<Cluster*> clusters, dispatch::DispatchConfig config,
                       Agenda* agenda, Records* records)
    : hub_(*clusters.front()), config_(std::move(config)), agenda_(agenda), records_(records) {
  for (std::size_t i = 1; i < clusters.size(); ++i) {
    workers_[clusters[i]->name()] = Member{clusters[i], true, {}};
  }
}

Cluster* Federation::worker(const std::string& name) {
  const auto found = workers_.find(name);
  return found == workers_.end() ? nullptr : found->second.cluster;
}

Status Federation::set_connected(const std::string& cluster, bool connected, TimePoint now) {
  const auto found = workers_.find(cluster);
  if (found == workers_.end()) return Error(Errc::not_found, "there is no worker " + cluster);
  Member& member = found->second;
  if (member.connected == connected) return ok();
  member.connected = connected;
  member.lost_since = connected ? std::nullopt : std::optional(now);
  // Whoever may be concerned.
  for (const api::ObjectKey& key : hub_.unfinished_keys()) due_.insert(key);
  for (const api::ObjectKey& key : member.cluster->unfinished_keys()) due_.insert(key);
  return ok();
}

void Federation::wake(const Wake& wake) {
  Course& course = hub_.course(wake.course);
  course.dispatch_at.reset();
  if (course.phase != CoursePhase::over) due_.insert(course.workload.metadata.key());
}

dispatch::LocalView Federation::read_local(const Course& course, const std::string& check) const {
  dispatch::LocalView view;
  const api::Workload& workload = course.workload;
  const api::WorkloadStatus& status = workload.status;
  view.uid = workload.metadata.uid;
  view.finished = api::is_true(status.conditions, conditions::finished);
  if (api::is_true(status.conditions, conditions::quota_reserved)) {
    view.quota_reserved = true;
    view.quota_reserved_at =
        api::find_condition(status.conditions, conditions::quota_reserved)->last_transition_time;
  }
  if (api::is_true(status.conditions, conditions::evicted)) {
    view.evicted = true;
    view.evicted_message = api::find_condition(status.conditions, conditions::evicted)->message;
  }
  const api::AdmissionCheckState* mine = api::find_check(status, check);
  if (mine) dispatch::read_check(*mine, &view);
  view.other_checks_ready = std::all_of(
      status.admission_checks.begin(), status.admission_checks.end(),
      [&](const auto& one) { return one.name == check || one.state == api::CheckState::Ready; });
  view.cluster_name = status.cluster_name.value_or("");
  view.nominated = status.nominated_cluster_names;
  if (const Race* race = race_of(course)) view.racing_since = race->since;
  view.job_active = course.started;
  return view;
}

dispatch::ClusterView Federation::read_cluster(const Member& member,
                                               const api::ObjectKey& key) const {
  dispatch::ClusterView view;
  view.connected = member.connected;
  view.lost_since = member.lost_since;
  const Course* copy = member.cluster->find(key);
  if (!copy || !copy->copy) return view;
  view.copy = read_copy(*copy);
  if (copy->has_job) {
    view.job = dispatch::RemoteJob::ours;
    view.job_deleting = copy->deleting;
    const Course* original = hub_.find(key);
    view.job_news = original && original->started && wound_down(*copy);
  }
  return view;
}

dispatch::GroupView Federation::read(const Course& course, const std::string& check) const {
  dispatch::GroupView group;
  group.local = read_local(course, check);
  const api::MultiKueueConfig* config = check.empty() ? nullptr : hub_.config_of(check);
  group.local.config_missing = !config;
  if (config) group.config_order = config->spec.clusters;
  for (const auto& [name, member] : workers_) {
    dispatch::ClusterView view = read_cluster(member, course.workload.metadata.key());
    view.listed = std::find(group.config_order.begin(), group.config_order.end(), name) !=
                  group.config_order.end();
    if (view.listed || view.copy) group.clusters.emplace(name, std::move(view));
  }
  return group;
}

bool Federation::act(TimePoint now) {
  due_.merge(hub_.take_changed());
  for (auto& [name, member] : workers_) due_.merge(member.cluster->take_changed());
  bool acted = false;
  for (const api::ObjectKey& key : std::exchange(due_, {})) acted = dispatch(key, now) || acted;
  return acted;
}

bool Federation::dispatch(const api::ObjectKey& key, TimePoint now) {
  Course* course = hub_.find(key);
  if (!course) {
    races_.erase(key);
    bool removed = false;
    for (auto& [name, member] : workers_) {
      const Course* copy = member.cluster->find(key);
      if (!copy || !copy->copy || copy->deleting || !member.connected) continue;
      member.cluster->remove_copy(key, now);
      removed = true;
    }
    return removed;
  }
  const std::string check = hub_.multikueue_check(course->workload);
  const dispatch::Plan plan = dispatch::plan(read(*course, check), now, config_);
  if (plan.look_again) look_again(course, now + *plan.look_again);
  for (const dispatch::Action& action : plan.actions) {
    if (!apply(course, check, action, now)) break;
    if (course->phase == CoursePhase::over) break;
  }
  return !plan.actions.empty();
}

void Federation::look_again(Course* course, TimePoint at) {
  if (course->dispatch_at && *course->dispatch_at <= at) return;
  course->dispatch_at = at;
  agenda_->add({at, 0, Due::dispatch, 0, course->id, 0, 0});
}

const Federation::Race* Federation::race_of(const Course& course) const {
  const auto found = races_.find(course.workload.metadata.key());
  const bool runs = found != races_.end() && found->second.epoch == course.epoch;
  return runs ? &found->second : nullptr;
}

bool Federation::apply(Course* course, const std::string& check, const dispatch::Action& action,
                       TimePoint now) {
  const api::ObjectKey key = course->workload.metadata.key();
  api::WorkloadStatus& status = course->workload.status;
  if (const auto* a = std::get_if<dispatch::RemoveRemote>(&action)) {
    worker(a->cluster)->remove_copy(key, now);
  } else if (const auto* a = std::get_if<dispatch::CreateCopy>(&action)) {
    worker(a->cluster)->create_copy(*course, now);
    if (!race_of(*course)) races_[key] = {now, course->epoch};
  } else if (const auto* a = std::get_if<dispatch::SetNominated>(&action)) {
    status.nominated_cluster_names = a->clusters;
    if (course->record != SIZE_MAX) records_->workloads[course->record].nominated = a->clusters;
    hub_.touch(course, now);
  } else if (const auto* a = std::get_if<dispatch::RecordWinner>(&action)) {
    if (!dispatch::record_winner(&course->workload, api::find_check(status, check), *a, now)) {
      return false;
    }
    hub_.settle_now(course, now);
  } else if (const auto* a = std::get_if<dispatch::SetCheck>(&action)) {
    if (dispatch::set_check(api::find_check(&status, check), *a, now)) hub_.touch(course, now);
  } else if (const auto* a = std::get_if<dispatch::CreateJob>(&action)) {
    // Not before the hub's Job may start.
    if (!lifecycle::is_admitted(course->workload)) return false;
    worker(a->cluster)->start_copy(key, now);
    hub_.run_elsewhere(course, a->cluster, now);
  } else if (const auto* a = std::get_if<dispatch::CopyJobStatus>(&action)) {
    const Course* copy = worker(a->cluster)->find(key);
    if (!copy) return false;
    course->done = copy->done;
    course->lost = copy->lost;
    if (!a->final) hub_.wound_down(course, now);
  } else if (std::holds_alternative<dispatch::ReleaseJob>(action)) {
    hub_.wound_down(course, now);
  } else if (const auto* a = std::get_if<dispatch::DeactivateRemote>(&action)) {
    worker(a->cluster)->deactivate(key, a->message, now);
  } else if (const auto* a = std::get_if<dispatch::FinishLocal>(&action)) {
    hub_.finish(course, a->reason == api::reasons::succeeded, a->message, now);
  }
  return true;
}

}  // namespace regatta::whatif
