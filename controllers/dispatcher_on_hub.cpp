// What the dispatcher writes to the hub.
#include "controllers/dispatcher.h"
#include "dispatch/objects.h"
#include "dispatch/parts.h"
#include "dispatch/ranking.h"
#include "jobs/composed_job.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/kube/status.h"
#include "lifecycle/lifecycle.h"

#include <nlohmann/json.hpp>

namespace regatta::controllers {
namespace {

/// How often the status of a running Job is copied.
constexpr Duration status_interval{1000};
/// What refuses it may be a webhook.
constexpr Duration next_look_at_refused = std::chrono::minutes(1);
constexpr const char* changed_meanwhile = "the workload changed meanwhile";

/// What ends `mine` as that Workload ended; nullopt when it has not.
std::optional<Json> end_told_by(const api::Workload& workload, const jobs::GenericJob& mine,
                                TimePoint now) {
  const api::Condition* end =
      api::find_condition(workload.status.conditions, api::conditions::finished);
  if (!end) return std::nullopt;
  return mine.final_patch(end->reason == api::reasons::succeeded, end->message, now);
}

/// The same, unless `mine` has ended.
std::optional<Json> end_by(const api::Workload& workload, const jobs::GenericJob& mine,
                           TimePoint now) {
  return mine.finished() ? std::nullopt : end_told_by(workload, mine, now);
}

}  // namespace

bool Dispatcher::on_footing(const api::ObjectKey& key, const api::Workload* workload) const {
  const auto planned = planned_.find(key);
  return workload && planned != planned_.end() &&
         dispatch::footing_of(*workload) == planned->second;
}

Task<Status> Dispatcher::write_workload(api::ObjectKey key,
                                        clusters::Wanted<api::WorkloadStatus> wanted) {
  bool changed = false;
  const auto guarded = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    changed = !on_footing(key, &workload);
    return changed ? std::nullopt : wanted(workload);
  };
  const Status done = co_await deps_.local.update_status(key, guarded);
  if (done && changed) co_return Error(Errc::conflict, changed_meanwhile);
  co_return done;
}

Task<Status> Dispatcher::write_job(
    api::ObjectKey key, jobs::JobPtr job,
    std::function<std::optional<Json>(const jobs::GenericJob&)> change) {
  bool changed = false;
  const auto guarded = [&](const jobs::GenericJob& stored) -> std::optional<Json> {
    const auto workload = deps_.local.workloads.get(key);
    changed = !on_footing(key, workload.get()) || stored.metadata().uid != job->metadata().uid;
    std::optional<Json> patch = changed ? std::nullopt : change(stored);
    // A write may arrive after the next leader has written how the job ended. Only the API of
    // batch/v1 refuses to undo that.
    if (patch && !patch->empty()) {
      (*patch)["metadata"]["resourceVersion"] = stored.metadata().resource_version;
    }
    return patch;
  };
  const Status done = co_await deps_.local.patch_job(jobs::id_of(*job), true, guarded);
  if (done && changed) co_return Error(Errc::conflict, changed_meanwhile);
  co_return done;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::SetNominated action) {
  const TimePoint now = deps_.local.clock.now();
  const dispatch::TellState racing = dispatch::racing_state(action);
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    if (workload.status.cluster_name) return {};
    api::WorkloadStatus status = dispatch::with_state(workload, racing, now);
    status.nominated_cluster_names = action.clusters;
    return status;
  };
  co_return co_await write_workload(std::move(key), wanted);
}

Task<Status> Dispatcher::write_place(api::ObjectKey key, Placing place) {
  bool placed = false;
  const auto wanted = [&](const api::Workload& workload) {
    const auto* check = dispatch::multikueue_check(deps_.local.objects(), workload.status);
    auto status = place(workload, check);
    placed = status.has_value();
    return status;
  };
  const Status done = co_await write_workload(std::move(key), wanted);
  if (!done) co_return done;
  if (!placed) co_return Error(Errc::conflict, changed_meanwhile);
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::RecordWinner action) {
  const TimePoint now = deps_.local.clock.now();
  const auto worker = remote(action.cluster);
  const auto copy = worker ? worker->workloads.get(key) : nullptr;
  const auto place = [&](const api::Workload& workload, const api::AdmissionCheckState* check) {
    return dispatch::record_winner(workload, check, action, now, copy.get());
  };
  const Status done = co_await write_place(key, place);
  if (!done) co_return done;
  note(key, false, action.message);
  const auto workload = deps_.local.workloads.get(key);
  if (config_.on_admitted && workload && workload->status.admission) {
    config_.on_admitted(workload->status.admission->cluster_queue, action.cluster);
  }
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::TakePlace action) {
  const auto place = [&](const api::Workload& workload, const api::AdmissionCheckState* check) {
    return dispatch::take_place(workload, check, action);
  };
  co_return co_await write_place(std::move(key), place);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::RunOnHub) {
  const TimePoint now = deps_.local.clock.now();
  const auto place = [now](const api::Workload& workload, const api::AdmissionCheckState* check) {
    return dispatch::record_hub(workload, check, now);
  };
  const Status done = co_await write_place(key, place);
  if (!done) co_return done;
  note(key, false, std::string(dispatch::runs_on_hub_message));
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::SetCheck action) {
  const TimePoint now = deps_.local.clock.now();
  const dispatch::TellState rejected{std::string(api::reasons::rejected), action.message};
  std::string said;
  const auto wanted = [&](const api::Workload& workload) {
    said.clear();
    const api::AdmissionCheckState* check =
        dispatch::multikueue_check(deps_.local.objects(), workload.status);
    auto status = dispatch::set_check(workload, check, action, now);
    if (!status) return status;
    said = api::find_check(&*status, check->name)->message;
    api::Workload next = workload;
    next.status = std::move(*status);
    if (!action.refused_by.empty()) {
      next.status = dispatch::with_refusal(next, action.refused_by, action.refusal, now);
    }
    if (action.state == dispatch::CheckState::rejected) {
      next.status = dispatch::with_state(next, rejected, now);
    }
    return std::optional(std::move(next.status));
  };
  const Status done = co_await write_workload(key, wanted);
  if (done && !said.empty()) note(key, action.warning, said);
  co_return done;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::CopyJobStatus action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  if (!worker || !workload) co_return ok();
  const jobs::JobPtr job = owner_of(key);
  if (!job) co_return ok();
  const auto theirs = remote_job_of(*worker, key, deps_.local);
  const auto copy = worker->workloads.get(key);
  const TimePoint now = deps_.local.clock.now();
  const bool ended = theirs && dispatch::has_ended(*theirs);
  // Counts of a Job with many pods need not be copied at each change. That the Job runs, no longer
  // runs, or has ended, is copied at once.
  if (!action.final && theirs && theirs->active() && !ended) {
    const SteadyPoint here = deps_.local.clock.steady();
    const auto last = copied_.find(key);
    if (last != copied_.end() && here < last->second + status_interval) {
      queue_.add_after(key, last->second + status_interval - here);
      co_return ok();
    }
    copied_[key] = here;
  }
  // How a Job ended is made up only when it is gone, or does not run although its copy ended, and
  // only a connected worker tells that. The plan has asked the worker for it.
  const bool rests = theirs && dispatch::rests(*theirs);
  const bool last =
      theirs ? ended || rests : deps_.fleet.find(action.cluster)->follows(job->kind());
  if (action.final && !last) {
    co_return Error(Errc::conflict, "the last status of the job is not known yet");
  }
  bool refused = false;
  const std::vector<jobs::JobPtr> namesakes = namesakes_on(*worker, deps_.local, theirs, job);
  for (dispatch::JobPart& part : dispatch::parts_of(job, theirs)) {
    if (!part.local) continue;
    if (contains(namesakes, part.remote)) part.remote = nullptr;
    const auto change = [&](const jobs::GenericJob& mine) -> std::optional<Json> {
      if (part.remote && (ended || !action.final || part.remote->finished())) {
        Json patch = dispatch::news_of(mine, *part.remote);
        // A pod that lost its place has ended all the same, if its Workload has.
        const bool untold = action.final && mine.waits_on_hub() && !mine.finished();
        if (!patch.empty() || !untold) return patch;
        const auto end = part.remote->finished();
        if (end) return mine.final_patch(end->success, end->message, now);
      }
      return action.final ? end_told_by(copy ? *copy : *workload, mine, now) : std::nullopt;
    };
    Status done = co_await write_job(key, part.local, change);
    if (!done && kube::is_refusal(done.error())) {
      refused = true;
      tell_refused_status(key, " as worker cluster \"" + action.cluster + "\" tells it",
                          done.error());
      // That the Job runs is shown less well. That it ended must be known: its Workload tells it,
      // unless what refuses it thinks better of it soon.
      if (!action.final) continue;
      const SteadyPoint here = deps_.local.clock.steady();
      std::optional<SteadyPoint>& since = refused_status_[key].end_since;
      if (!since) since = here;
      if (here < *since + config_.plan.tell_after / 2) co_return done;
      const auto end = [&](const jobs::GenericJob& mine) {
        return end_by(copy ? *copy : *workload, mine, now);
      };
      done = co_await write_job(key, part.local, end);
    }
    if (!done && done.error().code() != Errc::not_found) co_return done;
  }
  if (!refused) refused_status_.erase(key);
  co_return ok();
}

void Dispatcher::tell_refused_status(const api::ObjectKey& key, const std::string& of,
                                     const Error& error) {
  const std::string& why = error.what();
  const auto [known, fresh] = refused_status_.try_emplace(key);
  if (fresh) known->second.since = deps_.local.clock.steady();
  queue_.add_after(key, next_look_at_refused);
  if (std::exchange(known->second.why, why) == why) return;
  note(key, true, "The API of the hub refuses the status of the job" + of + ": " + why);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::ReleaseJob) {
  const jobs::JobPtr job = owner_of(key);
  if (!job) co_return ok();
  const auto change = [](const jobs::GenericJob& mine) {
    return std::optional<Json>(mine.release_patch());
  };
  const Status done = co_await write_job(key, job, change);
  if (done) {
    refused_status_.erase(key);
  } else if (kube::is_refusal(done.error())) {
    tell_refused_status(key, ", by which it has no active pods any more", done.error());
  }
  co_return done;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::EndJob) {
  const auto workload = deps_.local.workloads.get(key);
  const jobs::JobPtr job = workload ? owner_of(key) : nullptr;
  if (!job) co_return ok();
  const TimePoint now = deps_.local.clock.now();
  for (const jobs::JobPtr& one : jobs::objects_of(job)) {
    const auto change = [&](const jobs::GenericJob& mine) { return end_by(*workload, mine, now); };
    const Status done = co_await write_job(key, one, change);
    if (!done && done.error().code() != Errc::not_found) co_return done;
  }
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::FinishLocal action) {
  const TimePoint now = deps_.local.clock.now();
  if (const jobs::JobPtr job = owner_of(key)) {
    action = dispatch::believed_end(std::move(action), job->finished());
  }
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    if (lifecycle::is_finished(workload)) return {};
    return lifecycle::finished_status(workload, action.reason, action.message, now);
  };
  co_return co_await write_workload(std::move(key), wanted);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::TellState action) {
  const TimePoint now = deps_.local.clock.now();
  const auto wanted = [&](const api::Workload& workload) {
    return std::optional(dispatch::with_state(workload, action, now));
  };
  co_return co_await write_workload(std::move(key), wanted);
}

}  // namespace regatta::controllers
