#include "lab/conformance/job_world.h"

#include "jobs/read_job.h"
#include "lib/api/codec.h"
#include "lib/base/json_access.h"
#include "lib/base/merge_patch.h"
#include "lifecycle/lifecycle.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::lab {
namespace {

using jobs::JobPtr;
using jobs::WorkloadPtr;

/// What an action makes of a Workload; nothing when it writes none.
struct WorkloadAfter {
  const jobs::GenericJob& job;
  TimePoint now;

  std::optional<api::Workload> operator()(const jobs::AdoptWorkload& a) const {
    api::Workload after = *a.workload;
    after.metadata = jobs::adopted_metadata(*a.workload, job);
    return after;
  }
  std::optional<api::Workload> operator()(const jobs::ShareWorkload& a) const {
    api::Workload after = *a.workload;
    after.metadata = jobs::shared_metadata(*a.workload, a.members);
    return after;
  }
  std::optional<api::Workload> operator()(const jobs::AwaitReplacement& a) const {
    api::Workload after = *a.workload;
    api::set_condition(&after.status.conditions, a.condition, now);
    return after;
  }
  std::optional<api::Workload> operator()(const jobs::HoldWorkload& a) const {
    return with_status(a.workload, jobs::held_status(*a.workload, a.message, now));
  }
  std::optional<api::Workload> operator()(const jobs::UpdateWorkload& a) const {
    api::Workload after = *a.workload;
    after.spec = a.spec;
    return after;
  }
  std::optional<api::Workload> operator()(const jobs::FinishWorkload& a) const {
    return with_status(a.workload,
                       lifecycle::finished_status(*a.workload, a.reason, a.message, now));
  }
  std::optional<api::Workload> operator()(const jobs::ReleaseWorkload& a) const {
    api::Workload after = *a.workload;
    after.metadata = jobs::released_metadata(*a.workload);
    return after;
  }
  std::optional<api::Workload> operator()(const jobs::SetReclaimable& a) const {
    api::Workload after = *a.workload;
    after.status.reclaimable_pods = a.pods;
    return after;
  }
  std::optional<api::Workload> operator()(const jobs::DropReservation& a) const {
    return with_status(a.workload, jobs::drop_reservation(*a.workload, now));
  }
  std::optional<api::Workload> operator()(const jobs::GateWorkload& a) const {
    api::Workload after = *a.workload;
    after.metadata = jobs::gated_metadata(*a.workload, a.gates);
    return after;
  }
  std::optional<api::Workload> operator()(const jobs::SetPodsReady& a) const {
    api::Workload after = *a.workload;
    api::set_pods_ready(&after.status, after.metadata.generation, a.readiness, now);
    return after;
  }
  template <class Other>
  std::optional<api::Workload> operator()(const Other&) const {
    return std::nullopt;
  }

  static api::Workload with_status(const WorkloadPtr& workload, api::WorkloadStatus status) {
    api::Workload after = *workload;
    after.status = std::move(status);
    return after;
  }
};

std::string object_text(const std::string& kind, const api::ObjectKey& key) {
  return kind + " " + key.str();
}

}  // namespace

JobWorld::Id JobWorld::id_of(const Json& object) {
  return {std::string(api::group_of(text_at(object, "apiVersion"))), text_at(object, "kind"),
          api::ObjectKey(text_at(object, {"metadata", "namespace"}),
                         text_at(object, {"metadata", "name"}))};
}

JobWorld::Id JobWorld::id_of(const api::ResourceInfo& kind, const api::ObjectKey& key) {
  return {std::string(kind.group), std::string(kind.kind), key};
}

void JobWorld::put(const Json& object) {
  objects_[id_of(object)] = {object, nullptr};
}

void JobWorld::begin() {
  before_.clear();
  for (const auto& [id, entry] : objects_) before_[id] = entry.object;
  deleted_.clear();
  events_.clear();
  errors_.clear();
}

void JobWorld::store(const Id& id, Json object) {
  const Json& metadata = object_or_empty(object, {"metadata"});
  const bool gone =
      metadata.contains("deletionTimestamp") && list_or_empty(metadata, "finalizers").empty();
  ++version_;
  if (gone) {
    deleted_.insert(object_text(id.kind, id.key));
    objects_.erase(id);
  } else {
    objects_[id] = {std::move(object), nullptr};
  }
}

void JobWorld::create(const Json& object) {
  const Id id = id_of(object);
  if (objects_.contains(id)) return fail(object_text(id.kind, id.key) + " already exists");
  store(id, object);
}

void JobWorld::patch(const api::ResourceInfo& kind, const api::ObjectKey& key, Json patch) {
  const Id id = id_of(kind, key);
  const auto found = objects_.find(id);
  if (found == objects_.end()) return fail(object_text(id.kind, key) + " not found");
  Json after = found->second.object;
  if (patch.contains("metadata")) {
    // Objects of scenarios need not have these.
    for (const char* name : {"uid", "resourceVersion"}) {
      if (!object_or_empty(after, {"metadata"}).contains(name)) patch["metadata"].erase(name);
    }
  }
  after.merge_patch(patch);
  if (after != found->second.object) store(id, std::move(after));
}

void JobWorld::remove(const api::ResourceInfo& kind, const api::ObjectKey& key) {
  const Id id = id_of(kind, key);
  const auto found = objects_.find(id);
  if (found == objects_.end()) return;
  Json after = found->second.object;
  if (object_or_empty(after, {"metadata"}).contains("deletionTimestamp")) return;
  after["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
  store(id, std::move(after));
}

void JobWorld::note(const jobs::JobNote& note) {
  const std::string object = object_text(std::string(note.resource->kind), note.about->key());
  events_.emplace(object, note.warning ? "Warning" : "Normal", note.reason, note.message);
}

void JobWorld::fail(const std::string& error) {
  if (std::find(errors_.begin(), errors_.end(), error) == errors_.end()) errors_.push_back(error);
}

void JobWorld::write_workload(const jobs::GenericJob& job, const jobs::JobAction& action) {
  const auto after = std::visit(WorkloadAfter{job, now_}, action);
  if (!after) return;
  const WorkloadPtr before = workload(after->metadata.key());
  if (!before) return fail(object_text("Workload", after->metadata.key()) + " not found");
  patch(api::Workload::resource, after->metadata.key(),
        merge_patch_between(api::to_json(*before), api::to_json(*after)));
}

void JobWorld::patch(const jobs::JobWrite& write) {
  patch(write.job->kind().resource(), write.job->metadata().key(), write.patch);
}

void JobWorld::remove(const jobs::GenericJob& job) {
  remove(job.kind().resource(), job.metadata().key());
}

void JobWorld::write_job(const jobs::GenericJob& job, const jobs::JobAction& action) {
  const api::ResourceInfo& kind = job.kind().resource();
  const api::ObjectKey key = job.metadata().key();
  if (const auto* stop = std::get_if<jobs::StopJob>(&action)) patch(kind, key, stop->step.patch);
  if (const auto* end = std::get_if<jobs::TerminateJob>(&action)) {
    for (const jobs::JobWrite& one : end->writes) {
      patch(one);
      remove(*one.job);
    }
  }
  if (const auto* pods = std::get_if<jobs::PatchPods>(&action)) {
    for (const jobs::JobWrite& one : pods->writes) patch(one);
  }
  if (const auto* gone = std::get_if<jobs::LetJobGo>(&action)) {
    for (const jobs::JobWrite& one : gone->writes) patch(one);
  }
  if (const auto* start = std::get_if<jobs::StartJob>(&action)) {
    for (const jobs::JobWrite& one : start->writes) patch(one);
  }
  if (const auto* excess = std::get_if<jobs::DropExcess>(&action)) {
    for (const jobs::JobPtr& one : excess->members) {
      patch({one, one->let_go_patch()});
      remove(*one);
    }
  }
  if (const auto* hold = std::get_if<jobs::HoldJob>(&action)) patch(kind, key, hold->patch);
  if (const auto* queue = std::get_if<jobs::QueueJob>(&action)) patch(kind, key, queue->patch);
  if (const auto* size = std::get_if<jobs::NoteSize>(&action)) patch(kind, key, size->patch);
  if (std::holds_alternative<jobs::DeleteJob>(action)) remove(job);
}

void JobWorld::carry_out(const jobs::GenericJob& job, const jobs::JobAction& action) {
  if (const auto* make = std::get_if<jobs::CreateWorkload>(&action)) {
    Json object = api::to_json(make->workload);
    object["spec"].erase("active");  // true, as the API server defaults it
    create(object);
  } else if (const auto* drop = std::get_if<jobs::DeleteWorkload>(&action)) {
    remove(api::Workload::resource, drop->workload->metadata.key());
  } else if (const auto* old = std::get_if<jobs::RetireWorkload>(&action)) {
    remove(api::Workload::resource, old->workload->metadata.key());
  } else {
    write_workload(job, action);
    write_job(job, action);
  }
  for (const jobs::JobNote& said : jobs::notes_of(job, action)) note(said);
}

void JobWorld::release(const jobs::WorkloadPtr& workload) {
  api::Workload after = *workload;
  after.metadata = jobs::released_metadata(*workload);
  patch(api::Workload::resource, after.metadata.key(),
        merge_patch_between(api::to_json(*workload), api::to_json(after)));
}

Json JobWorld::changes() const {
  Json out = Json::object();
  for (const auto& [id, entry] : objects_) {
    const auto was = before_.find(id);
    if (was == before_.end()) {
      out["created"].push_back(entry.object);
    } else if (was->second != entry.object) {
      out["changed"].push_back(entry.object);
    }
  }
  for (const std::string& name : deleted_) out["deleted"].push_back(name);
  return out;
}

Json JobWorld::outcome() const {
  Json out = changes();
  for (const auto& [object, type, reason, message] : events_) {
    out["events"].push_back(
        Json{{"object", object}, {"type", type}, {"reason", reason}, {"message", message}});
  }
  for (const std::string& error : errors_) out["errors"].push_back(error);
  return out;
}

const Json* JobWorld::object(const api::ResourceInfo& kind, const api::ObjectKey& key) const {
  const auto found = objects_.find(id_of(kind, key));
  return found == objects_.end() ? nullptr : &found->second.object;
}

std::vector<Json> JobWorld::created(std::string_view kind) const {
  std::vector<Json> out;
  for (const auto& [id, entry] : objects_) {
    if (id.kind == kind && !before_.contains(id)) out.push_back(entry.object);
  }
  return out;
}

std::vector<jobs::JobId> JobWorld::jobs_of(const jobs::JobKind& kind) const {
  std::set<jobs::JobId> out;
  for (const auto& [id, entry] : objects_) {
    const bool is_one = id.group == kind.resource().group && id.kind == kind.resource().kind;
    if (is_one) {
      const JobPtr read = decode(kind, entry);
      out.insert(read ? jobs::planned_as(*read) : jobs::JobId{&kind, id.key});
    } else if (kind.group_kind() && id.kind == api::Workload::resource.kind) {
      const WorkloadPtr workload = typed<api::Workload>(entry);
      const auto group = workload ? jobs::group_of(kinds_, *workload) : std::nullopt;
      if (group) out.insert(*group);
    }
  }
  return {out.begin(), out.end()};
}

template <class T>
std::shared_ptr<const T> JobWorld::typed(const Entry& entry) const {
  if (!entry.decoded) {
    auto read = api::from_json<T>(entry.object);
    if (!read) return nullptr;
    entry.decoded = std::make_shared<const T>(std::move(*read));
  }
  return std::static_pointer_cast<const T>(entry.decoded);
}

template <class T>
std::shared_ptr<const T> JobWorld::find(const api::ObjectKey& key) const {
  const auto found = objects_.find(id_of(T::resource, key));
  return found == objects_.end() ? nullptr : typed<T>(found->second);
}

JobPtr JobWorld::decode(const jobs::JobKind& kind, const Entry& entry) const {
  if (!entry.decoded) {
    auto read = kind.decode(entry.object, nullptr);
    if (!read) return nullptr;
    entry.decoded = *read;
  }
  return std::static_pointer_cast<const jobs::GenericJob>(entry.decoded);
}

JobPtr JobWorld::compose(const jobs::JobId& id) const {
  std::vector<JobPtr> members;
  for (const auto& kind : kinds_.all()) {
    if (kind->group_kind() != id.kind) continue;
    for (const auto& [object, entry] : objects_) {
      const bool is_one =
          object.group == kind->resource().group && object.kind == kind->resource().kind;
      const JobPtr read = is_one ? decode(*kind, entry) : nullptr;
      if (read && jobs::planned_as(*read) == id) members.push_back(read);
    }
  }
  return members.empty() ? nullptr : id.kind->compose(id.key, members);
}

JobPtr JobWorld::job(const jobs::JobId& id) const {
  const auto found = objects_.find(id_of(id.kind->resource(), id.key));
  return found == objects_.end() ? compose(id) : decode(*id.kind, found->second);
}

std::shared_ptr<const Json> JobWorld::runtime(const jobs::RuntimeRef& ref) const {
  const Json* found = object(*ref.resource, ref.key);
  return found ? std::make_shared<const Json>(*found) : nullptr;
}

WorkloadPtr JobWorld::workload(const api::ObjectKey& key) const {
  return find<api::Workload>(key);
}

std::vector<WorkloadPtr> JobWorld::workloads_of(const jobs::JobId& owner) const {
  std::vector<WorkloadPtr> out;
  const WorkloadPtr shared = workload(owner.key);
  if (shared && jobs::group_of(kinds_, *shared) == owner) return {shared};
  const bool serves = owner.kind->serves();
  for (const auto& [id, entry] : objects_) {
    if (id.kind != api::Workload::resource.kind || id.key.ns != owner.key.ns) continue;
    const WorkloadPtr workload = typed<api::Workload>(entry);
    if (serves && workload && jobs::parent_of(kinds_, *workload) == owner) {
      out.push_back(workload);
    }
    const api::OwnerReference* by = workload ? workload->metadata.controller() : nullptr;
    if (by && kinds_.find(*by) == owner.kind && by->name == owner.key.name) out.push_back(workload);
  }
  return out;
}

std::vector<JobPtr> JobWorld::pods_of(const jobs::JobId& parent) const {
  std::vector<JobPtr> out;
  for (const auto& kind : kinds_.all()) {
    if (kind->parent_kind() != parent.kind) continue;
    for (const auto& [id, entry] : objects_) {
      if (!id.group.empty() || id.kind != "Pod" || id.key.ns != parent.key.ns) continue;
      const auto pod = kind->decode(entry.object, nullptr);
      if (pod && kind->parent_of(**pod) == parent.key.name) out.push_back(*pod);
    }
  }
  return out;
}

std::shared_ptr<const api::Namespace> JobWorld::namespace_named(const std::string& name) const {
  return find<api::Namespace>(api::ObjectKey(name));
}
std::shared_ptr<const api::LocalQueue> JobWorld::local_queue(const api::ObjectKey& key) const {
  return find<api::LocalQueue>(key);
}
std::shared_ptr<const api::ClusterQueue> JobWorld::cluster_queue(const std::string& name) const {
  return find<api::ClusterQueue>(api::ObjectKey(name));
}
std::shared_ptr<const api::ResourceFlavor> JobWorld::flavor(const std::string& name) const {
  return find<api::ResourceFlavor>(api::ObjectKey(name));
}
std::shared_ptr<const api::AdmissionCheck> JobWorld::admission_check(
    const std::string& name) const {
  return find<api::AdmissionCheck>(api::ObjectKey(name));
}
std::shared_ptr<const api::MultiKueueConfig> JobWorld::multikueue_config(
    const std::string& name) const {
  return find<api::MultiKueueConfig>(api::ObjectKey(name));
}
std::shared_ptr<const api::WorkloadPriorityClass> JobWorld::workload_priority_class(
    const std::string& name) const {
  return find<api::WorkloadPriorityClass>(api::ObjectKey(name));
}
std::vector<std::shared_ptr<const api::PriorityClass>> JobWorld::priority_classes() const {
  std::vector<std::shared_ptr<const api::PriorityClass>> out;
  for (const auto& [id, entry] : objects_) {
    if (id.kind != api::PriorityClass::resource.kind) continue;
    if (auto one = typed<api::PriorityClass>(entry)) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace regatta::lab
