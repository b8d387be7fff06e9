#include "lib/base/json_access.h"
#include "tests/sim/chaos.h"
#include "tests/sim/kinds.h"
#include "tests/sim/objects.h"

#include <nlohmann/json.hpp>

#include <algorithm>

/// What users of a hub do: to their jobs, to its queue, and to what leads to workers.
namespace regatta::simtest {
namespace {

api::ResourceInfo resource_of(const apiserver::Stored& job) {
  return kind_of(job.value()).resource;
}

}  // namespace

Task<> Chaos::delete_job() {
  SimCluster* hub = any_hub();
  const auto job = any_job(hub);
  if (!job) co_return;
  did("a job is deleted");
  co_await hub->remove(resource_of(*job), api::ObjectKey(job->ns(), job->name()));
}

/// The Job that ended last; null when none has.
apiserver::StoredPtr Chaos::last_ended(SimCluster* hub) const {
  apiserver::StoredPtr last;
  for (const apiserver::StoredPtr& job : jobs_of(hub)) {
    if (outcome_of(job->value()).empty()) continue;
    if (!last || job->version() > last->version()) last = job;
  }
  return last;
}

/// A job that a write is still on its way to; null when there is none.
apiserver::StoredPtr Chaos::job_with_a_late_write(SimCluster* hub) const {
  for (const apiserver::StoredPtr& job : jobs_of(hub)) {
    const std::string path = resource_of(*job).path(job->ns(), job->name());
    if (deps_.around.history.awaits_write(hub->name(), path)) return job;
  }
  return nullptr;
}

Json Chaos::submitted_again(const apiserver::Stored& job) const {
  const Json& given = job.value();
  for (const auto& [hub, list] : deps_.scenario.jobs) {
    for (const JobSpec& spec : list) {
      if (title_of(spec) != title_of(given)) continue;
      Json again = job_of(spec);
      for (const char* field : {"labels", "annotations"}) {
        again["metadata"][field] = at_or_null(given.at("metadata"), field);
      }
      return again;
    }
  }
  return Json();
}

/// A user deletes a job and submits it once more, under the same name.
Task<> Chaos::recreate_job() {
  SimCluster* hub = any_hub();
  auto model = rng_.chance(0.5) ? last_ended(hub) : any_job(hub);
  // What was meant for the job before must not reach the one that is made now.
  if (const auto awaited = job_with_a_late_write(hub)) model = awaited;
  if (!model) co_return;
  const api::ResourceInfo resource = resource_of(*model);
  const std::string again = dump_json(submitted_again(*model));
  co_await hub->remove(resource, api::ObjectKey(model->ns(), model->name()));
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto made = co_await hub->admin().create_raw(resource, model->ns(), again);
    if (made) did("a job is submitted again");
    if (made || made.error().code() != Errc::already_exists) co_return;
    co_await wait(50, 500);
  }
}

Task<> Chaos::deactivate() {
  SimCluster* hub = any_hub();
  const auto chosen = any_object(hub, workloads);
  if (!chosen) co_return;
  did("a Workload is deactivated");
  const api::ObjectKey key(chosen->ns(), chosen->name());
  const Json off = {{"spec", {{"active", false}}}};
  co_await hub->edit(api::Workload::resource, key, off);
  co_await wait(500, 15000);
  const Json on = {{"spec", {{"active", true}}}};
  co_await hub->edit(api::Workload::resource, key, on);
}

Task<> Chaos::stop_queue() {
  SimCluster* hub = any_hub();
  const api::ObjectKey key("cq");
  const bool drain = rng_.chance(0.6);
  did(drain ? "the queue is drained" : "the queue is held");
  const Json stop = {{"spec", {{"stopPolicy", drain ? "HoldAndDrain" : "Hold"}}}};
  co_await hub->edit(queue_resource, key, stop);
  co_await wait(1000, 15000);
  const Json go = {{"spec", {{"stopPolicy", "None"}}}};
  co_await hub->edit(queue_resource, key, go);
}

/// A Job of a fixed size gets another one, which is another Job to its worker.
Task<> Chaos::resize_job(SimCluster* hub) {
  auto all = jobs_of(hub);
  std::erase_if(all, [](const apiserver::StoredPtr& job) {
    const bool plain = job->value().value("kind", "") == "Job" && !is_elastic(job->value());
    return !plain || !outcome_of(job->value()).empty();
  });
  if (all.empty()) co_return;
  const auto job = all[std::size_t(rng_.between(0, std::int64_t(all.size()) - 1))];
  did("a Job gets another size");
  const Json patch = {{"spec", {{"parallelism", rng_.between(1, 3)}}}};
  co_await hub->edit(resource_of(*job), api::ObjectKey(job->ns(), job->name()), patch);
}

Task<> Chaos::edit_job() {
  SimCluster* hub = any_hub();
  if (rng_.chance(0.3)) {
    co_await resize_job(hub);
    co_return;
  }
  const auto job = any_job(hub);
  if (!job) co_return;
  did("a job gets another priority");
  const Json patch = {
      {"metadata",
       {{"labels",
         {{"kueue.x-k8s.io/priority-class", rng_.chance(0.5) ? "important" : "ordinary"}}}}}};
  co_await hub->edit(resource_of(*job), api::ObjectKey(job->ns(), job->name()), patch);
}

/// A user gives an elastic Job another size.
Task<> Chaos::scale_job() {
  SimCluster* hub = any_hub();
  auto all = jobs_of(hub);
  std::erase_if(all, [](const apiserver::StoredPtr& job) {
    return !is_elastic(job->value()) || !outcome_of(job->value()).empty();
  });
  if (all.empty()) co_return;
  const auto job = all[std::size_t(rng_.between(0, std::int64_t(all.size()) - 1))];
  did("an elastic Job gets another size");
  const Json patch = {{"spec", {{"parallelism", rng_.between(1, 5)}}}};
  co_await hub->edit(resource_of(*job), api::ObjectKey(job->ns(), job->name()), patch);
}

/// Writes the MultiKueueConfig without what is unlisted now.
Task<> Chaos::list_clusters(SimCluster* hub) {
  Json names = Json::array();
  for (SimCluster* worker : deps_.workers) {
    if (unlisted_[hub->name()].contains(worker->name())) continue;
    names.push_back(worker->name());
    const bool twice = named_again_.contains(hub->name() + " " + worker->name());
    if (twice) names.push_back(second_name_of(worker->name()));
  }
  const Json spec = {{"clusters", names}};
  const Json patch = {{"spec", spec}};
  const api::ObjectKey key("all");
  co_await hub->edit(config_resource, key, patch);
  // A large fleet has labels instead, because the API allows no more than twenty names.
  if (!deps_.scenario.large()) co_await hub->apply(make_kueue("MultiKueueConfig", "all", spec));
}

/// A user deletes the MultiKueueConfig, and creates it again.
Task<> Chaos::lose_config(SimCluster* hub) {
  const std::string what = "config of " + hub->name();
  if (!busy_.insert(what).second) co_return;
  did("the MultiKueueConfig is deleted");
  const api::ObjectKey key("all");
  co_await hub->remove(config_resource, key);
  co_await wait(1000, 20000);
  co_await list_clusters(hub);
  busy_.erase(what);
}

Task<> Chaos::change_config() {
  SimCluster* hub = any_hub();
  SimCluster* worker = any_worker();
  const std::string what = hub->name() + " " + worker->name();
  if (!busy_.insert(what).second) co_return;
  const auto which = rng_.between(0, 3);
  const api::ObjectKey secret("kueue-system", worker->name() + "-kubeconfig");
  const api::ObjectKey cluster(worker->name());
  if (which == 0 && unlisted_[hub->name()].empty()) {
    did("a worker is unlisted");
    unlisted_[hub->name()].insert(worker->name());
    co_await list_clusters(hub);
    co_await wait(1000, 20000);
    // A worker that lies may be unlisted for good meanwhile.
    auto& unlisted = unlisted_[hub->name()];
    unlisted.erase(unlisted.find(worker->name()));
    co_await list_clusters(hub);
  } else if (which == 3) {
    co_await lose_config(hub);
  } else if (which == 1) {
    did("a MultiKueueCluster is deleted");
    co_await hub->remove(cluster_resource, cluster);
    co_await wait(1000, 20000);
    co_await hub->apply(make_cluster(worker->name()));
  } else {
    did("a kubeconfig vanishes");
    const Json empty = {{"data", nullptr}};
    co_await hub->edit(api::Secret::resource, secret, empty);
    co_await wait(1000, 20000);
    co_await write_secret(hub, worker);
  }
  busy_.erase(what);
}

/// A user deletes the check of MultiKueue, and creates it again.
Task<> Chaos::lose_check(SimCluster* hub) {
  const std::string what = "checks of " + hub->name();
  if (!busy_.insert(what).second) co_return;
  did("the check is deleted");
  const api::ObjectKey key(multikueue_checks[0]);
  co_await hub->remove(api::AdmissionCheck::resource, key);
  co_await wait(1000, 10000);
  co_await hub->apply(multikueue_check());
  busy_.erase(what);
}

namespace {

/// The checks of a queue, with the other one that sends workloads to workers.
Json exchanged(Json strategy) {
  for (Json& check : strategy["admissionChecks"]) {
    Json& name = check["name"];
    if (!sends_to_workers(name.get<std::string>())) continue;
    name = multikueue_checks[name == multikueue_checks[0] ? 1 : 0];
  }
  return strategy;
}

}  // namespace

Task<> Chaos::swap_check() {
  SimCluster* hub = any_hub();
  if (rng_.chance(0.3)) {
    co_await lose_check(hub);
    co_return;
  }
  const auto queue =
      hub->server().store().find_shelf("clusterqueues.kueue.x-k8s.io")->find("", "cq");
  const Json checks = at_or_null(queue->value().at("spec"), "admissionChecksStrategy");
  // A hub may have been restored to a state without checks; set_right() puts them back.
  if (checks.is_null() || !busy_.insert("checks of " + hub->name()).second) co_return;
  const Json before = {{"spec", {{"admissionChecksStrategy", checks}}}};
  const bool exchange = rng_.chance(0.5);
  did(exchange ? "the check is exchanged" : "the check is taken off the queue");
  const Json after = exchange ? exchanged(checks) : Json();
  const api::ObjectKey key("cq");
  co_await hub->edit(queue_resource, key, {{"spec", {{"admissionChecksStrategy", after}}}});
  co_await wait(1000, exchange ? 30000 : 10000);
  co_await hub->edit(queue_resource, key, before);
  // One that was deleted while the queue had it went when the queue no longer did.
  co_await hub->apply(multikueue_check());
  busy_.erase("checks of " + hub->name());
}

Task<> Chaos::write_secret(SimCluster* hub, SimCluster* worker) {
  const std::string& name = worker->name();
  const std::string both = hub->name() + " " + name;
  std::vector<std::string> names = {name};
  if (named_again_.contains(both)) names.push_back(second_name_of(name));
  for (const std::string& one : names) {
    const Json secret = make_secret(one, addresses_[name], deps_.ca, generations_[both]);
    const Json patch = {{"data", secret["data"]}};
    const api::ObjectKey key("kueue-system", one + "-kubeconfig");
    co_await hub->edit(api::Secret::resource, key, patch);
  }
}

/// A worker is registered once more, under another name, for a while or as long as there are
/// faults.
Task<> Chaos::name_again() {
  SimCluster* hub = any_hub();
  SimCluster* worker = any_worker();
  const std::string both = hub->name() + " " + worker->name();
  // Of what was made through the other name, each of the two knows only what that server says.
  if (worker->name() == deps_.scenario.garbled) co_return;
  if (!named_again_.insert(both).second) co_return;
  did("a worker gets a second name");
  const std::string name = second_name_of(worker->name());
  co_await hub->apply(make_secret(name, addresses_[worker->name()], deps_.ca, generations_[both]));
  co_await hub->apply(make_cluster(name));
  co_await list_clusters(hub);
  co_await wait(1000, 60000);
  co_await forget_name(hub, worker);
}

/// Its Workloads are given up.
Task<> Chaos::forget_name(SimCluster* hub, SimCluster* worker) {
  named_again_.erase(hub->name() + " " + worker->name());
  const std::string name = second_name_of(worker->name());
  co_await list_clusters(hub);
  const api::ObjectKey cluster(name), secret("kueue-system", name + "-kubeconfig");
  co_await hub->remove(cluster_resource, cluster);
  co_await hub->remove(api::Secret::resource, secret);
}

Task<> Chaos::compact_or_rotate() {
  SimCluster* worker = any_worker();
  if (rng_.chance(0.5)) {
    worker->server().compact();
    co_return;
  }
  SimCluster* hub = any_hub();
  const std::string what = hub->name() + " " + worker->name();
  if (busy_.contains(what)) co_return;
  ++generations_[what];
  co_await write_secret(hub, worker);
}

/// A hub gets a new token for a worker, sometime before the worker refuses the old one or after.
Task<> Chaos::replace_token() {
  SimCluster* hub = any_hub();
  SimCluster* worker = any_worker();
  const std::string what = hub->name() + " " + worker->name();
  if (!busy_.insert(what).second) co_return;
  const std::string old = token_of(generations_[what]++);
  const bool too_late = rng_.chance(0.5);
  did(too_late ? "a token is refused before it is replaced" : "a token is replaced in time");
  if (too_late) {
    deps_.around.history.refuse(hub->name(), worker->name(), old);
    co_await wait(100, 20000);
  }
  co_await write_secret(hub, worker);
  if (!too_late) {
    co_await wait(0, 5000);
    deps_.around.history.refuse(hub->name(), worker->name(), old);
  }
  busy_.erase(what);
}

void Chaos::move(SimCluster* worker) {
  const std::string& name = worker->name();
  addresses_[name] = addresses_[name] == name + ".sim" ? name + "-b.sim" : name + ".sim";
}

Task<> Chaos::move_server() {
  SimCluster* worker = any_worker();
  const std::string& name = worker->name();
  did("an API server moves");
  move(worker);
  for (SimCluster* hub : deps_.hubs) {
    if (!busy_.contains(hub->name() + " " + name)) co_await write_secret(hub, worker);
  }
}

}  // namespace regatta::simtest
