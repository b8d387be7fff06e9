#include "lab/demo/watchers.h"

#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::lab {
namespace {

constexpr const char* agent = "regatta-demo";

template <class T>
bool is_remote(const T& object) {
  return api::made_on_hub(object.metadata);
}

}  // namespace

Watchers::View::View(std::unique_ptr<kubeconfig::Connection> opened, const FederationDeps& deps,
                     const std::vector<const RacedKind*>& kinds)
    : connection(std::move(opened)),
      workloads(kube::InformerDeps{client(), deps.clock, deps.rng, deps.executor, Log()}) {
  for (const RacedKind* kind : kinds) {
    const auto decode = [kind](const Json& object) -> Result<Jobs::Ptr> {
      auto metadata = api::read_metadata(object);
      if (!metadata) return metadata.error();
      api::ObjectKey job(metadata->ns, kind->job_of(object));
      const JobSeen seen{kind->is_started(object), kind->is_complete(object),
                         kind->has_failed(object)};
      return std::make_shared<const RacedJob>(RacedJob{std::move(*metadata), std::move(job), seen});
    };
    jobs.push_back(std::make_unique<Jobs>(
        kube::InformerDeps{client(), deps.clock, deps.rng, deps.executor, Log()}, kind->resource,
        kube::InformerOptions(), decode));
  }
}

Watchers::Watchers(FederationDeps deps, Race& race) : deps_(std::move(deps)), race_(race) {}

Status Watchers::start(const Federation& federation, TaskScope& scope) {
  hub_ = federation.state().hub().name;
  const auto kinds = raced_kinds(federation.state().kinds);
  if (!kinds) return kinds.error();
  for (const ClusterState& cluster : federation.state().clusters) {
    auto connection = federation.connect(cluster.name, agent);
    if (!connection) return connection.error();
    auto view = std::make_unique<View>(std::move(*connection), deps_, *kinds);
    if (cluster.hub) {
      follow_hub(*view);
    } else {
      follow_worker(cluster.name, *view);
    }
    scope.spawn("workloads", view->workloads.run());
    for (const auto& jobs : view->jobs) scope.spawn("jobs", jobs->run());
    views_.emplace(cluster.name, std::move(view));
  }
  return ok();
}

void Watchers::follow_hub(View& view) {
  view.workloads.on_transition([this](const auto&, const auto&, const auto& after) {
    if (after) race_.hub_workload(*after, deps_.clock.now());
  });
  for (const auto& jobs : view.jobs) {
    jobs->on_transition([this](const auto& key, const auto&, const auto& after) {
      if (after) race_.hub_job(after->job, key.name, after->seen, deps_.clock.now());
    });
  }
}

void Watchers::follow_worker(const std::string& name, View& view) {
  view.workloads.on_transition([this, name](const auto& key, const auto&, const auto& after) {
    race_.worker_copy(name, key, after != nullptr);
  });
  for (const auto& jobs : view.jobs) {
    jobs->on_transition([this, name](const auto& key, const auto& before, const auto& after) {
      const api::ObjectKey& job = (after ? after : before)->job;
      race_.worker_job(name, job, key.name, after ? &after->seen : nullptr);
    });
  }
}

Task<> Watchers::wait_synced() {
  for (auto& [name, view] : views_) {
    co_await view->workloads.wait_synced();
    for (const auto& jobs : view->jobs) co_await jobs->wait_synced();
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
    for (const auto& jobs : view->jobs) {
      for (const auto& job : jobs->list()) count += is_remote(*job) ? 1 : 0;
    }
  }
  return count;
}

}  // namespace regatta::lab
