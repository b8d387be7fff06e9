#include "lab/cluster/operated_kinds.h"
#include "lib/base/json_access.h"
#include "tests/sim/chaos.h"
#include "tests/sim/kinds.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

/// The other programs of a federation: an external dispatcher, the controller of another admission
/// check, and a worker that says anything.
namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

std::vector<apiserver::StoredPtr> all_of(SimCluster* cluster, const char* resource) {
  std::vector<apiserver::StoredPtr> out;
  const apiserver::Shelf* shelf = cluster->server().store().find_shelf(resource);
  if (!shelf) return out;
  for (const auto& [key, object] : shelf->objects()) out.push_back(object);
  return out;
}

Json condition(const char* type, bool value, const char* reason) {
  return {{"type", type},
          {"status", value ? "True" : "False"},
          {"reason", reason},
          {"message", "so it is said"},
          {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
}

/// A Workload or Job as if a hub had sent it.
Json forged(const apiserver::Stored& model) {
  const Json& given = model.value();
  Json fake = make_object(given.at("apiVersion").get<std::string>().c_str(),
                          given.at("kind").get<std::string>().c_str(), model.name(), model.ns());
  fake["spec"] = given.at("spec");
  fake["metadata"]["labels"] = {{"kueue.x-k8s.io/multikueue-origin", "multikueue"}};
  return fake;
}

/// The same of a job, for the copy of that name.
Json forged_job(const apiserver::Stored& model, const std::string& workload) {
  Json fake = forged(model);
  fake["metadata"]["annotations"] = {{"kueue.x-k8s.io/prebuilt-workload-name", workload}};
  const KindOfJob& of = kind_of(model.value());
  fake.at(of.managed_by.parent_pointer()).erase(of.managed_by.back());
  // The API of batch/v1 gives a Job these itself, and refuses those of another one.
  if (of.resource.kind == "Job") {
    fake["spec"].erase("selector");
    fake["spec"]["template"]["metadata"].erase("labels");
  }
  return fake;
}

/// The status of a job that ended.
Json end_of_job(const Json& job, bool good, TimePoint now) {
  const KindOfJob& kind = kind_of(job);
  const auto* operated = lab::operated_kind(kind.resource.group, kind.resource.kind);
  using enum lab::OperatedPhase;
  if (operated) return lab::operated_status(*operated, job, good ? succeeded : failed, now);
  Json status = {{"conditions",
                  {condition(good ? "SuccessCriteriaMet" : "FailureTarget", true, "Said"),
                   condition(good ? "Complete" : "Failed", true, "Said")}},
                 {"startTime", "2026-01-01T00:00:00Z"}};
  if (good) status["completionTime"] = "2026-01-01T00:00:00Z";
  return status;
}

Json said_of_workload(Rng& rng) {
  Json said = Json::array();
  said.push_back(condition("QuotaReserved", rng.chance(0.8), "QuotaReserved"));
  said.push_back(condition("Admitted", rng.chance(0.8), "Admitted"));
  if (rng.chance(0.3)) said.push_back(condition("Evicted", true, "Preempted"));
  if (rng.chance(0.4)) said.push_back(condition("Finished", true, "Succeeded"));
  return {{"conditions", std::move(said)}};
}

}  // namespace

/// Another program nominates: sooner or later usefully, before that also nonsense.
Task<> Chaos::nominate() {
  for (;;) {
    co_await deps_.around.world.sleep_for(500ms);
    for (SimCluster* hub : deps_.hubs) {
      for (const auto& workload : all_of(hub, workloads)) {
        const Json& value = workload->value();
        if (!condition_true(value, "QuotaReserved") || condition_true(value, "Finished")) continue;
        const bool recorded = !cluster_name_of(value).empty();
        const bool nonsense = !over_ && rng_.chance(0.1);
        if (recorded && !nonsense) continue;
        Json names = Json::array();
        if (nonsense) names = {"nowhere", any_worker()->name()};
        for (SimCluster* worker : deps_.workers) {
          if (!nonsense) names.push_back(worker->name());
        }
        if (at_or_null(at_or_null(value, "status"), "nominatedClusterNames") == names) continue;
        const Json patch = {{"status", {{"nominatedClusterNames", names}}}};
        const api::ObjectKey key(workload->ns(), workload->name());
        co_await hub->edit(api::Workload::resource, key, patch, true);
      }
    }
  }
}

/// The controller of a second admission check changes its mind now and then.
Task<> Chaos::answer_other_checks() {
  for (;;) {
    co_await deps_.around.world.sleep_for(500ms);
    for (SimCluster* hub : deps_.hubs) {
      for (const auto& workload : all_of(hub, workloads)) {
        Json checks = at_or_null(at_or_null(workload->value(), "status"), "admissionChecks");
        bool changed = false;
        for (Json& check : checks) {
          if (check["name"] != "other" || !condition_true(workload->value(), "QuotaReserved")) {
            continue;
          }
          const bool refuses = !over_ && rng_.chance(0.02);
          const char* wanted = refuses ? "Retry" : "Ready";
          if (check["state"] == wanted || (check["state"] == "Retry" && !over_)) continue;
          check["state"] = wanted;
          check["message"] = "";
          changed = true;
        }
        if (!changed) continue;
        const Json patch = {
            {"metadata", {{"resourceVersion", std::to_string(workload->version())}}},
            {"status", {{"admissionChecks", checks}}}};
        const api::ObjectKey key(workload->ns(), workload->name());
        co_await hub->edit(api::Workload::resource, key, patch, true);
      }
    }
  }
}

Task<> Chaos::claim_an_end(SimCluster* liar, SimCluster* hub, apiserver::StoredPtr workload) {
  apiserver::StoredPtr job;
  for (const auto& each : jobs_of(hub)) {
    if (uid_of(each->value()) == owner_uid_of(workload->value())) job = each;
  }
  if (!job) co_return;
  const api::ResourceInfo kind = kind_of(job->value()).resource;
  Json fake_job = forged_job(*job, workload->name());
  // A suspended Job cannot end.
  if (job->value().at("kind") == "Job") fake_job["spec"]["suspend"] = false;
  (void)co_await liar->admin().create_raw(api::Workload::resource, workload->ns(),
                                          dump_json(forged(*workload)));
  (void)co_await liar->admin().create_raw(kind, job->ns(), dump_json(fake_job));
  const TimePoint now = deps_.around.world.now();
  const Json ended = {{"status", end_of_job(job->value(), rng_.chance(0.5), now)}};
  co_await liar->edit(kind, api::ObjectKey(job->ns(), job->name()), ended, true);
  const Json conditions = {condition("QuotaReserved", true, "QuotaReserved"),
                           condition("Admitted", true, "Admitted"),
                           condition("Finished", true, "Succeeded")};
  co_await liar->edit(api::Workload::resource, api::ObjectKey(workload->ns(), workload->name()),
                      {{"status", {{"conditions", conditions}}}}, true);
}

/// An eviction takes the record of the worker away. In that moment the liar says that the job, of
/// which it has nothing, has ended there.
Task<> Chaos::claim_ends() {
  SimCluster* liar = deps_.workers.back();
  std::set<std::string> evicted;
  while (!over_) {
    co_await deps_.around.world.sleep_for(10ms);
    for (SimCluster* hub : deps_.hubs) {
      for (const auto& workload : all_of(hub, workloads)) {
        const Json& value = workload->value();
        const bool now = condition_true(value, "Evicted") && condition_true(value, "QuotaReserved");
        const std::string uid = uid_of(value);
        if (!now) evicted.erase(uid);
        if (!now || !evicted.insert(uid).second || rng_.chance(0.5)) continue;
        co_await claim_an_end(liar, hub, workload);
      }
    }
  }
}

Task<> Chaos::one_lie(SimCluster* liar) {
  SimCluster* hub = any_hub();
  const bool about_job = rng_.chance(0.5);
  const auto any = [&](SimCluster* cluster) {
    return about_job ? any_job(cluster) : any_object(cluster, workloads);
  };
  if (rng_.chance(0.4)) {
    const auto model = any(hub);
    const auto workload = any_object(hub, workloads);
    if (!model || !workload) co_return;
    const api::ResourceInfo kind =
        about_job ? kind_of(model->value()).resource : api::Workload::resource;
    Json fake = about_job ? forged_job(*model, workload->name()) : forged(*model);
    // What is never let go keeps the hub from sending the job elsewhere: see docs/simulation.md.
    if (!about_job && rng_.chance(0.3)) fake["metadata"]["finalizers"] = {"simulation/never"};
    const auto made = co_await liar->admin().create_raw(kind, model->ns(), dump_json(fake));
    (void)made;
    co_return;
  }
  const auto chosen = any(liar);
  if (!chosen) co_return;
  const api::ResourceInfo kind =
      about_job ? kind_of(chosen->value()).resource : api::Workload::resource;
  const api::ObjectKey key(chosen->ns(), chosen->name());
  if (rng_.chance(0.2)) {
    co_await liar->remove(kind, key);
    co_return;
  }
  const TimePoint now = deps_.around.world.now();
  const Json patch = {{"status", about_job ? end_of_job(chosen->value(), rng_.chance(0.7), now)
                                           : said_of_workload(rng_)}};
  co_await liar->edit(kind, key, patch, true);
}

/// One worker has no manager. Its API server says whatever comes to mind, also about Workloads that
/// it was never sent. In the end it is no longer listed.
Task<> Chaos::lie() {
  SimCluster* liar = deps_.workers.back();
  while (!over_) {
    co_await wait(50, 800);
    co_await one_lie(liar);
  }
  for (SimCluster* hub : deps_.hubs) {
    unlisted_[hub->name()].insert(liar->name());
    co_await list_clusters(hub);
  }
}

}  // namespace regatta::simtest
