#include "lab/cluster/operated_kinds.h"
#include "lib/base/json_access.h"
#include "tests/sim/chaos.h"
#include "tests/sim/invariant.h"
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

/// The status of a job that runs.
Json running_job(const Json& job, TimePoint now) {
  const KindOfJob& kind = kind_of(job);
  const auto* operated = lab::operated_kind(kind.resource.group, kind.resource.kind);
  if (operated) return lab::operated_status(*operated, job, lab::OperatedPhase::running, now);
  return {{"active", 1}, {"ready", 1}, {"startTime", "2026-01-01T00:00:00Z"}};
}

Json admitted_copy() {
  return {{"conditions",
           {condition("QuotaReserved", true, "QuotaReserved"),
            condition("Admitted", true, "Admitted")}}};
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

/// What no dispatcher should nominate.
Json Chaos::nonsense_of_nominations() {
  const std::string worker = any_worker()->name();
  switch (rng_.between(0, 4)) {
    case 0:
      did("a worker that does not exist is nominated");
      return {"nowhere", worker};
    case 1:
      did("nominations are taken back");
      return nullptr;
    case 2:
      did("a single worker is nominated");
      return Json::array({worker});
    case 3:
      did("a worker is nominated again and again");
      return Json(20, worker);
    default:
      did("names that no cluster may have are nominated");
      return {"", "../" + worker, "A worker\n", std::string(256, 'x')};
  }
}

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
        if (nonsense) names = nonsense_of_nominations();
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
          const char* wanted = !refuses ? "Ready" : rng_.chance(0.25) ? "Rejected" : "Retry";
          const bool said = check["state"] == "Retry" || check["state"] == "Rejected";
          if (check["state"] == wanted || (said && !over_)) continue;
          did(std::string_view(wanted) == "Ready"   ? "another check becomes Ready"
              : std::string_view(wanted) == "Retry" ? "another check says Retry"
                                                    : "another check rejects");
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

/// Users let what a check rejected go on, sooner or later.
Task<> Chaos::activate() {
  for (;;) {
    co_await deps_.around.world.sleep_for(500ms);
    for (SimCluster* hub : deps_.hubs) {
      for (const auto& workload : all_of(hub, workloads)) co_await perhaps_activate(hub, workload);
    }
  }
}

Task<> Chaos::perhaps_activate(SimCluster* hub, apiserver::StoredPtr workload) {
  const Json& value = workload->value();
  if (condition_reason(value, "Evicted") != "DeactivatedDueToAdmissionCheck") co_return;
  if (at_or_null(value.at("spec"), "active") != Json(false)) co_return;
  if (!right_ && !rng_.chance(0.05)) co_return;
  did("what was rejected is activated");
  const api::ObjectKey key(workload->ns(), workload->name());
  co_await hub->edit(api::Workload::resource, key, {{"spec", {{"active", true}}}});
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

/// So many admitted copies that no hub has sent that its brake on removals holds.
Task<> Chaos::make_up_copies(SimCluster* liar, SimCluster* hub) {
  const auto models = all_of(hub, workloads);
  if (models.empty()) co_return;
  for (int i = 0; i < 12; ++i) {
    const api::ObjectKey key(team, "made-up-" + hub->name() + "-" + std::to_string(i));
    const auto there = liar->server().store().find_shelf(workloads)->find(key.ns, key.name);
    if (there && condition_true(there->value(), "Admitted")) continue;
    Json fake = forged(*models.front());
    fake["metadata"]["name"] = key.name;
    fake["metadata"]["labels"] = {
        {"kueue.x-k8s.io/multikueue-origin", deps_.scenario.origins.at(hub->name())}};
    (void)co_await liar->admin().create_raw(api::Workload::resource, key.ns, dump_json(fake));
    co_await liar->edit(api::Workload::resource, key, {{"status", admitted_copy()}}, true);
  }
}

/// The liar says that it runs the job of that Workload, which it was never sent.
Task<> Chaos::keep_job(SimCluster* liar, SimCluster* hub, apiserver::StoredPtr workload,
                       bool copy) {
  apiserver::StoredPtr job;
  for (const auto& each : jobs_of(hub)) {
    if (uid_of(each->value()) == owner_uid_of(workload->value())) job = each;
  }
  if (!job) co_return;
  const KindOfJob& kind = kind_of(job->value());
  if (liar->server().store().find_shelf(kind.shelf)->find(job->ns(), job->name())) co_return;
  const Json origin = {
      {"kueue.x-k8s.io/multikueue-origin", deps_.scenario.origins.at(hub->name())}};
  if (copy) {
    Json fake = forged(*workload);
    fake["metadata"]["labels"] = origin;
    (void)co_await liar->admin().create_raw(api::Workload::resource, workload->ns(),
                                            dump_json(fake));
    co_await liar->edit(api::Workload::resource, api::ObjectKey(workload->ns(), workload->name()),
                        {{"status", admitted_copy()}}, true);
  }
  Json fake = forged_job(*job, workload->name());
  fake["metadata"]["labels"] = origin;
  fake[kind.suspend] = false;
  (void)co_await liar->admin().create_raw(kind.resource, job->ns(), dump_json(fake));
  const Json running = {{"status", running_job(job->value(), deps_.around.world.now())}};
  co_await liar->edit(kind.resource, api::ObjectKey(job->ns(), job->name()), running, true);
}

/// One worker has no manager and deletes nothing while there are faults. It makes up copies that
/// the hub's brake holds, and jobs of Workloads: of some while they race, of others, with a copy,
/// once another worker has them. The rest it leaves alone.
Task<> Chaos::keep() {
  SimCluster* liar = deps_.workers.back();
  enum { never, in_race, elsewhere };
  std::map<std::string, std::int64_t> moments;  // by uid of the Workload
  while (!over_) {
    co_await wait(5, 40);
    for (SimCluster* hub : deps_.hubs) {
      co_await make_up_copies(liar, hub);
      for (const auto& workload : all_of(hub, workloads)) {
        const Json& value = workload->value();
        if (condition_true(value, "Finished") || being_deleted(value)) continue;
        const auto [moment, is_new] = moments.try_emplace(uid_of(value), never);
        if (is_new) moment->second = rng_.between(never, elsewhere);
        const std::string recorded = cluster_name_of(value);
        const bool races = recorded.empty() && !condition_true(value, "Evicted");
        const bool away = !races && recorded != liar->name();
        const bool now =
            (races && moment->second == in_race) || (away && moment->second == elsewhere);
        if (now) co_await keep_job(liar, hub, workload, away);
      }
    }
  }
  co_await repent(liar);
}

/// A copy that was said to be Finished while its job goes on for ever would be waited for
/// (WaitingForLastStatus), until users of the worker remove that job.
Task<> Chaos::remove_forged_jobs(SimCluster* liar) {
  for (const auto& job : jobs_of(liar)) {
    if (!deps_.around.history.creator(uid_of(job->value())).empty()) continue;
    co_await liar->remove(kind_of(job->value()).resource, api::ObjectKey(job->ns(), job->name()));
  }
}

/// From now on the worker deletes what it is asked to, and it is no longer listed. Its copies stay
/// until all jobs have ended, since none may wait for that; then users allow their removal. A hub
/// that went back may have lost the record of a job that it did send: that waits for its user.
Task<> Chaos::repent(SimCluster* liar) {
  for (SimCluster* hub : deps_.hubs) {
    liar->link_from(hub->name()).keeps = false;
    unlisted_[hub->name()].insert(liar->name());
    co_await list_clusters(hub);
  }
  while (!right_) co_await wait(1000, 1000);
  if (has(Trouble::byzantine)) co_await remove_forged_jobs(liar);
  while (!has(Trouble::hub_restores) && !every_job_ended(deps_.around.history)) {
    co_await wait(1000, 1000);
  }
  const Json allow = {
      {"metadata", {{"annotations", {{"multikueue.regatta.dev/remove-vanished", "1000"}}}}}};
  const api::ObjectKey key(liar->name());
  for (SimCluster* hub : deps_.hubs) co_await hub->edit(cluster_resource, key, allow);
}

}  // namespace regatta::simtest
