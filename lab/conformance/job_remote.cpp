#include "jobs/remote_object.h"
#include "lab/conformance/job_steps.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

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

  jobs::JobPtr local() const { return hub.job({&kind, key}); }
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

Json status_in(const JobWorld& world, const Pair& pair) {
  return at_or_null(*world.object(pair.kind.resource(), pair.key), "status");
}

Json play_sync(const JobStep& step, Pair pair) {
  const jobs::JobPtr local = pair.local();
  if (!local) return Json{{"error", pair.missing()}};
  const jobs::JobPtr remote = pair.worker.job({&pair.kind, pair.key});
  if (!remote) {
    api::Workload workload;
    workload.metadata.name = text_at(step.step, "workloadName");
    workload.metadata.ns = pair.key.ns;
    Json copy = local->remote_job(workload, text_at(step.step, "origin"));
    if (!step.name_by_annotation) jobs::name_workload_by_label(&copy);
    pair.worker.create(copy);
    return pair.outcome();
  }
  const Json patch = local->status_patch(*remote);
  if (!patch.empty()) pair.hub.patch(pair.kind.resource(), pair.key, patch);
  Json out = pair.outcome();
  if (patch.empty() && status_in(pair.hub, pair) != status_in(pair.worker, pair)) {
    out["deferred"] = true;
  }
  return out;
}

Json play_managed_by(const Pair& pair) {
  const jobs::JobPtr local = pair.local();
  if (!local) return Json{{"managed", false}, {"error", pair.missing()}};
  const std::string reason = local->not_managed_reason();
  Json out{{"managed", reason.empty()}};
  if (!reason.empty()) out["reason"] = reason;
  return out;
}

Result<Json> play_keys(const JobStep& step, const jobs::JobKind& kind) {
  const auto job = kind.decode(step.input("object"), nullptr);
  if (!job) return Json{{"error", job.error().what()}};
  const api::ObjectMeta& metadata = (*job)->metadata();
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
  const jobs::JobKind* kind = kind_of_folder(step.kinds, text_at(step.scenario, "kind"));
  if (!kind) {
    return Error(Errc::unavailable, "the kind " + text_at(step.scenario, "kind"));
  }
  const std::string& op = step.op();
  if (op == "remoteKeys") return play_keys(step, *kind);
  Pair pair = pair_of(step, *kind);
  if (op == "remoteSync") return play_sync(step, std::move(pair));
  if (op == "remoteManagedBy") return play_managed_by(pair);
  if (op == "remoteDelete") {
    pair.worker.remove(kind->resource(), pair.key);
    return pair.outcome();
  }
  return Error(Errc::unavailable, "the operation " + op);
}

}  // namespace regatta::lab
