#include "clusters/remote_queues.h"

#include "clusters/lean_objects.h"
#include "lib/api/names.h"

#include <algorithm>
#include <utility>

namespace regatta::clusters {
namespace {

/// A right that is granted later is noticed so much later at most.
constexpr Duration retry = std::chrono::minutes(5);

kube::InformerOptions options() {
  kube::InformerOptions options;
  options.absent_retry = retry;
  options.forbidden_is_absent = true;
  return options;
}

void keep_active(api::Conditions* all) {
  std::erase_if(*all, [](const auto& one) { return one.type != api::conditions::active; });
  for (api::Condition& one : *all) one.message.clear();
}

void keep_room(api::ClusterQueue& queue) {
  queue.metadata = lean(std::move(queue.metadata));
  queue.spec.namespace_selector.reset();
  queue.spec.admission_checks.clear();
  queue.status.flavors_usage.clear();
  queue.status.fair_sharing.reset();
  keep_active(&queue.status.conditions);
}

void keep_way(api::LocalQueue& queue) {
  queue.metadata = lean(std::move(queue.metadata));
  queue.status = {};
}

void keep_quota(api::Cohort& cohort) {
  cohort.metadata = lean(std::move(cohort.metadata));
  cohort.status = {};
}

}  // namespace

RemoteQueues::RemoteQueues(const Deps& deps)
    : cluster_queues(deps("clusterqueues"), options(), keep_room),
      local_queues(deps("localqueues"), options(), keep_way),
      cohorts(deps("cohorts"), options(), keep_quota) {}

void RemoteQueues::stop() {
  cluster_queues.stop();
  local_queues.stop();
  cohorts.stop();
}

std::optional<SteadyPoint> RemoteQueues::told() const {
  const auto queues = cluster_queues.told(), ways = local_queues.told();
  const bool served = cluster_queues.health().served && local_queues.health().served;
  if (!served || !queues || !ways) return std::nullopt;
  return std::min(*queues, *ways);
}

std::optional<std::string> RemoteQueues::withheld() const {
  if (!cluster_queues.health().served) return "clusterqueues";
  if (!local_queues.health().served) return "localqueues";
  return std::nullopt;
}

}  // namespace regatta::clusters
