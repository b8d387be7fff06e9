#include "jobs/read_job.h"

#include "jobs/admission_info.h"
#include "jobs/annotation_values.h"
#include "jobs/composed_job.h"
#include "jobs/elastic.h"
#include "jobs/serving_job.h"
#include "lib/api/names.h"

#include <algorithm>
#include <set>

namespace regatta::jobs {
namespace {

/// Of some kinds only some objects are followed, of others none.
bool all_followed(const JobKind& kind) {
  return kind.followed() && kind.selector().empty();
}

bool names_queue(const GenericJob& job) {
  return !job.metadata().label(std::string(api::labels::queue_name)).empty() ||
         !prebuilt_workload(job.metadata()).empty();
}

class JobReader {
 public:
  JobReader(const Lookup& objects, const JobConfig& config) : objects_(objects), config_(config) {}

  JobView read(JobPtr job, TimePoint now) const;

 private:
  JobPtr maker_of(const GenericJob& job) const;
  bool manages(const GenericJob& job, bool made) const;
  bool is_admitted(const GenericJob& maker) const;
  bool takes_part(const std::string& ns) const;
  std::string default_queue_of(const GenericJob& job) const;
  std::string workload_class_of(const JobView& view) const;
  void read_workloads(JobView* view) const;
  void read_group_workload(JobView* view) const;
  void read_serving(JobView* view) const;
  WorkloadPtr group_workload_of(const GenericJob& job, const GenericJob& pod) const;
  void read_priority(JobView* view) const;
  void read_pod_priority(JobView* view) const;
  void read_admission(JobView* view) const;

  const Lookup& objects_;
  const JobConfig& config_;
};

/// What a managed job made is accounted for by its maker's Workload, unless the maker holds it back
/// itself.
JobPtr JobReader::maker_of(const GenericJob& job) const {
  if (job.held_by_parent()) return nullptr;
  const auto maker = managed_maker(objects_, job, config_);
  return maker ? *maker : nullptr;
}

bool JobReader::manages(const GenericJob& job, bool made) const {
  if (job.passed_over()) return false;
  if (!names_queue(job) && !config_.manage_without_queue_name) return false;
  return !made && takes_part(job.metadata().ns);
}

bool JobReader::is_admitted(const GenericJob& maker) const {
  std::vector<WorkloadPtr> all = objects_.workloads_of(id_of(maker));
  return std::any_of(all.begin(), all.end(), [&](const WorkloadPtr& workload) {
    return serves(*workload, maker) &&
           api::is_true(workload->status.conditions, api::conditions::admitted);
  });
}

bool JobReader::takes_part(const std::string& ns) const {
  const auto found = objects_.namespace_named(ns);
  return found && config_.namespaces.matches(found->metadata.labels);
}

/// The default queue takes only jobs that are younger than itself. An older job was meant to run
/// without a queue.
std::string JobReader::default_queue_of(const GenericJob& job) const {
  if (!config_.default_queue || names_queue(job) || job.metadata().deleting()) return {};
  // What is composed, and what only a webhook can hold back, got its queue there.
  if (job.passed_over() || job.composed() || job.serving()) return {};
  const std::string name(api::default_local_queue);
  const auto queue = objects_.local_queue(api::ObjectKey(job.metadata().ns, name));
  const bool open = queue && !queue->metadata.deleting() &&
                    queue->spec.stop_policy == api::StopPolicy::None &&
                    queue->metadata.creation_timestamp <= job.metadata().creation_timestamp;
  if (!open || job.finished() || maker_of(job)) return {};
  return takes_part(job.metadata().ns) ? name : std::string();
}

void JobReader::read_workloads(JobView* view) const {
  const GenericJob& job = *view->job;
  if (job.composed()) return read_group_workload(view);
  if (job.serving()) return read_serving(view);
  view->owned = objects_.workloads_of(id_of(job));
  std::erase_if(view->owned,
                [&job](const WorkloadPtr& workload) { return !is_controlled_by(*workload, job); });
  if (const std::string name = prebuilt_workload(job.metadata()); !name.empty()) {
    view->prebuilt = true;
    view->prebuilt_workload = objects_.workload(api::ObjectKey(job.metadata().ns, name));
  }
}

/// The Workload of a composed job has its name. On a worker it is made by the hub.
void JobReader::read_group_workload(JobView* view) const {
  const api::ObjectMeta& metadata = view->job->metadata();
  const WorkloadPtr workload = objects_.workload(metadata.key());
  view->name_taken = workload && !may_be_composed(*workload);
  view->prebuilt = !prebuilt_workload(metadata).empty();
  if (!workload || view->name_taken) return;
  view->owned = {workload};
  if (view->prebuilt) view->prebuilt_workload = workload;
}

void JobReader::read_serving(JobView* view) const {
  const JobPtr& job = view->job;
  view->owned = objects_.workloads_of(id_of(*job));
  std::erase_if(view->owned,
                [&job](const WorkloadPtr& workload) { return !serves(*workload, *job); });
  for (const JobPtr& pod : objects_.pods_of(id_of(*job))) {
    const api::OwnerReference* owner = pod->metadata().controller();
    const JobKind* kind = owner ? objects_.kinds().find(*owner) : nullptr;
    JobPtr maker;
    if (kind) maker = objects_.job(JobId{kind, api::ObjectKey(job->metadata().ns, owner->name)});
    if (maker && maker->metadata().uid != owner->uid) maker = nullptr;
    // Of an earlier job of the same name.
    if (owner && owner->name == job->metadata().name && kind == &job->kind() && !maker) continue;
    view->pods.push_back({pod, std::move(maker), group_workload_of(*job, *pod)});
  }
}

/// On a worker the hub has made it, and the job is no owner of it.
WorkloadPtr JobReader::group_workload_of(const GenericJob& job, const GenericJob& pod) const {
  const ServingJob& serving = *job.serving();
  const std::string name =
      serving.group_of(pod, {config_.policy.brief_names, config_.policy.names_in_labels});
  if (name.empty()) return nullptr;
  WorkloadPtr workload = objects_.workload(api::ObjectKey(job.metadata().ns, name));
  return workload && (serving.made_on_hub() || serves(*workload, job)) ? workload : nullptr;
}

/// The class that the job names, else the default class. Once there is a Workload, it keeps the
/// default class or goes on without.
std::string JobReader::workload_class_of(const JobView& view) const {
  const std::string label = view.job->metadata().label(std::string(api::labels::priority_class));
  if (!label.empty() || !config_.default_priority_class || view.prebuilt) return label;
  const std::string name(default_priority_class);
  if (!view.owned.empty()) {
    const auto& ref = view.owned.front()->spec.priority_class_ref;
    return ref && ref->kind == api::priority::workload_kind && ref->name == name ? name : "";
  }
  return objects_.workload_priority_class(name) ? name : "";
}

void JobReader::read_priority(JobView* view) const {
  const std::string name = workload_class_of(*view);
  if (name.empty()) return read_pod_priority(view);
  const auto found = objects_.workload_priority_class(name);
  if (!found) {
    view->missing_workload_class = true;
    view->invalid = Error(Errc::invalid, "WorkloadPriorityClass \"" + name + "\" not found");
    return;
  }
  view->priority_class = api::PriorityClassRef{std::string(api::kueue_group),
                                               std::string(api::priority::workload_kind), name};
  view->priority = found->value;
}

/// The PriorityClass that the pods name, else the lowest global default.
void JobReader::read_pod_priority(JobView* view) const {
  const std::string name = view->job->pod_priority_class();
  std::shared_ptr<const api::PriorityClass> chosen;
  for (const auto& candidate : objects_.priority_classes()) {
    if (!name.empty()
            ? candidate->metadata.name == name
            : candidate->global_default && (!chosen || candidate->value < chosen->value)) {
      chosen = candidate;
    }
  }
  if (!chosen && !name.empty()) {
    view->invalid = Error(Errc::invalid, "PriorityClass \"" + name +
                                             "\" does not exist: create it or remove "
                                             "priorityClassName from the pod template");
  }
  if (!chosen) return;
  view->priority_class =
      api::PriorityClassRef{"scheduling.k8s.io", "PriorityClass", chosen->metadata.name};
  view->priority = chosen->value;
}

void JobReader::read_admission(JobView* view) const {
  WorkloadPtr reserved = view->prebuilt_workload;
  for (const WorkloadPtr& workload : view->owned) {
    if (!reserved && workload->status.admission) reserved = workload;
  }
  if (is_elastic(*view)) reserved = slices_of(*view).current;
  if (!reserved) return;
  const FlavorLookup flavor = [this](const std::string& name) -> const api::ResourceFlavor* {
    return objects_.flavor(name).get();
  };
  for (const api::AdmissionCheckState& state : reserved->status.admission_checks) {
    const auto check = objects_.admission_check(state.name);
    if (check && api::is_multikueue(*check)) view->dispatched = true;
  }
  // It runs on a worker, also when its check is gone or cannot be read.
  if (reserved->status.cluster_name) view->dispatched = true;
  Result<std::vector<PodSetInfo>> infos =
      admission_infos(*reserved, flavor, {config_.policy.queue_labels, config_.topology.enabled});
  if (infos) {
    view->infos = std::move(*infos);
  } else {
    view->infos_error = infos.error();
  }
}

JobView JobReader::read(JobPtr job, TimePoint now) const {
  JobView view;
  view.topology = config_.topology;
  view.policy = config_.policy;
  view.now = now;
  const bool elastic =
      is_elastic(*job, config_.policy) && prebuilt_workload(job->metadata()).empty();
  if (auto whole = with_runtime(objects_, job, elastic)) {
    view.job = std::move(*whole);
  } else {
    view.job = std::move(job);
    view.without_runtime = true;
    view.invalid = whole.error();
  }
  view.default_queue = default_queue_of(*view.job);
  const JobPtr maker = maker_of(*view.job);
  view.managed = manages(*view.job, maker != nullptr);
  view.held_by_maker = maker && !view.job->passed_over() && takes_part(view.job->metadata().ns) &&
                       !is_admitted(*maker);
  view.queue_name = view.job->metadata().label(std::string(api::labels::queue_name));
  read_workloads(&view);
  read_priority(&view);
  read_admission(&view);
  return view;
}

std::string not_found(const JobKind& kind, const std::string& name) {
  return "workload owner not found\n" + kind.resource().group_resource() + " \"" + name +
         "\" not found";
}

}  // namespace

std::optional<JobId> unseen_maker(const Lookup& objects, const GenericJob& job) {
  JobPtr held;
  const GenericJob* made = &job;
  for (int level = 0; level < nesting_max; ++level) {
    const api::OwnerReference* owner = made->metadata().controller();
    const JobKind* kind = owner ? objects.kinds().find(*owner) : nullptr;
    if (!kind) break;
    const JobId id{kind, api::ObjectKey(job.metadata().ns, owner->name)};
    held = objects.job(id);
    const bool seen = held && held->metadata().uid == owner->uid;
    if (!seen) return all_followed(*kind) ? std::optional(id) : std::nullopt;
    made = held.get();
  }
  return std::nullopt;
}

Result<JobPtr> managed_maker(const Lookup& objects, const GenericJob& job,
                             const JobConfig& config) {
  JobPtr maker, held;
  const GenericJob* made = &job;
  std::set<std::string> seen{job.metadata().uid};
  for (int level = 0; level < nesting_max; ++level) {
    const api::OwnerReference* owner = made->metadata().controller();
    const JobKind* kind = owner ? objects.kinds().find(*owner) : nullptr;
    if (!kind) break;
    held = objects.job(JobId{kind, api::ObjectKey(job.metadata().ns, owner->name)});
    // What is not followed is not managed.
    if (!held && !all_followed(*kind)) break;
    if (!held) return Error(Errc::invalid, not_found(*kind, owner->name));
    if (held->metadata().uid != owner->uid) break;  // another one of the same name
    if (!seen.insert(owner->uid).second) return Error(Errc::invalid, "cyclic ownership");
    if (config.manage_without_queue_name || names_queue(*held)) maker = held;
    made = held.get();
  }
  return maker;
}

std::string prebuilt_workload(const api::ObjectMeta& metadata) {
  const std::string key(api::labels::prebuilt_workload_name);
  const std::string& annotated = metadata.annotation(key);
  return annotated.empty() ? metadata.label(key) : annotated;
}

std::vector<std::string> workloads_of_copy(const GenericJob& copy) {
  std::string name = prebuilt_workload(copy.metadata());
  const ServingJob* job = copy.serving();
  if (!name.empty() || !job || !job->made_on_hub()) return {std::move(name)};
  std::vector<std::string> out;
  // Which form of names the hub uses is not known.
  for (const bool brief : {false, true}) {
    const auto groups = job->groups({brief, false}, copied_groups_max);
    if (!groups) continue;
    for (const ServingGroup& group : *groups) out.push_back(group.name);
  }
  return out;
}

std::optional<std::int32_t> group_index_of(const api::Workload& workload) {
  const std::string key(api::annotations::component_workload_index);
  const std::string& text = workload.metadata.annotation(key);
  std::string complaint;
  const auto index = text.empty() ? std::nullopt : whole_number(text, &complaint);
  if (!index || *index < 0 || *index > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*index);
}

std::optional<JobId> group_of(const JobKinds& kinds, const api::Workload& workload) {
  const std::string marked(api::annotations::is_group_workload);
  if (workload.metadata.annotation(marked) != "true") return std::nullopt;
  for (const auto& kind : kinds.all()) {
    if (const JobKind* groups = kind->group_kind()) return JobId{groups, workload.metadata.key()};
  }
  return std::nullopt;
}

std::optional<JobId> parent_of(const JobKinds& kinds, const api::Workload& workload) {
  if (!group_of(kinds, workload)) return std::nullopt;
  for (const api::OwnerReference& owner : workload.metadata.owner_references) {
    const JobKind* kind = kinds.find(owner);
    if (!kind || !kind->serves()) continue;
    return JobId{kind, api::ObjectKey(workload.metadata.ns, owner.name)};
  }
  return std::nullopt;
}

bool is_controlled_by(const api::Workload& workload, const GenericJob& job) {
  const api::OwnerReference* owner = workload.metadata.controller();
  return owner && owner->uid == job.metadata().uid;
}

bool left_by_owner(const api::Workload& workload, const GenericJob* namesake) {
  const api::ObjectMeta& metadata = workload.metadata;
  const api::OwnerReference* owner = metadata.controller();
  if (!owner) return !namesake && (metadata.deleting() || !metadata.owner_references.empty());
  return !namesake || (metadata.deleting() && owner->uid != namesake->metadata().uid);
}

JobPtr owner_of(const Lookup& objects, const api::Workload& workload) {
  const api::OwnerReference* owner = workload.metadata.controller();
  if (!owner) {
    if (const auto parent = parent_of(objects.kinds(), workload)) {
      const JobPtr job = objects.job(*parent);
      return job && serves(workload, *job) ? job : nullptr;
    }
    const auto group = group_of(objects.kinds(), workload);
    return group ? objects.job(*group) : nullptr;
  }
  const JobKind* kind = owner ? objects.kinds().find(*owner) : nullptr;
  if (!kind) return nullptr;
  const JobPtr job = objects.job(JobId{kind, api::ObjectKey(workload.metadata.ns, owner->name)});
  return job && job->metadata().uid == owner->uid ? job : nullptr;
}

Result<JobPtr> with_runtime(const Lookup& objects, const JobPtr& job, bool elastic) {
  const auto ref = job->runtime();
  if (!ref) return ref.error();
  if (!*ref || ((*ref)->resizes && !elastic)) return job;
  const api::ResourceInfo& kind = *(*ref)->resource;
  if (!(*ref)->resizes && !objects.serves_runtimes(kind)) {
    return Error(Errc::invalid, unsupported_runtime(kind.kind, kind.group));
  }
  const auto found = objects.runtime(**ref);
  if (!found && (*ref)->resizes) return job;
  if (!found) return Error(Errc::not_found, "runtime '" + (*ref)->key.name + "' not found");
  return job->with_runtime(*found);
}

JobView read_job(const Lookup& objects, JobPtr job, const JobConfig& config, TimePoint now) {
  return JobReader(objects, config).read(std::move(job), now);
}

}  // namespace regatta::jobs
