#include "whatif/engine/federation.h"

#include "dispatch/objects.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"

#include <algorithm>

namespace regatta::whatif {

Federation::Federation(std::vector<Cluster*> clusters, dispatch::PlanConfig config, Agenda* agenda,
                       Records* records)
    : hub_(*clusters.front()), config_(config), agenda_(agenda), records_(records) {
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
  // Workloads that the change may affect.
  for (const api::ObjectKey& key : hub_.unfinished_keys()) due_.insert(key);
  for (const api::ObjectKey& key : member.cluster->unfinished_keys()) due_.insert(key);
  return ok();
}

void Federation::wake(const Wake& wake) {
  Course& course = hub_.course(wake.course);
  course.dispatch_at.reset();
  if (course.phase != CoursePhase::over) due_.insert(course.workload.metadata.key());
}

void Federation::for_each_worker(const api::ObjectKey& workload, const Visit& visit) const {
  for (const auto& [name, member] : workers_) {
    dispatch::WorkerView view;
    view.connected = member.connected;
    view.lost_since = member.lost_since;
    const Cluster& cluster = *member.cluster;
    if (const Course* copy = cluster.find(workload); copy && copy->copy) {
      view.copy = Cluster::workload_of(*copy);
      view.removing_copy = copy->deleting;
      view.job = cluster.job_of_copy(*copy);
      view.removing_job = copy->deleting;
    }
    visit(name, view);
  }
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
  static const dispatch::ForeignJobs no_foreign_jobs;
  dispatch::GroupView group = dispatch::read_group(hub_, *this, no_foreign_jobs, key, now);
  if (const Race* race = race_of(*course)) group.local.racing_since = race->since;
  const api::AdmissionCheckState* mine = dispatch::multikueue_check(hub_, course->workload);
  const std::string check = mine ? mine->name : "";
  const dispatch::Plan plan = dispatch::plan(group, now, config_);
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
  } else if (const auto* a = std::get_if<dispatch::UpdateCopyPriority>(&action)) {
    worker(a->cluster)->reprice_copy(course->workload, now);
  } else if (const auto* a = std::get_if<dispatch::SetNominated>(&action)) {
    status = dispatch::with_state(course->workload, {std::string(api::reasons::racing), ""}, now);
    status.nominated_cluster_names = a->clusters;
    if (course->record != SIZE_MAX) records_->workloads[course->record].nominated = a->clusters;
    hub_.touch(course, now);
  } else if (const auto* a = std::get_if<dispatch::RecordWinner>(&action)) {
    auto won = dispatch::record_winner(course->workload, api::find_check(status, check), *a, now);
    if (!won) return false;
    status = std::move(*won);
    hub_.settle_now(course, now);
  } else if (const auto* a = std::get_if<dispatch::SetCheck>(&action)) {
    auto set = dispatch::set_check(course->workload, api::find_check(status, check), *a, now);
    if (set) {
      status = std::move(*set);
      hub_.touch(course, now);
    }
  } else if (const auto* a = std::get_if<dispatch::CreateJob>(&action)) {
    // The worker's Job is not created before the hub's may start.
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
    worker(a->cluster)->deactivate(key, *a, now);
  } else if (const auto* a = std::get_if<dispatch::FinishLocal>(&action)) {
    hub_.finish(course, a->reason == api::reasons::succeeded, a->message, now);
  } else if (const auto* a = std::get_if<dispatch::TellState>(&action)) {
    api::WorkloadStatus told = dispatch::with_state(course->workload, *a, now);
    if (told != status) {
      status = std::move(told);
      hub_.touch(course, now);
    }
  }
  return true;
}

}  // namespace regatta::whatif
