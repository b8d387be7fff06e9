#include "dispatch/parts.h"
#include "jobs/annotation_values.h"
#include "jobs/composed_job.h"
#include "jobs/elastic.h"
#include "jobs/integrations/external.h"
#include "jobs/naming.h"
#include "jobs/remote_object.h"
#include "jobs/serving_job.h"
#include "lab/conformance/job_steps.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <set>

namespace regatta::lab {
namespace {

api::ObjectKey key_in_text(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return api::ObjectKey(text);
  return {text.substr(0, slash), text.substr(slash + 1)};
}

/// A hub, a worker, and the kind of the job that is on both.
struct Pair {
  const jobs::JobKind& kind;
  api::ObjectKey key;
  JobWorld hub;
  JobWorld worker;

  /// The object, or the group that it belongs to.
  jobs::JobPtr local() const {
    const jobs::JobPtr object = hub.job({&kind, key});
    return object ? hub.job(jobs::planned_as(*object)) : nullptr;
  }
  std::string missing() const {
    return kind.resource().group_resource() + " \"" + key.name + "\" not found";
  }
  Json outcome() const {
    Json out = Json::object();
    if (Json one = hub.changes(); !one.empty()) out["hub"] = std::move(one);
    if (Json one = worker.changes(); !one.empty()) out["worker"] = std::move(one);
    return out;
  }
};

Pair pair_of(const JobStep& step, const jobs::JobKind& kind) {
  Pair pair{kind, key_in_text(text_at(step.step, "key")), step.world(),
            JobWorld(step.kinds, step.now)};
  for (const Json& object : list_or_empty(step.step, "hubObjects")) pair.hub.put(object);
  for (const Json& object : list_or_empty(step.step, "workerObjects")) pair.worker.put(object);
  pair.hub.begin();
  pair.worker.begin();
  return pair;
}

Json status_in(const JobWorld& world, const jobs::GenericJob& object) {
  return at_or_null(*world.object(object.kind().resource(), object.metadata().key()), "status");
}

/// Kueue knows by the name of a slice whether it is the one of the job's present size. An older one
/// reaches no further than the copy, which it was made for.
api::Workload slice_of(const JobStep& step, const jobs::GenericJob& job,
                       const jobs::GenericJob& copy) {
  const api::ObjectMeta& metadata = job.metadata();
  const api::ResourceInfo& kind = job.kind().resource();
  api::Workload slice;
  slice.metadata.name = text_at(step.step, "workloadName");
  slice.metadata.ns = metadata.ns;
  slice.metadata.annotations[std::string(api::annotations::elastic_job)] = "true";
  const bool newest =
      slice.metadata.name == jobs::workload_name(kind.kind, kind.group, metadata.name, metadata.uid,
                                                 std::to_string(metadata.generation));
  for (const std::int32_t count : newest ? job.pod_counts() : copy.pod_counts()) {
    slice.spec.pod_sets.emplace_back().count = count;
  }
  return slice;
}

Json play_sync(const JobStep& step, Pair pair) {
  const jobs::JobPtr local = pair.local();
  if (!local) return Json{{"error", pair.missing()}};
  const jobs::JobPtr remote = pair.worker.job(jobs::id_of(*local));
  api::Workload workload;
  workload.metadata.name = text_at(step.step, "workloadName");
  workload.metadata.ns = pair.key.ns;
  if (auto sets = local->pod_sets({})) workload.spec.pod_sets = std::move(*sets);
  for (const jobs::JobPtr& one : dispatch::parts_to_create(local, remote, workload)) {
    Json copy = one->remote_job(workload, text_at(step.step, "origin"));
    if (!step.name_by_annotation) jobs::name_workload_by_label(&copy);
    pair.worker.create(copy);
  }
  bool deferred = false;
  for (const auto& [mine, theirs] : dispatch::parts_of(local, remote)) {
    if (!mine || !theirs) continue;
    const Json patch = mine->status_patch(*theirs);
    const api::ObjectMeta& metadata = mine->metadata();
    if (!patch.empty()) pair.hub.patch(mine->kind().resource(), metadata.key(), patch);
    // Of others nothing is known that could wait, or nothing comes home.
    const bool waits = !mine->passed_over() && !mine->serving() && patch.empty();
    deferred |= waits && status_in(pair.hub, *mine) != status_in(pair.worker, *theirs);
  }
  if (remote && jobs::is_marked_elastic(*local)) {
    const Json patch = jobs::slice_update(*local, *remote, slice_of(step, *local, *remote), true);
    const api::ObjectMeta& metadata = remote->metadata();
    if (!patch.empty()) pair.worker.patch(remote->kind().resource(), metadata.key(), patch);
  }
  Json out = pair.outcome();
  if (deferred) out["deferred"] = true;
  return out;
}

Json play_delete(Pair pair) {
  const jobs::JobPtr local = pair.local();
  const jobs::JobPtr remote =
      pair.worker.job(local ? jobs::id_of(*local) : jobs::JobId{&pair.kind, pair.key});
  if (!remote) return pair.outcome();
  for (const jobs::JobPtr& one : jobs::objects_of(remote)) {
    pair.worker.remove(one->kind().resource(), one->metadata().key());
  }
  return pair.outcome();
}

Json play_managed_by(const Pair& pair) {
  const jobs::JobPtr local = pair.local();
  if (!local) return Json{{"managed", false}, {"error", pair.missing()}};
  const std::string reason = local->not_managed_reason();
  Json out{{"managed", reason.empty()}};
  if (!reason.empty()) out["reason"] = reason;
  return out;
}

/// What is known about kinds by their names alone, as Kueue lists it.
Json play_names(const JobStep& step) {
  std::set<std::string> kinds;
  for (const Json& name : list_or_empty(step.step, "names")) {
    const auto kind = jobs::external_kind(name.get<std::string>(), true);
    if (!kind) return Json{{"error", kind.error().what()}};
    const api::ResourceInfo& resource = (*kind)->resource();
    const std::string known = std::string(resource.group) + "/" + std::string(resource.version) +
                              ", Kind=" + std::string(resource.kind);
    if (!kinds.insert(known).second) return Json{{"error", "duplicate configuration for " + known}};
  }
  return Json{{"gvks", kinds}};
}

/// A LeaderWorkerSet has several Workloads, which it does not name.
bool names_workload(const jobs::JobKind& kind) {
  return kind.resource().kind != "LeaderWorkerSet";
}

Json keys_of_groups(const jobs::ServingJob& job) {
  const api::ObjectMeta& metadata = job.metadata();
  if (metadata.annotation(std::string(api::annotations::multikueue_origin_uid)).empty()) {
    return Json{
        {"error", "no origin UID annotation found for leaderworkerset: " + metadata.key().str()}};
  }
  const auto groups = job.groups({});
  if (!groups) return Json{{"error", groups.error().what()}};
  Json keys = Json::array();
  for (const jobs::ServingGroup& group : *groups) keys.push_back(metadata.ns + "/" + group.name);
  return Json{{"keys", std::move(keys)}};
}

/// How many Workloads a job has, and which of them one is.
Json play_count(const JobStep& step, const Pair& pair) {
  std::string complaint;
  const std::string& text =
      text_at(step.input("workload"),
              {"metadata", "annotations", api::annotations::component_workload_index});
  const auto index = text.empty() ? std::nullopt : jobs::whole_number(text, &complaint);
  Json out{{"index", index.value_or(-1)}};
  const jobs::JobPtr local = pair.local();
  const auto groups =
      local && local->serving()
          ? local->serving()->groups({})
          : Result<std::vector<jobs::ServingGroup>>(Error(Errc::not_found, pair.missing()));
  if (groups) {
    out["count"] = groups->size();
  } else {
    out["error"] = groups.error().what();
  }
  return out;
}

Result<Json> play_keys(const JobStep& step, const jobs::JobKind& kind) {
  const Json& given = step.input("object");
  if (text_at(given, "kind") != kind.resource().kind ||
      text_at(given, "apiVersion") != kind.resource().api_version()) {
    return Json{{"error", "unexpected kind"}};
  }
  const auto job = kind.decode(step.input("object"), nullptr);
  if (!job) return Json{{"error", job.error().what()}};
  const api::ObjectMeta& metadata = (*job)->metadata();
  if (const jobs::ServingJob* serving = (*job)->serving(); serving && !names_workload(kind)) {
    return keys_of_groups(*serving);
  }
  const std::string name = jobs::prebuilt_workload(metadata);
  if (name.empty()) {
    std::string label(kind.resource().kind);
    for (char& c : label) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return Json{{"error", "no prebuilt workload found for " + label + ": " + metadata.key().str()}};
  }
  return Json{{"keys", Json::array({metadata.ns + "/" + name})}};
}

}  // namespace

Result<Json> play_remote(const JobStep& step) {
  if (step.op() == "externalFrameworks") return play_names(step);
  const jobs::JobKind* kind = kind_of_folder(step.kinds, text_at(step.scenario, "kind"));
  std::shared_ptr<const jobs::JobKind> external;
  if (const std::string& name = text_at(step.step, "framework"); !name.empty()) {
    const auto found = jobs::external_kind(name, true);
    if (!found) return found.error();
    external = *found;
    kind = external.get();
  }
  if (!kind) {
    return Error(Errc::unavailable, "the kind " + text_at(step.scenario, "kind"));
  }
  const std::string& op = step.op();
  if (op == "remoteKeys") return play_keys(step, *kind);
  Pair pair = pair_of(step, *kind);
  if (op == "remoteSync") return play_sync(step, std::move(pair));
  if (op == "remoteManagedBy" && external && !step.external_adapters) {
    const char* reason = "MultiKueueAdaptersForCustomJobs feature gate is disabled";
    return Json{{"managed", false}, {"reason", reason}};
  }
  if (op == "remoteManagedBy") return play_managed_by(pair);
  if (op == "remoteCount") return play_count(step, pair);
  if (op == "remoteDelete") return play_delete(std::move(pair));
  return Error(Errc::unavailable, "the operation " + op);
}

}  // namespace regatta::lab
