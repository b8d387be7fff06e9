#include "bench/federation.h"

#include "bench/objects.h"
#include "lib/api/multikueue.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace regatta::bench {
namespace {

constexpr Duration connect_max = std::chrono::seconds(30);
constexpr Duration health_poll{50};

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
  const Status ready = co_await federation->set_up(options);
  if (!ready) co_return ready.error();
  const Status connected = co_await federation->wait_connected(ground.clock);
  if (!connected) co_return connected.error();
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

Task<Status> Federation::set_up(FederationOptions options) {
  const Status defined = co_await define(*options.kind);
  if (!defined) co_return defined.error();
  std::vector<Json> secrets = {
      Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kueue-system"}}}}};
  std::vector<std::vector<std::string>> groups(
      static_cast<std::size_t>(groups_of(options.workers)));
  for (std::size_t i = 1; i < clusters_.size(); ++i) {
    Cluster& worker = *clusters_[i];
    const auto kubeconfig = worker.kubeconfig();
    if (!kubeconfig) co_return kubeconfig.error();
    const std::size_t group = (i - 1) / group_size;
    groups[group].push_back(worker.name());
    secrets.push_back(kubeconfig_secret(worker.name(), *kubeconfig));
    std::vector<Json> objects = ground_objects();
    std::ranges::move(queue_objects(static_cast<int>(group), options.slots, false),
                      std::back_inserter(objects));
    const Status applied = co_await worker.apply(std::move(objects));
    if (!applied) co_return applied.error();
  }
  Status applied = co_await hub().apply(std::move(secrets));
  if (!applied) co_return applied.error();
  std::vector<Json> objects = ground_objects();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int group = static_cast<int>(i);
    std::ranges::move(fleet_objects(group, groups[i], options.dispatcher),
                      std::back_inserter(objects));
    std::ranges::move(queue_objects(group, options.hub_slots, true), std::back_inserter(objects));
  }
  applied = co_await hub().apply(std::move(objects));
  if (!applied) co_return applied.error();
  const std::string frameworks =
      "integrations:\n  frameworks: [" + std::string(options.kind->framework) + "]\n";
  for (const auto& cluster : clusters_) {
    const Status started = cluster->start_manager(frameworks);
    if (!started) co_return started.error();
  }
  co_return ok();
}

Task<Status> Federation::wait_connected(Clock& clock) {
  const SteadyPoint deadline = clock.steady() + connect_max;
  while (clock.steady() < deadline) {
    const auto members = co_await hub().client().list<api::MultiKueueCluster>();
    std::size_t active = 0;
    if (members) {
      for (const auto& member : *members) {
        if (api::is_true(member.status.conditions, "Active")) ++active;
      }
    }
    if (active + 1 == clusters_.size()) co_return ok();
    co_await clock.sleep_for(health_poll);
  }
  co_return Error(Errc::timeout,
                  "the workers did not become Active; see " + hub().manager().log().string());
}

std::vector<const Process*> Federation::processes() const {
  std::vector<const Process*> all;
  for (const auto& cluster : clusters_) {
    all.push_back(&cluster->manager());
    all.push_back(&cluster->server());
  }
  return all;
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
    const auto report = co_await cluster->requests();
    if (!report) co_return report.error();
    all.emplace_back(cluster->name(), *report);
  }
  co_return all;
}

}  // namespace regatta::bench
