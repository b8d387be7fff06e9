#include "jobs/elastic.h"

#include "jobs/naming.h"
#include "jobs/plan_rules.h"
#include "jobs/read_job.h"
#include "jobs/remote_object.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

namespace regatta::jobs {
namespace {

bool has_finished(const api::Workload& workload) {
  return api::is_true(workload.status.conditions, api::conditions::finished);
}

bool is_evicted(const api::Workload& workload) {
  return api::is_true(workload.status.conditions, api::conditions::evicted);
}

/// The slice of these that this one replaces; null when it replaces none of them.
WorkloadPtr replaced_among(const std::vector<WorkloadPtr>& slices, const api::Workload& slice) {
  const std::string& before = replaced_slice(slice);
  if (before.empty()) return nullptr;
  const auto found = std::find_if(slices.begin(), slices.end(), [&](const WorkloadPtr& other) {
    return other->metadata.key().str() == before;
  });
  return found == slices.end() ? nullptr : *found;
}

/// When the slice was created, and how many came before it, both as far back as they are known. A
/// clock that was set back may say of one that it was created before those that it replaces.
std::tuple<std::optional<TimePoint>, std::size_t, std::string> age_of(
    const api::Workload& slice, const std::vector<WorkloadPtr>& known) {
  std::optional<TimePoint> created = slice.metadata.creation_timestamp;
  std::size_t place = 0;
  const api::Workload* one = &slice;
  while (one && !replaced_slice(*one).empty() && place < known.size()) {
    ++place;
    const WorkloadPtr before = replaced_among(known, *one);
    if (before) created = std::max(created, before->metadata.creation_timestamp);
    one = before.get();
  }
  return {created, place, slice.metadata.uid};
}

bool replaces_live_one(const api::Workload& slice, const std::vector<WorkloadPtr>& slices) {
  const WorkloadPtr before = replaced_among(slices, slice);
  return before && !is_over(*before);
}

/// Of two slices that replace none, the job has the one with a place in the fleet, else the one
/// that got quota first, else the newer one.
bool goes_before(const api::Workload& a, const api::Workload& b,
                 const std::vector<WorkloadPtr>& known) {
  const auto rank = [](const api::Workload& one) {
    return one.status.cluster_name ? 0 : has_reservation(one) ? 1 : 2;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (rank(a) == 2) return age_of(b, known) < age_of(a, known);
  const auto order = [&](const api::Workload& one) {
    const auto* reserved =
        api::find_condition(one.status.conditions, api::conditions::quota_reserved);
    return std::pair(reserved ? reserved->last_transition_time : TimePoint(), age_of(one, known));
  };
  return order(a) < order(b);
}

bool finished_for(const api::Workload& workload, std::string_view reason) {
  const auto* finished = api::find_condition(workload.status.conditions, api::conditions::finished);
  return finished && finished->status == api::ConditionStatus::True && finished->reason == reason;
}

bool ended_as_slice(const api::Workload& workload) {
  return was_replaced(workload) || finished_for(workload, api::reasons::out_of_sync);
}

/// `counts` has one number for each pod set.
api::WorkloadSpec with_counts(api::WorkloadSpec spec, const std::vector<std::int32_t>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) spec.pod_sets[i].count = counts[i];
  return spec;
}

/// The Workload is what the job asks for, counts aside.
bool same_template(const JobView& view, const api::Workload& workload) {
  const std::vector<std::int32_t> counts = view.job->pod_counts();
  if (workload.spec.pod_sets.size() != counts.size()) return false;
  api::Workload resized = workload;
  resized.spec = with_counts(std::move(resized.spec), counts);
  return is_as_admitted(view, resized);
}

bool marked_elastic(const api::ObjectMeta& metadata) {
  static const std::string key(api::annotations::elastic_job);
  return metadata.annotation(key) == "true";
}

FinishWorkload end_slice(const JobView& view, const WorkloadPtr& slice) {
  const std::string key = slice->metadata.key().str();
  const auto next = std::find_if(view.owned.begin(), view.owned.end(), [&](const auto& other) {
    return replaced_slice(*other) == key && !is_evicted(*other);
  });
  FinishWorkload finish{slice, std::string(api::reasons::out_of_sync),
                        "The workload slice is out of sync with its parent job"};
  if (next != view.owned.end()) {
    finish.reason = api::reasons::workload_slice_replaced;
    finish.message = "Replaced to accommodate a new workload slice";
    // The scheduler writes the same message, so it does not matter which of the two is faster.
    if (has_reservation(**next)) {
      finish.message = "Replaced to accommodate a workload (UID: " + (*next)->metadata.uid +
                       ", JobUID: " + view.job->metadata().uid +
                       ") due to workload slice aggregation";
    }
  }
  return finish;
}

bool grows_beyond(const JobView& view, const api::Workload& slice) {
  const std::vector<std::int32_t> wanted = view.job->pod_counts();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] > slice.spec.pod_sets[i].count) return true;
  }
  return false;
}

/// The slice, or a new one, follows the counts of the job.
std::optional<JobAction> resize(const JobView& view, const WorkloadPtr& latest) {
  const std::vector<std::int32_t> wanted = view.job->pod_counts();
  bool changed = false, some = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    changed = changed || wanted[i] != latest->spec.pod_sets[i].count;
    some = some || wanted[i] > 0;
  }
  if (!changed || !some) return {};
  if (!has_reservation(*latest) || !grows_beyond(view, *latest)) {
    return UpdateWorkload{latest, with_counts(latest->spec, wanted), ""};
  }
  if (is_evicted(*latest)) return {};
  Result<api::Workload> next = build_workload(view);
  if (!next) return tell_obstacle(view, next.error());
  // Workers get the template that the user wrote, not what the admission on the hub made of it.
  const bool dispatched = view.job->not_managed_reason().empty();
  for (std::size_t i = 0; dispatched && i < wanted.size(); ++i) {
    next->spec.pod_sets[i].pod_template = latest->spec.pod_sets[i].pod_template;
  }
  return CreateWorkload{std::move(*next)};
}

/// A name for the size that the job has now. What resizes the job may have been made anew and count
/// its versions anew, so that an earlier slice has the name already.
std::string slice_name_for(const JobView& view) {
  const api::ObjectMeta& job = view.job->metadata();
  const api::ResourceInfo& kind = view.job->kind().resource();
  const auto name_of = [&](const std::string& version) {
    return workload_name(kind.kind, kind.group, job.name, job.uid, version,
                         view.policy.brief_names);
  };
  const std::string version = view.job->size_version();
  std::string name = name_of(version);
  const bool taken = std::any_of(view.owned.begin(), view.owned.end(), [&](const auto& one) {
    return one->metadata.name == name && !one->metadata.deleting();
  });
  return taken ? name_of(version + "_" + std::to_string(view.owned.size())) : name;
}

}  // namespace

std::vector<WorkloadPtr> by_age(std::vector<WorkloadPtr> slices,
                                const std::vector<WorkloadPtr>& known) {
  std::sort(slices.begin(), slices.end(), [&](const WorkloadPtr& a, const WorkloadPtr& b) {
    return age_of(*a, known) < age_of(*b, known);
  });
  return slices;
}

bool is_elastic(const GenericJob& job, const JobPolicy& policy) {
  // What gives such a job of a hub its size is on the worker.
  const bool sized_there = !job.kind().runtimes().empty() && job.not_managed_reason().empty();
  return policy.elastic && job.kind().may_be_elastic() && is_marked_elastic(job) && !sized_there;
}

bool has_prebuilt_slices(const JobView& view) {
  return view.prebuilt && is_elastic(*view.job, view.policy);
}

bool is_marked_elastic(const GenericJob& job) {
  return marked_elastic(job.metadata());
}

bool is_slice(const api::Workload& workload) {
  return marked_elastic(workload.metadata);
}

bool is_over(const api::Workload& workload) {
  return workload.metadata.deleting() || has_finished(workload);
}

bool keeps_quota(const api::Workload& workload) {
  return has_reservation(workload) && !is_evicted(workload) && !is_over(workload);
}

const std::string& replaced_slice(const api::Workload& workload) {
  static const std::string key(api::annotations::workload_slice_replacement_for);
  return workload.metadata.annotation(key);
}

WorkloadPtr find_replaced(const Lookup& objects, const api::Workload& workload) {
  const std::string& replaced = replaced_slice(workload);
  const std::string prefix = workload.metadata.ns + "/";
  if (!replaced.starts_with(prefix)) return nullptr;
  return objects.workload({workload.metadata.ns, replaced.substr(prefix.size())});
}

bool was_replaced(const api::Workload& workload) {
  return finished_for(workload, api::reasons::workload_slice_replaced);
}

bool is_elastic(const JobView& view) {
  return !view.prebuilt && is_elastic(*view.job, view.policy);
}

bool is_stray(const api::Workload& slice, const std::vector<WorkloadPtr>& slices) {
  if (is_over(slice) || replaces_live_one(slice, slices)) return false;
  return std::any_of(slices.begin(), slices.end(), [&](const WorkloadPtr& other) {
    return !is_over(*other) && goes_before(*other, slice, slices);
  });
}

Slices slices_of(const JobView& view) {
  Slices slices;
  std::vector<WorkloadPtr> live;
  for (const WorkloadPtr& workload : view.owned) {
    if (is_over(*workload)) continue;
    (is_stray(*workload, view.owned) ? slices.stale : live).push_back(workload);
  }
  live = by_age(std::move(live), view.owned);
  if (live.empty()) return slices;
  for (const WorkloadPtr& workload : live) {
    if (has_reservation(*workload)) slices.current = workload;
  }
  if (slices.current) {
    slices.latest = slices.current;
    const std::string key = slices.current->metadata.key().str();
    for (const WorkloadPtr& workload : live) {
      if (!has_reservation(*workload) && replaced_slice(*workload) == key) slices.latest = workload;
    }
  } else {
    slices.current = slices.latest = live.back();
  }
  for (const WorkloadPtr& workload : live) {
    if (workload != slices.current && workload != slices.latest) slices.stale.push_back(workload);
  }
  return slices;
}

WorkloadPtr matching_slice(const JobView& view) {
  const WorkloadPtr current = slices_of(view).current;
  if (current) return same_template(view, *current) ? current : nullptr;
  for (const WorkloadPtr& workload : view.owned) {
    const bool over = has_finished(*workload) && !ended_as_slice(*workload);
    if (over || workload->metadata.deleting()) return workload;
  }
  return nullptr;
}

std::vector<JobAction> plan_slices(const JobView& view) {
  std::vector<JobAction> out;
  for (const WorkloadPtr& workload : view.owned) {
    const bool held = workload->metadata.has_finalizer(api::finalizers::resource_in_use);
    if (held && ended_as_slice(*workload)) out.push_back(ReleaseWorkload{workload});
  }
  const Slices slices = slices_of(view);
  for (const WorkloadPtr& slice : slices.stale) out.push_back(end_slice(view, slice));
  if (!out.empty() || !slices.latest || !same_template(view, *slices.current)) return out;
  if (view.job->finished()) {
    if (slices.latest != slices.current) out.push_back(end_slice(view, slices.latest));
    return out;
  }
  std::optional<JobAction> next = resize(view, slices.latest);
  if (slices.latest != slices.current) {
    // The quota that the job needs no more must not wait for the turn of the one that waits.
    if (!next && !grows_beyond(view, *slices.current)) next = resize(view, slices.current);
    if (!next) next = follow_priority(view, slices.latest);
  }
  return in_order({std::move(next)});
}

std::optional<JobAction> note_size(const JobView& view) {
  Json patch = view.job->finished() ? Json::object() : view.job->size_patch();
  if (patch.empty()) return {};
  return NoteSize{std::move(patch)};
}

bool grows(const JobView& view) {
  if (!is_elastic(view)) return false;
  const Slices slices = slices_of(view);
  return slices.latest != slices.current;
}

bool took_over(const JobView& view, const api::Workload& workload) {
  return is_elastic(view) && has_reservation(workload) && !replaced_slice(workload).empty();
}

bool matches_prebuilt_slice(const JobView& view, const api::Workload& slice) {
  return !replaced_slice(slice).empty() || same_template(view, slice);
}

std::vector<JobAction> end_replaced(const JobView& view, const api::Workload& slice) {
  std::vector<JobAction> out;
  if (!has_reservation(slice)) return out;
  for (const WorkloadPtr& workload : view.owned) {
    const bool replaced = workload->metadata.key().str() == replaced_slice(slice);
    if (replaced && !is_over(*workload)) out.push_back(end_slice(view, workload));
  }
  return out;
}

Json slice_update(const GenericJob& job, const GenericJob& copy, const api::Workload& slice,
                  bool replaced) {
  Json patch = Json::object();
  if (!is_slice(slice)) return patch;
  const bool named = prebuilt_workload(copy.metadata()) == slice.metadata.name;
  if (!named && !replaced) return patch;
  const std::vector<std::int32_t> wanted = job.pod_counts();
  bool covered = wanted.size() == slice.spec.pod_sets.size();
  for (std::size_t i = 0; covered && i < wanted.size(); ++i) {
    covered = wanted[i] <= slice.spec.pod_sets[i].count;
  }
  if (covered) patch = job.resize_patch(copy);
  if (!named) rename_workload(copy.metadata(), slice.metadata.name, &patch);
  if (!patch.empty()) patch["metadata"]["uid"] = copy.metadata().uid;
  return patch;
}

bool has_shrunk(const api::Workload& workload, const api::PodSet& set) {
  if (!workload.status.admission) return false;
  const auto& all = workload.status.admission->pod_set_assignments;
  return std::any_of(all.begin(), all.end(), [&](const api::PodSetAssignment& one) {
    return one.name == set.name && one.count && *one.count > set.count;
  });
}

bool has_recounted(const GenericJob& job, const api::Workload& workload) {
  const std::vector<api::PodSet>& sets = workload.spec.pod_sets;
  const std::vector<std::int32_t> counts = job.pod_counts();
  const bool same_size =
      std::equal(sets.begin(), sets.end(), counts.begin(), counts.end(),
                 [](const api::PodSet& set, std::int32_t count) { return set.count == count; });
  return same_size && job.reclaimable_pods() == workload.status.reclaimable_pods &&
         std::any_of(sets.begin(), sets.end(),
                     [&](const api::PodSet& set) { return has_shrunk(workload, set); });
}

api::ObjectMeta marked_as_slice(const JobView& view, api::ObjectMeta metadata) {
  api::StringMap& annotations = metadata.annotations;
  annotations[std::string(api::annotations::elastic_job)] = "true";
  metadata.name = slice_name_for(view);
  const std::string chain(api::annotations::workload_slice_name);
  annotations[chain] = metadata.name;
  const Slices slices = slices_of(view);
  if (!slices.current || !has_reservation(*slices.current)) return metadata;
  const api::ObjectMeta& before = slices.current->metadata;
  annotations[std::string(api::annotations::workload_slice_replacement_for)] = before.key().str();
  const std::string& first = before.annotation(chain);
  annotations[chain] = first.empty() ? before.name : first;
  return metadata;
}

}  // namespace regatta::jobs
