#include "lab/demo/watchers.h"

#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::lab {
namespace {

constexpr const char* agent = "regatta-demo";

template <class T>
bool is_remote(const T& object) {
  return !object.metadata.label(std::string(api::labels::multikueue_origin)).empty();
}

}  // namespace

Watchers::View::View(std::unique_ptr<kubeconfig::Connection> opened, const FederationDeps& deps)
    : connection(std::move(opened)),
      workloads(kube::InformerDeps{client(), deps.clock, deps.rng, deps.executor, Log()}),
      jobs(kube::InformerDeps{client(), deps.clock, deps.rng, deps.executor, Log()}) {}

Watchers::Watchers(FederationDeps deps, Race& race) : deps_(std::move(deps)), race_(race) {}

Status Watchers::start(const Federation& federation, TaskScope& scope) {
  hub_ = federation.state().hub().name;
  for (const ClusterState& cluster : federation.state().clusters) {
    auto connection = federation.connect(cluster.name, agent);
    if (!connection) return connection.error();
    auto view = std::make_unique<View>(std::move(*connection), deps_);
    if (cluster.hub) {
      follow_hub(*view);
    } else {
      follow_worker(cluster.name, *view);
    }
    scope.spawn("workloads", view->workloads.run());
    scope.spawn("jobs", view->jobs.run());
    views_.emplace(cluster.name, std::move(view));
  }
  return ok();
}

void Watchers::follow_hub(View& view) {
  view.workloads.on_transition([this](const auto&, const auto&, const auto& after) {
    if (after) race_.hub_workload(*after, deps_.clock.now());
  });
  view.jobs.on_transition([this](const auto&, const auto&, const auto& after) {
    if (after) race_.hub_job(*after, deps_.clock.now());
  });
}

void Watchers::follow_worker(const std::string& name, View& view) {
  view.workloads.on_transition([this, name](const auto& key, const auto&, const auto& after) {
    race_.worker_copy(name, key, after != nullptr);
  });
  view.jobs.on_transition([this, name](const auto& key, const auto&, const auto& after) {
    race_.worker_job(name, key, after.get());
  });
}

Task<> Watchers::wait_synced() {
  for (auto& [name, view] : views_) {
    co_await view->workloads.wait_synced();
    co_await view->jobs.wait_synced();
  }
}

const kube::Informer<api::Workload>& Watchers::hub_workloads() const {
  return views_.at(hub_)->workloads;
}

std::int64_t Watchers::remote_objects() const {
  std::int64_t count = 0;
  for (const auto& [name, view] : views_) {
    if (name == hub_) continue;
    for (const auto& workload : view->workloads.list()) count += is_remote(*workload) ? 1 : 0;
    for (const auto& job : view->jobs.list()) count += is_remote(*job) ? 1 : 0;
  }
  return count;
}

}  // namespace regatta::lab
