#include "bench/federation.h"

#include "bench/objects.h"
#include "lib/api/cluster_queue.h"
#include "lib/api/multikueue.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace regatta::bench {
namespace {

constexpr Duration health_poll{50};

/// Whether so many objects of a kind are there, and each is Active.
template <class Kind>
Task<bool> all_active(Cluster& cluster, std::size_t count) {
  const auto listed = co_await cluster.client().list<Kind>();
  if (!listed || listed->size() != count) co_return false;
  co_return std::ranges::all_of(
      *listed, [](const Kind& one) { return api::is_true(one.status.conditions, "Active"); });
}

/// What Kueue's manager is told of the dispatcher. Regatta's reads it from the check, and those
/// that only Regatta has are not Kueue's.
std::string dispatcher_lines(const Ground& ground, const std::string& dispatcher) {
  if (ground.kueue.empty() || !dispatcher.starts_with("kueue.x-k8s.io/")) return "";
  return "multiKueue:\n  dispatcherName: " + dispatcher + "\n";
}

}  // namespace

Task<Result<std::unique_ptr<Federation>>> Federation::start(Ground ground,
                                                            FederationOptions options) {
  auto federation = std::make_unique<Federation>();
  for (int i = 0; i <= options.workers; ++i) {
    std::string name = i == 0 ? "hub" : "worker" + std::to_string(i);
    auto cluster = co_await Cluster::start(ground, std::move(name));
    if (!cluster) co_return cluster.error();
    federation->clusters_.push_back(std::move(*cluster));
  }
  Status ready = co_await federation->set_up(options);
  const std::string lines = "integrations:\n  frameworks: [" +
                            std::string(options.kind->framework) + "]\n" +
                            dispatcher_lines(ground, options.dispatcher);
  for (const auto& cluster : federation->clusters_) {
    if (ready) ready = cluster->start_manager(lines);
  }
  if (ready) ready = co_await federation->wait_ready(ground, groups_of(options.workers));
  if (!ready) co_return ready.error();
  co_return federation;
}

Task<Status> Federation::define(const lab::RacedKind& kind) {
  const Json definition = kind.definition();
  if (definition.is_null()) co_return ok();
  for (const auto& cluster : clusters_) {
    std::vector<Json> objects = {definition};
    const Status applied = co_await cluster->apply(std::move(objects));
    if (!applied) co_return applied.error();
  }
  co_return ok();
}

Task<Status> Federation::set_up_worker(Cluster& worker, int group, int slots) {
  std::vector<Json> objects = ground_objects();
  std::ranges::move(queue_objects(group, slots, false), std::back_inserter(objects));
  co_return co_await worker.apply(std::move(objects));
}

Task<Status> Federation::set_up(FederationOptions options) {
  const Status defined = co_await define(*options.kind);
  if (!defined) co_return defined.error();
  std::vector<Json> objects = ground_objects();
  std::vector<std::vector<std::string>> groups(
      static_cast<std::size_t>(groups_of(options.workers)));
  for (std::size_t i = 1; i < clusters_.size(); ++i) {
    Cluster& worker = *clusters_[i];
    const auto kubeconfig = worker.kubeconfig();
    if (!kubeconfig) co_return kubeconfig.error();
    const std::size_t group = (i - 1) / group_size;
    groups[group].push_back(worker.name());
    objects.push_back(kubeconfig_secret(worker.name(), *kubeconfig));
    const Status applied = co_await set_up_worker(worker, static_cast<int>(group), options.slots);
    if (!applied) co_return applied.error();
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int group = static_cast<int>(i);
    std::ranges::move(fleet_objects(group, groups[i], options.dispatcher),
                      std::back_inserter(objects));
    std::ranges::move(queue_objects(group, options.hub_slots, true), std::back_inserter(objects));
  }
  co_return co_await hub().apply(std::move(objects));
}

Task<bool> Federation::is_ready(std::size_t groups) {
  const bool connected = co_await all_active<api::MultiKueueCluster>(hub(), clusters_.size() - 1);
  if (!connected) co_return false;
  for (const auto& cluster : clusters_) {
    const std::size_t queues = cluster == clusters_.front() ? groups : 1;
    const bool active = co_await all_active<api::ClusterQueue>(*cluster, queues);
    if (!active) co_return false;
  }
  co_return true;
}

Task<Status> Federation::wait_ready(Ground ground, int groups) {
  const SteadyPoint deadline = ground.clock.steady() + ground.start_max();
  while (ground.clock.steady() < deadline) {
    const bool ready = co_await is_ready(static_cast<std::size_t>(groups));
    if (ready) co_return ok();
    for (const auto& cluster : clusters_) {
      const Status running = cluster->check();
      if (!running) co_return running;
    }
    co_await ground.clock.sleep_for(health_poll);
  }
  co_return Error(Errc::timeout, "the workers or the queues did not become Active; see " +
                                     hub().manager().log().string());
}

Task<Status> Federation::forget_requests() {
  for (const auto& cluster : clusters_) {
    const Status done = co_await cluster->forget_requests();
    if (!done) co_return done.error();
  }
  co_return ok();
}

Task<Result<std::vector<Requests>>> Federation::requests() {
  std::vector<Requests> all;
  for (const auto& cluster : clusters_) {
    auto counted = co_await cluster->requests();
    if (!counted) co_return counted.error();
    all.push_back(std::move(*counted));
  }
  co_return all;
}

}  // namespace regatta::bench
