#include "dispatch/parts.h"

#include "jobs/composed_job.h"
#include "lib/base/contains.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace regatta::dispatch {
namespace {

using jobs::GenericJob;
using jobs::JobPtr;

bool all_of_it(const GenericJob& job, bool (*holds)(const GenericJob&)) {
  const jobs::ComposedJob* group = job.composed();
  if (!group) return holds(job);
  const auto& members = group->members();
  return std::all_of(members.begin(), members.end(),
                     [holds](const JobPtr& one) { return holds(*one); });
}

bool goes_on(const GenericJob& object) {
  return !object.finished() && !object.metadata().deleting();
}

}  // namespace

std::vector<JobPart> parts_of(const JobPtr& local, const JobPtr& remote) {
  std::vector<JobPart> parts;
  std::map<jobs::JobId, JobPtr> theirs;
  if (remote) {
    for (JobPtr& one : jobs::objects_of(remote)) theirs.emplace(jobs::id_of(*one), one);
  }
  if (local) {
    for (JobPtr& one : jobs::objects_of(local)) {
      const auto found = theirs.find(jobs::id_of(*one));
      JobPart part{std::move(one), nullptr};
      if (found != theirs.end()) {
        part.remote = std::move(found->second);
        theirs.erase(found);
      }
      parts.push_back(std::move(part));
    }
  }
  for (auto& [id, one] : theirs) parts.push_back({nullptr, std::move(one)});
  return parts;
}

std::vector<JobPtr> parts_to_create(const JobPtr& local, const JobPtr& remote,
                                    const api::Workload& workload) {
  const jobs::ComposedJob* group = local->composed();
  if (!group) return remote ? std::vector<JobPtr>() : std::vector<JobPtr>{local};
  const std::vector<JobPtr> placed = group->roster(&workload).kept;
  std::vector<JobPtr> out;
  for (const JobPart& part : parts_of(local, remote)) {
    if (!part.local || part.remote || !goes_on(*part.local)) continue;
    if (std::find(placed.begin(), placed.end(), part.local) != placed.end()) {
      out.push_back(part.local);
    }
  }
  return out;
}

std::vector<JobPtr> namesakes_in(const JobPtr& local, const JobPtr& remote,
                                 const OtherLife& other_life) {
  if (!local || !remote || !remote->composed()) return {};
  std::vector<JobPtr> out;
  for (const JobPart& part : parts_of(local, remote)) {
    if (part.local && part.remote && other_life(*part.remote, *part.local)) {
      out.push_back(part.remote);
    }
  }
  return out;
}

std::vector<JobPtr> parts_to_remove(const JobPtr& local, const JobPtr& remote,
                                    const OtherLife& other_life) {
  if (!local || !remote || !remote->composed()) return {};
  std::vector<JobPtr> out;
  for (const JobPart& part : parts_of(local, remote)) {
    if (!part.remote || part.remote->metadata().deleting()) continue;
    const bool needs_none = !part.local || part.local->metadata().deleting();
    const bool strays = needs_none ? goes_on(*part.remote) : other_life(*part.remote, *part.local);
    if (strays) out.push_back(part.remote);
  }
  return out;
}

Json news_of(const GenericJob& local, const GenericJob& remote) {
  const auto told = local.finished(), end = remote.finished();
  const bool over = told && (!end || end->success != told->success);
  return over ? Json::object() : local.status_patch(remote);
}

bool has_news(const JobPtr& local, const JobPtr& remote, const std::vector<JobPtr>& namesakes) {
  if (!local || !remote) return false;
  if (!local->composed()) return !news_of(*local, *remote).empty();
  const std::vector<JobPart> parts = parts_of(local, remote);
  return std::any_of(parts.begin(), parts.end(), [&](const JobPart& part) {
    return part.local && part.remote && !contains(namesakes, part.remote) &&
           !news_of(*part.local, *part.remote).empty();
  });
}

bool has_ended(const GenericJob& job) {
  return job.finished() || (job.composed() && all_of_it(job, [](const GenericJob& one) {
                              return one.finished().has_value();
                            }));
}

bool is_deleting(const GenericJob& job) {
  return all_of_it(job, [](const GenericJob& one) { return one.metadata().deleting(); });
}

/// Jobs are created suspended. Each start and each stop is another generation. What a group is made
/// of is deleted when the group is to stop. What serves is never stopped, but its Pods are, of
/// which the copy tells.
bool told_to_stop(const GenericJob& job) {
  if (job.serving()) return false;
  if (const jobs::ComposedJob* group = job.composed()) {
    const auto& members = group->members();
    return std::any_of(members.begin(), members.end(),
                       [](const JobPtr& one) { return one->metadata().deleting(); });
  }
  return (job.suspended() || job.stopping()) && job.metadata().generation > 1;
}

bool rests(const GenericJob& job) {
  if (job.active() || job.serving()) return false;
  return job.composed() ? job.suspended() && !told_to_stop(job)
                        : job.suspended() || told_to_stop(job);
}

}  // namespace regatta::dispatch
