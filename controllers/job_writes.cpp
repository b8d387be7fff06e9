#include "controllers/job_reconciler.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <algorithm>

/// How JobReconciler writes to single objects: to a job that is one, and to members of composed
/// jobs.
namespace regatta::controllers {

using jobs::GenericJob;
using jobs::JobWrite;

namespace {

/// Members of one job that are written to at once.
constexpr std::size_t at_once = 8;

/// Whether the decision for `decided` holds for `stored`, a later state of the job.
bool same_but_for_status(const GenericJob& stored, const GenericJob& decided) {
  const api::ObjectMeta &a = stored.metadata(), &b = decided.metadata();
  return a.uid == b.uid && a.generation == b.generation && a.labels == b.labels &&
         a.annotations == b.annotations;
}

/// An object that is gone needs no write any more.
Status unless_gone(const Status& done) {
  if (!done && done.error().code() == Errc::not_found) return ok();
  return done;
}

}  // namespace

Task<> JobReconciler::gather(JobWrite write, Write how, Written* out) {
  const jobs::JobPtr job = write.job;
  bool written = true;
  const Status done = co_await (this->*how)(std::move(write), &written);
  if (!done && out->status) out->status = done;
  if (done && written) out->jobs.push_back({job, Json()});
}

Task<JobReconciler::Written> JobReconciler::each(std::vector<JobWrite> writes, Write how) {
  Written out;
  for (std::size_t next = 0; next < writes.size();) {
    const std::size_t end = std::min(writes.size(), next + at_once);
    std::vector<Task<>> some;
    for (; next < end; ++next) some.push_back(gather(std::move(writes[next]), how, &out));
    co_await all_of(std::move(some));
  }
  co_return out;
}

/// What starts is what was admitted: an edit that the cache does not show yet is a conflict, and
/// one that it shows by now is decided on anew, when it wakes this job. A job that ran on a worker
/// may have ended before it is started here.
Task<Status> JobReconciler::start_one(JobWrite write, bool* started) {
  *started = false;
  const auto change = [&](const GenericJob& stored) -> std::optional<Json> {
    *started = same_but_for_status(stored, *write.job) && stored.suspended() && !stored.finished();
    if (!*started) return std::nullopt;
    Json patch = write.patch;
    patch["metadata"]["resourceVersion"] = stored.metadata().resource_version;
    return patch;
  };
  co_return co_await cluster_.patch_job(jobs::id_of(*write.job), false, change);
}

Task<Status> JobReconciler::terminate_one(JobWrite write, bool*) {
  const Json patch = write.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  const Status told = co_await cluster_.patch_job(jobs::id_of(*write.job), true, change);
  if (!told) co_return unless_gone(told);
  co_return co_await cluster_.remove_job(write.job);
}

/// It may have been written to since it was decided, by an earlier action of the same plan.
Task<Status> JobReconciler::let_go_one(JobWrite write, bool*) {
  const auto change = [uid = write.job->metadata().uid](const GenericJob& stored) {
    const bool same = stored.metadata().uid == uid;
    return same ? std::optional<Json>(stored.let_go_patch()) : std::nullopt;
  };
  const Status done = co_await cluster_.patch_job(jobs::id_of(*write.job), false, change);
  co_return unless_gone(done);
}

Task<Status> JobReconciler::patch_one(JobWrite write, bool*) {
  const Json patch = write.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  const Status done = co_await cluster_.patch_job(jobs::id_of(*write.job), false, change);
  co_return unless_gone(done);
}

Task<Status> JobReconciler::drop_one(JobWrite write, bool* dropped) {
  const jobs::JobPtr job = write.job;
  const Status done = co_await let_go_one(std::move(write), dropped);
  if (!done) co_return done;
  co_return co_await cluster_.remove_job(job);
}

}  // namespace regatta::controllers
