#include "tests/sim/chaos.h"

#include "lib/base/json_access.h"
#include "lib/base/merge_patch.h"
#include "tests/sim/invariant.h"
#include "tests/sim/kinds.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

/// A link without faults still takes a few milliseconds, so that requests can overtake each other.
LinkFaults sound_link() {
  LinkFaults faults;
  faults.delay_min = Duration(1);
  faults.delay_max = Duration(15);
  return faults;
}

/// Makes a link sound; what ends by itself stays.
void mend(LinkFaults* link) {
  LinkFaults sound = sound_link();
  sound.partitioned = link->partitioned;
  sound.refuse_jobs = link->refuse_jobs;
  sound.refuse_copies = link->refuse_copies;
  sound.keeps = link->keeps;
  sound.refuse_statuses = link->refuse_statuses;
  *link = sound;
}

}  // namespace

Chaos::Chaos(ChaosDeps deps)
    : deps_(std::move(deps)), rng_(deps_.scenario.seed * 0x9E3779B97F4A7C15ull + 1) {
  for (SimCluster* worker : deps_.workers) addresses_[worker->name()] = worker->name() + ".sim";
  mend_links();
  if (has(Trouble::lasting_refusals)) {
    const auto refused = rng_.chance(0.3) ? &LinkFaults::refuse_copies : &LinkFaults::refuse_jobs;
    for (SimCluster* hub : deps_.hubs) {
      deps_.workers.front()->link_from(hub->name()).*refused = 403;
    }
  }
  if (has(Trouble::status_refusals)) {
    for (SimCluster* hub : deps_.hubs) hub->own_link->refuse_statuses = 0.5;
  }
  if (has(Trouble::garbage)) {
    for (SimCluster* hub : deps_.hubs) {
      deps_.workers.back()->link_from(hub->name()).garbage = rng_.chance(0.5) ? 0.02 : 0.3;
    }
  }
  if (has(Trouble::byzantine_keeps)) {
    for (SimCluster* hub : deps_.hubs) deps_.workers.back()->link_from(hub->name()).keeps = true;
  }
}

const std::vector<Chaos::Kind>& Chaos::kinds() {
  static const std::vector<Kind> all = {
      {Trouble::crashes, 3, &Chaos::crash_hub},
      {Trouble::crashes, 2, &Chaos::crash_worker},
      {Trouble::partitions, 3, &Chaos::partition},
      {Trouble::noise, 4, &Chaos::noise},
      {Trouble::late, 3, &Chaos::late},
      {Trouble::deletions, 1, &Chaos::delete_job},
      {Trouble::vandals, 2, &Chaos::vandalise},
      {Trouble::recreations, 3, &Chaos::recreate_job},
      {Trouble::pauses, 3, &Chaos::pause_hub},
      {Trouble::clock_steps, 2, &Chaos::step_clock},
      {Trouble::restores, 2, &Chaos::restore_worker},
      {Trouble::hub_restores, 1, &Chaos::restore_hub},
      {Trouble::deactivation, 3, &Chaos::deactivate},
      {Trouble::stop_policies, 2, &Chaos::stop_queue},
      {Trouble::edits, 3, &Chaos::edit_job},
      {Trouble::elastic, 6, &Chaos::scale_job},
      {Trouble::configs, 3, &Chaos::change_config},
      {Trouble::second_names, 3, &Chaos::name_again},
      {Trouble::check_swaps, 2, &Chaos::swap_check},
      {Trouble::addresses, 2, &Chaos::move_server},
      {Trouble::refusals, 3, &Chaos::refuse_jobs},
      {Trouble::rotations, 3, &Chaos::replace_token},
      {Trouble::out_of_sync, 3, &Chaos::change_remote_job},
      {Trouble::foreign, 3, &Chaos::foreign_job},
      {Trouble::worker_evictions, 3, &Chaos::deactivate_copy},
      {Trouble::newer_objects, 5, &Chaos::newer_object},
  };
  return all;
}

const std::vector<std::string>& all_deeds() {
  static const std::vector<std::string> all = {
      "a worker's manager ends",
      "a hub's manager ends",
      "a standby ends",
      "a hub's manager is paused",
      "a worker is cut off",
      "a link is noisy",
      "writes are late",
      "a worker refuses copies",
      "a worker refuses jobs",
      "a clock steps",
      "a hub is restored",
      "a worker is restored, its versions go on",
      "a worker is restored",
      "a worker's job is deleted",
      "a copy is deleted",
      "a worker's job gets another size",
      "a worker has a job of that name",
      "a copy is deactivated",
      "a worker is lost",
      "a namespace comes late",
      "a hub's object is of a newer version",
      "a worker's object is of a newer version",
      "a job is deleted",
      "a job is submitted again",
      "a Workload is deactivated",
      "the queue is drained",
      "the queue is held",
      "a Job gets another size",
      "a job gets another priority",
      "an elastic Job gets another size",
      "the MultiKueueConfig is deleted",
      "a worker is unlisted",
      "a worker gets a second name",
      "a MultiKueueCluster is deleted",
      "a kubeconfig vanishes",
      "the check is deleted",
      "the check is exchanged",
      "the check is taken off the queue",
      "a token is refused before it is replaced",
      "a token is replaced in time",
      "an API server moves",
      "a worker that does not exist is nominated",
      "nominations are taken back",
      "a single worker is nominated",
      "a worker is nominated again and again",
      "names that no cluster may have are nominated",
      "another check becomes Ready",
      "another check says Retry",
      "another check rejects",
      "what was rejected is activated",
  };
  return all;
}

void Chaos::mend_links() {
  for (SimCluster* hub : deps_.hubs) mend(hub->own_link.get());
  for (SimCluster* worker : deps_.workers) {
    mend(worker->own_link.get());
    for (SimCluster* hub : deps_.hubs) mend(&worker->link_from(hub->name()));
  }
}

void Chaos::start() {
  deps_.scope.spawn("supervisor", supervise());
  deps_.scope.spawn("chaos", run());
  if (has(Trouble::external)) deps_.scope.spawn("nominations", nominate());
  if (has(Trouble::other_checks)) deps_.scope.spawn("other checks", answer_other_checks());
  if (has(Trouble::other_checks) || has(Trouble::give_ups)) {
    deps_.scope.spawn("activations", activate());
  }
  if (has(Trouble::losses)) deps_.scope.spawn("loss", lose_worker());
  if (has(Trouble::namespaces)) deps_.scope.spawn("namespace", add_namespace());
  if (has(Trouble::byzantine)) {
    deps_.scope.spawn("lies", lie());
    deps_.scope.spawn("claims", claim_ends());
  }
  if (has(Trouble::byzantine_keeps)) deps_.scope.spawn("keeps", keep());
}

Task<> Chaos::run() {
  std::vector<Action> actions(2, &Chaos::compact_or_rotate);
  for (const Kind& kind : kinds()) {
    if (has(kind.trouble)) actions.insert(actions.end(), std::size_t(kind.weight), kind.action);
  }
  const SteadyPoint end = deps_.around.world.steady() + deps_.scenario.faults_end;
  while (deps_.around.world.steady() < end) {
    co_await wait(200, 5000);
    const auto chosen = std::size_t(rng_.between(0, std::int64_t(actions.size()) - 1));
    ++under_way_;
    deps_.scope.spawn("trouble", one(actions[chosen]));
  }
  mend_links();
  if (has(Trouble::garbage)) co_await restart_server(deps_.workers.back());
  for (SimCluster* hub : deps_.hubs) hub->own_link->refuse_statuses = 0;
  over_ = true;
  while (under_way_ > 0) co_await deps_.around.world.sleep_for(100ms);
  co_await set_right();
  right_ = true;
}

/// A hub that went back to an older state has lost what users put back since.
Task<> Chaos::set_right() {
  for (SimCluster* worker : deps_.workers) co_await make_all_known(worker);
  for (SimCluster* hub : deps_.hubs) {
    co_await make_all_known(hub);
    for (SimCluster* worker : deps_.workers) {
      co_await hub->apply(make_cluster(worker->name()));
      if (has(Trouble::second_names)) co_await forget_name(hub, worker);
      co_await write_secret(hub, worker);
    }
    co_await list_clusters(hub);
    for (const char* name : multikueue_checks) co_await hub->apply(multikueue_check(name));
    Json checks = Json::array({{{"name", "multikueue"}}});
    if (has(Trouble::other_checks)) checks.push_back({{"name", "other"}});
    const Json queue = {
        {"spec",
         {{"stopPolicy", "None"}, {"admissionChecksStrategy", {{"admissionChecks", checks}}}}}};
    const api::ObjectKey name("cq");
    co_await hub->edit(queue_resource, name, queue);
    const Json on = {{"spec", {{"active", true}}}};
    const auto all = hub->server().store().find_shelf(workloads)->objects();
    for (const auto& [key, workload] : all) {
      if (at_or_null(workload->value().at("spec"), "active") != Json(false)) continue;
      const api::ObjectKey which(workload->ns(), workload->name());
      co_await hub->edit(api::Workload::resource, which, on);
    }
  }
}

/// An API server that answered anything is exchanged: every connection to it ends, it knows no old
/// versions, and in the end it gets new credentials and another address, so that its hubs begin
/// anew.
Task<> Chaos::restart_server(SimCluster* worker) {
  worker->server().compact();
  for (SimCluster* hub : deps_.hubs) worker->link_from(hub->name()).cut_watch = 1;
  co_await wait(90000, 90000);
  move(worker);
  for (SimCluster* hub : deps_.hubs) {
    worker->link_from(hub->name()).cut_watch = 0;
    ++generations_[hub->name() + " " + worker->name()];
    co_await write_secret(hub, worker);
  }
}

Task<> Chaos::one(Action action) {
  ++counts_.actions;
  co_await (this->*action)();
  --under_way_;
  if (over_) mend_links();
}

void Chaos::did(const char* what) {
  ++counts_.deeds[what];
  deps_.around.history.note(what);
}

Task<> Chaos::wait(std::int64_t low, std::int64_t high) {
  co_await deps_.around.world.sleep_for(some(low, high));
}

SimCluster* Chaos::any_worker() {
  return deps_.workers[std::size_t(rng_.between(0, std::int64_t(deps_.workers.size()) - 1))];
}

SimCluster* Chaos::any_hub() {
  return deps_.hubs[std::size_t(rng_.between(0, std::int64_t(deps_.hubs.size()) - 1))];
}

std::size_t Chaos::any_slot() {
  return has(Trouble::standby) && rng_.chance(0.5) ? 1 : 0;
}

apiserver::StoredPtr Chaos::any_object(SimCluster* cluster, const char* resource) {
  const apiserver::Shelf* shelf = cluster->server().store().find_shelf(resource);
  if (!shelf || shelf->objects().empty()) return nullptr;
  auto chosen = shelf->objects().begin();
  std::advance(chosen, rng_.between(0, std::int64_t(shelf->objects().size()) - 1));
  return chosen->second;
}

std::vector<apiserver::StoredPtr> Chaos::jobs_of(SimCluster* cluster) const {
  std::vector<apiserver::StoredPtr> all;
  deps_.around.history.each_job(cluster->name(),
                                [&](const apiserver::StoredPtr& job) { all.push_back(job); });
  return all;
}

apiserver::StoredPtr Chaos::any_job(SimCluster* cluster) {
  const auto all = jobs_of(cluster);
  if (all.empty()) return nullptr;
  return all[std::size_t(rng_.between(0, std::int64_t(all.size()) - 1))];
}

// --- processes and links ---

/// Managers that ended by themselves are started again, as a Deployment does.
Task<> Chaos::supervise() {
  for (;;) {
    co_await deps_.around.world.sleep_for(1s);
    for (SimCluster* hub : deps_.hubs) {
      for (std::size_t slot = 0; slot < 2; ++slot) {
        if (!hub->manager_ended(slot)) continue;
        hub->crash_manager(slot);
        deps_.start(hub, slot);
      }
    }
  }
}

Task<> Chaos::crash(SimCluster* cluster, std::size_t slot) {
  if (!cluster->manager_alive(slot)) co_return;
  ++counts_.crashes;
  const bool hub = deps_.scenario.origins.contains(cluster->name());
  did(!hub ? "a worker's manager ends" : slot == 0 ? "a hub's manager ends" : "a standby ends");
  cluster->crash_manager(slot);
  co_await wait(10, 8000);
  deps_.start(cluster, slot);
}

Task<> Chaos::crash_hub() {
  co_await crash(any_hub(), any_slot());
}

Task<> Chaos::crash_worker() {
  SimCluster* worker = any_worker();
  if (worker->name() != deps_.scenario.liar) co_await crash(worker, 0);
}

Task<> Chaos::pause_hub() {
  SimCluster* hub = any_hub();
  const std::size_t slot = any_slot();
  did("a hub's manager is paused");
  hub->pause(slot);
  co_await wait(1000, 40000);
  hub->resume(slot);
}

Task<> Chaos::partition() {
  ++counts_.partitions;
  SimCluster* worker = any_worker();
  LinkFaults& link = worker->link_from(any_hub()->name());
  if (link.partitioned) co_return;
  did("a worker is cut off");
  link.partitioned = true;
  co_await wait(500, 40000);
  if (worker->name() != lost_) link.partitioned = false;
}

Task<> Chaos::noise() {
  const auto most = [&](double limit) { return rng_.chance(0.5) ? 0 : rng_.unit() * limit; };
  LinkFaults* link = any_worker()->own_link.get();
  did("a link is noisy");
  const auto which = rng_.between(0, 3);
  if (which == 0) link = any_hub()->own_link.get();
  if (which == 1) link = &any_worker()->link_from(any_hub()->name());
  link->drop_before = most(0.15);
  link->lose_reply = most(0.15);
  link->hang_reply = most(0.03);
  link->conflict = most(0.1);
  link->gone = most(0.1);
  link->too_many = most(0.1);
  link->server_error = most(0.1);
  link->cut_watch = most(0.1);
  link->half_open_watch = most(0.01);
  link->gone_in_watch = most(0.05);
  link->delay_max = some(5, 400);
  co_return;
}

Task<> Chaos::late() {
  LinkFaults& link =
      rng_.chance(0.3) ? *any_hub()->own_link : any_worker()->link_from(any_hub()->name());
  did("writes are late");
  link.late = 0.05 + rng_.unit() * 0.2;
  link.late_max = some(1000, 60000);
  co_await wait(1000, 20000);
  link.late = 0;
}

Task<> Chaos::refuse_jobs() {
  const unsigned answers[] = {403, 422, 500};
  LinkFaults& link = any_worker()->link_from(any_hub()->name());
  const bool copies = rng_.chance(0.3);
  unsigned& answer = copies ? link.refuse_copies : link.refuse_jobs;
  if (answer != 0) co_return;
  did(copies ? "a worker refuses copies" : "a worker refuses jobs");
  answer = answers[rng_.between(0, 2)];
  co_await wait(2000, 30000);
  answer = 0;
}

Task<> Chaos::step_clock() {
  SimCluster* cluster = rng_.chance(0.5) ? any_hub() : any_worker();
  const Duration by = some(1000, 300000);
  did("a clock steps");
  const bool forward = rng_.chance(0.5);
  cluster->step_clock(forward ? by : -by);
  if (!forward) counts_.set_back += by;
  deps_.around.history.note("the clock of " + cluster->name() + " steps");
  co_return;
}

/// Processes that know versions which do not exist any more are started anew, as the documentation
/// of Kubernetes asks for it. When versions go on instead, they learn the older state themselves.
Task<> Chaos::restore(SimCluster* cluster, bool versions_go_on) {
  if (!busy_.insert("store of " + cluster->name()).second) co_return;
  apiserver::Store& store = cluster->server().store();
  const auto before = store.snapshot();
  const bool old = rng_.chance(0.3);
  co_await wait(old ? 15000 : 2000, old ? 60000 : 15000);
  std::vector<SimCluster*> concerned = {cluster};
  const bool worker =
      std::find(deps_.workers.begin(), deps_.workers.end(), cluster) != deps_.workers.end();
  if (worker) concerned.insert(concerned.end(), deps_.hubs.begin(), deps_.hubs.end());
  if (versions_go_on) concerned.clear();
  did(!worker          ? "a hub is restored"
      : versions_go_on ? "a worker is restored, its versions go on"
                       : "a worker is restored");
  for (SimCluster* one : concerned) one->crash_all();
  using Versions = apiserver::Store::Versions;
  store.go_back(before, versions_go_on ? Versions::go_on : Versions::go_back);
  deps_.around.history.went_back(cluster->name());
  cluster->restart_infrastructure();
  if (!concerned.empty()) co_await wait(10, 8000);
  for (SimCluster* one : concerned) {
    if (one->name() == deps_.scenario.liar) continue;
    deps_.start(one, 0);
    if (one != cluster || !worker) {
      if (has(Trouble::standby)) deps_.start(one, 1);
    }
  }
  busy_.erase("store of " + cluster->name());
}

Task<> Chaos::restore_worker() {
  SimCluster* worker = any_worker();
  co_await restore(worker, rng_.chance(0.5));
}

Task<> Chaos::restore_hub() {
  // Managers of a hub are stopped before it is restored: docs/operations.md.
  co_await restore(any_hub(), false);
}

// --- users of workers ---

/// A user of the worker deletes objects that a hub created there.
Task<> Chaos::vandalise() {
  SimCluster* worker = any_worker();
  const bool job = rng_.chance(0.5);
  const auto chosen = job ? any_job(worker) : any_object(worker, workloads);
  if (!chosen) co_return;
  did(job ? "a worker's job is deleted" : "a copy is deleted");
  const api::ResourceInfo resource =
      job ? kind_of(chosen->value()).resource : api::Workload::resource;
  co_await worker->remove(resource, api::ObjectKey(chosen->ns(), chosen->name()));
}

/// A user of the worker changes a Job, so that it is no longer the one that was admitted.
Task<> Chaos::change_remote_job() {
  SimCluster* worker = any_worker();
  const auto job = any_job(worker);
  if (!job || deps_.around.history.creator(uid_of(job->value())).empty()) co_return;
  Json changed = job->value();
  const auto& sizes = kind_of(changed).sizes;
  const auto size = std::find_if(sizes.begin(), sizes.end(),
                                 [&](const auto& path) { return changed.contains(path); });
  if (size == sizes.end() || changed.at(*size) == 0) co_return;
  did("a worker's job gets another size");
  changed.at(*size) = changed.at(*size).get<std::int64_t>() - 1;
  const Json patch = merge_patch_between(job->value(), changed);
  co_await worker->edit(kind_of(job->value()).resource, api::ObjectKey(job->ns(), job->name()),
                        patch);
}

/// A user of the worker has a Job of the same name as one of a hub.
Task<> Chaos::foreign_job() {
  SimCluster* worker = any_worker();
  const auto model = any_job(any_hub());
  if (!model || worker->name() == deps_.scenario.liar) co_return;
  const KindOfJob& kind = kind_of(model->value());
  Json job = submitted_again(*model);
  job["metadata"].erase("labels");
  job["metadata"]["annotations"] = {{"sandbox.regatta.dev/run-seconds", "20"}};
  job.at(kind.suspend.parent_pointer()).erase(kind.suspend.back());
  job.at(kind.managed_by.parent_pointer()).erase(kind.managed_by.back());
  if (kind.resource.kind == "Job") job["spec"] = {{"template", job["spec"]["template"]}};
  const Result<std::string> created =
      co_await worker->admin().create_raw(kind.resource, model->ns(), dump_json(job));
  if (!created) co_return;
  did("a worker has a job of that name");
  co_await wait(2000, 30000);
  const auto there =
      worker->server().store().find_shelf(kind.shelf)->find(model->ns(), model->name());
  if (!there || !origin_of(there->value()).empty()) co_return;
  co_await worker->remove(kind.resource, api::ObjectKey(model->ns(), model->name()));
}

/// A user of the worker deactivates the copy of a Workload there.
Task<> Chaos::deactivate_copy() {
  SimCluster* worker = any_worker();
  const auto copy = any_object(worker, workloads);
  if (!copy || deps_.around.history.creator(uid_of(copy->value())).empty()) co_return;
  did("a copy is deactivated");
  const Json off = {{"spec", {{"active", false}}}};
  co_await worker->edit(api::Workload::resource, api::ObjectKey(copy->ns(), copy->name()), off);
}

/// One worker goes away and comes back when everything has ended without it.
Task<> Chaos::lose_worker() {
  SimCluster* worker = deps_.workers.front();
  co_await wait(5000, 60000);
  did("a worker is lost");
  lost_ = worker->name();
  for (SimCluster* hub : deps_.hubs) worker->link_from(hub->name()).partitioned = true;
  while (!over_ || !every_job_ended(deps_.around.history)) co_await wait(1000, 1000);
  for (SimCluster* hub : deps_.hubs) worker->link_from(hub->name()).partitioned = false;
}

/// One worker was set up without the namespace of the Jobs.
Task<> Chaos::add_namespace() {
  SimCluster* worker = deps_.workers[1];
  co_await wait(5000, 60000);
  did("a namespace comes late");
  co_await worker->apply(make_object("v1", "Namespace", team));
  co_await worker->apply(make_kueue("LocalQueue", "default", {{"clusterQueue", "cq"}}, team));
}

// --- managers of several versions ---

namespace {

/// Those whose conditions another program may write.
const api::ResourceInfo with_conditions[] = {api::Workload::resource, cluster_resource,
                                             api::AdmissionCheck::resource};

const apiserver::Shelf* shelf_of(SimCluster* cluster, const api::ResourceInfo& resource) {
  return cluster->server().store().find_shelf(resource.group_resource());
}

/// The status, of that version of the object, with a condition that this version cannot decode or
/// without it.
Json with_newer(const apiserver::Stored& object, bool newer) {
  Json conditions = at_or_null(at_or_null(object.value(), "status"), "conditions");
  if (!conditions.is_array()) conditions = Json::array();
  std::erase_if(conditions.get_ref<Json::array_t&>(),
                [](const Json& one) { return one["type"] == newer_condition; });
  if (newer) {
    conditions.push_back({{"type", newer_condition},
                          {"status", "Perhaps"},
                          {"reason", "Newer"},
                          {"message", ""},
                          {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
  }
  return {{"metadata", {{"resourceVersion", std::to_string(object.version())}}},
          {"status", {{"conditions", std::move(conditions)}}}};
}

}  // namespace

/// A program of a newer version writes into an object what this one cannot decode, and takes it
/// back after a while.
Task<> Chaos::newer_object() {
  SimCluster* cluster = rng_.chance(0.5) ? any_hub() : any_worker();
  const std::int64_t drawn = rng_.between(0, 9);
  const bool of_hub = deps_.scenario.origins.contains(cluster->name());
  const api::ResourceInfo resource = with_conditions[!of_hub || drawn < 7 ? 0 : drawn < 9 ? 1 : 2];
  const std::string shelf = resource.group_resource();
  const apiserver::StoredPtr chosen = any_object(cluster, shelf.c_str());
  if (!chosen) co_return;
  const api::ObjectKey key(chosen->ns(), chosen->name());
  const std::string what = cluster->name() + " " + shelf + " " + key.str();
  if (!busy_.insert(what).second) co_return;
  did(of_hub ? "a hub's object is of a newer version" : "a worker's object is of a newer version");
  deps_.around.history.becomes_unreadable(cluster->name(), key);
  co_await cluster->edit(resource, key, with_newer(*chosen, true), true);
  co_await wait(100, 25000);
  co_await make_known(cluster, resource, key);
  deps_.around.history.becomes_readable(cluster->name(), key);
  busy_.erase(what);
}

Task<> Chaos::make_known(SimCluster* cluster, api::ResourceInfo resource, api::ObjectKey key) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const apiserver::StoredPtr object = shelf_of(cluster, resource)->find(key.ns, key.name);
    if (!object || !is_newer(object->value())) co_return;
    co_await cluster->edit(resource, key, with_newer(*object, false), true);
  }
}

/// A cluster that went back to an older state may have such objects again.
Task<> Chaos::make_all_known(SimCluster* cluster) {
  for (const api::ResourceInfo& resource : with_conditions) {
    std::vector<api::ObjectKey> newer;
    for (const auto& [name, object] : shelf_of(cluster, resource)->objects()) {
      if (is_newer(object->value())) newer.emplace_back(object->ns(), object->name());
    }
    for (const api::ObjectKey& key : newer) co_await make_known(cluster, resource, key);
  }
}

}  // namespace regatta::simtest
