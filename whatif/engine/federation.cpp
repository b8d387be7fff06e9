#include "whatif/engine/federation.h"

#include "dispatch/objects.h"
#include "dispatch/ranking.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"

#include <algorithm>

namespace regatta::whatif {
namespace {

/// As the manager does it.
constexpr Duration room_interval{500};
/// In the detail of a wake: look_at_room() instead of one workload.
constexpr std::uint32_t of_room = 1;

class ShownCluster final : public dispatch::WorkerPicture {
 public:
  explicit ShownCluster(Cluster& cluster) : cluster_(cluster) {}

  std::optional<Duration> queue_age() const override { return Duration(0); }
  std::vector<std::shared_ptr<const api::ClusterQueue>> cluster_queues() const override {
    std::vector<std::shared_ptr<const api::ClusterQueue>> all;
    for (const std::string& name : cluster_.cluster_queues()) {
      all.push_back(cluster_.shown_queue(name));
    }
    return all;
  }
  std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string& name) const override {
    return cluster_.shown_queue(name);
  }
  std::vector<std::shared_ptr<const api::Cohort>> cohorts() const override {
    return cluster_.cohorts();
  }
  std::vector<std::shared_ptr<const api::LocalQueue>> local_queues() const override {
    return cluster_.local_queues();
  }
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const override {
    return cluster_.local_queue(key);
  }
  std::vector<jobs::WorkloadPtr> copies() const override { return cluster_.copies(); }
  jobs::WorkloadPtr copy(const api::ObjectKey& key) const override {
    const Course* course = cluster_.find(key);
    return course && course->copy ? Cluster::workload_of(*course) : nullptr;
  }

 private:
  Cluster& cluster_;
};

}  // namespace

Federation::Federation(std::vector<Cluster*> clusters, dispatch::PlanConfig config, Agenda* agenda,
                       Records* records)
    : hub_(*clusters.front()),
      config_(config),
      agenda_(agenda),
      records_(records),
      book_(hub_, *this) {
  for (std::size_t i = 1; i < clusters.size(); ++i) {
    workers_[clusters[i]->name()] = Member{clusters[i], true, {}};
  }
}

Cluster* Federation::find(const std::string& name) {
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

std::shared_ptr<const api::MultiKueueCluster> Federation::cluster(const std::string& name) const {
  return hub_.multikueue_cluster(name);
}

Federation::Seen Federation::look(const std::string& name, const jobs::JobKind*) const {
  const auto found = workers_.find(name);
  if (found == workers_.end()) return {};
  return {found->second.connected, true,
          std::make_shared<const ShownCluster>(*found->second.cluster)};
}

void Federation::wake(const Wake& wake) {
  if (wake.detail == of_room) {
    room_news_ = true;
    return;
  }
  Course& course = hub_.course(wake.course);
  course.dispatch_at.reset();
  if (course.phase != CoursePhase::over) due_.insert(course.workload.metadata.key());
}

void Federation::for_each_worker(const api::ObjectKey& workload, const std::vector<std::string>&,
                                 const Visit& visit) const {
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
  std::set<api::ObjectKey> on_hub = hub_.take_changed();
  note_changes(on_hub, now);
  due_.merge(on_hub);
  bool acted = false;
  for (const api::ObjectKey& key : std::exchange(due_, {})) acted = dispatch(key, now) || acted;
  return acted;
}

void Federation::note_changes(const std::set<api::ObjectKey>& on_hub, TimePoint now) {
  if (compares_) {
    for (const api::ObjectKey& key : on_hub) {
      const Course* course = hub_.find(key);
      book_.note_workload(key, course ? &course->workload : nullptr);
    }
  }
  for (auto& [name, member] : workers_) {
    std::set<api::ObjectKey> copies = member.cluster->take_changed();
    const std::set<std::string> queues = member.cluster->take_changed_queues();
    if (compares_) {
      for (const api::ObjectKey& key : copies) book_.note_copy(name, key);
      for (const std::string& queue : queues) book_.note_queue(name, queue);
      room_news_ = room_news_ || !queues.empty();
    }
    due_.merge(copies);
  }
  if (compares_) look_at_room(now);
}

void Federation::look_at_room(TimePoint now) {
  if (!room_news_ || compared_.empty()) return;
  if (now < next_look_) {
    if (next_look_ != look_planned_) {
      agenda_->add({next_look_, 0, Due::dispatch, 0, 0, 0, of_room});
      look_planned_ = next_look_;
    }
    return;
  }
  room_news_ = false;
  next_look_ = now + room_interval;
  due_.insert(compared_.begin(), compared_.end());
}

void Federation::compare(const api::ObjectKey& key, dispatch::GroupView* group) {
  if (!dispatch::is_compared(group->local, config_)) {
    compared_.erase(key);
    return;
  }
  if (!std::exchange(compares_, true)) {
    for (const api::ObjectKey& one : hub_.unfinished_keys()) {
      book_.note_workload(one, &hub_.find(one)->workload);
      for (const auto& [name, member] : workers_) book_.note_copy(name, one);
    }
  }
  compared_.insert(key);
  const api::Workload& workload = hub_.find(key)->workload;
  group->comparison = book_.comparison(workload, workload.status, group->config_order);
}

bool Federation::dispatch(const api::ObjectKey& key, TimePoint now) {
  Course* course = hub_.find(key);
  if (!course) {
    races_.erase(key);
    compared_.erase(key);
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
  dispatch::GroupView group = dispatch::read_group(hub_, *this, no_foreign_jobs, key, now, config_);
  if (const Race* race = race_of(*course)) group.local.racing_since = race->since;
  const api::AdmissionCheckState* mine = dispatch::multikueue_check(hub_, course->workload.status);
  const std::string check = mine ? mine->name : "";
  compare(key, &group);
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
    find(a->cluster)->remove_copy(key, now);
  } else if (const auto* a = std::get_if<dispatch::CreateCopy>(&action)) {
    find(a->cluster)->create_copy(*course, now);
    if (course->record != SIZE_MAX) ++records_->workloads[course->record].copies;
    if (!race_of(*course)) races_[key] = {now, course->epoch};
  } else if (const auto* a = std::get_if<dispatch::UpdateCopy>(&action)) {
    find(a->cluster)->reprice_copy(course->workload, now);
  } else if (const auto* a = std::get_if<dispatch::SetNominated>(&action)) {
    if (compares_) book_.nominate(course->workload, status, a->clusters);
    status = dispatch::with_state(course->workload, dispatch::racing_state(*a), now);
    status.nominated_cluster_names = a->clusters;
    if (course->record != SIZE_MAX) records_->workloads[course->record].nominated = a->clusters;
    hub_.touch(course, now);
  } else if (const auto* a = std::get_if<dispatch::RecordWinner>(&action)) {
    auto won = dispatch::record_winner(course->workload, api::find_check(status, check), *a, now);
    if (!won) return false;
    status = std::move(*won);
    hub_.settle_now(course, now);
  } else if (const auto* a = std::get_if<dispatch::TakePlace>(&action)) {
    auto taken = dispatch::take_place(course->workload, api::find_check(status, check), *a);
    if (!taken) return false;
    status = std::move(*taken);
    hub_.touch(course, now);
  } else if (std::holds_alternative<dispatch::RunOnHub>(action)) {
    auto placed = dispatch::record_hub(course->workload, api::find_check(status, check), now);
    if (!placed) return false;
    status = std::move(*placed);
    course->dispatched = false;
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
    find(a->cluster)->start_copy(key, now);
    hub_.run_elsewhere(course, a->cluster, now);
  } else if (const auto* a = std::get_if<dispatch::CopyJobStatus>(&action)) {
    const Course* copy = find(a->cluster)->find(key);
    if (!copy) return false;
    course->done = copy->done;
    course->lost = copy->lost;
    if (!a->final) hub_.wound_down(course, now);
  } else if (std::holds_alternative<dispatch::ReleaseJob>(action)) {
    hub_.wound_down(course, now);
  } else if (const auto* a = std::get_if<dispatch::DeactivateRemote>(&action)) {
    find(a->cluster)->deactivate(key, *a, now);
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
