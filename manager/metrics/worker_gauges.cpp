#include "manager/metrics/worker_gauges.h"

#include "manager/metrics/gauge_page.h"

#include <map>
#include <utility>

namespace regatta::manager {
namespace {

struct Sums {
  std::map<std::string, double> quota, reserved;  ///< by resource
  double pending = 0;
};

void add(const api::ClusterQueue& queue, Sums* sums) {
  for (const api::ResourceGroup& group : queue.spec.resource_groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      for (const api::ResourceQuota& one : flavor.resources) {
        sums->quota[one.name] += gauge_value(one.name, one.nominal_quota);
      }
    }
  }
  for (const api::FlavorUsage& flavor : queue.status.flavors_reservation) {
    for (const api::ResourceUsage& one : flavor.resources) {
      sums->reserved[one.name] += gauge_value(one.name, one.total);
    }
  }
  sums->pending += queue.status.pending_workloads;
}

}  // namespace

std::vector<prometheus::MetricFamily> worker_gauges(const std::vector<QueueOnWorker>& queues,
                                                    const std::string& role) {
  std::map<std::pair<std::string, std::string>, Sums> all;
  for (const QueueOnWorker& one : queues) {
    add(*one.there, &all[{one.cluster_queue, one.cluster}]);
  }
  GaugePage page(role);
  for (const auto& [where, sums] : all) {
    prometheus::Labels labels = {{"cluster_queue", where.first}, {"cluster", where.second}};
    page.add("regatta_worker_queue_pending_workloads", "Workloads that wait on the worker, of all",
             labels, sums.pending);
    for (const auto& [resource, amount] : sums.quota) {
      labels["resource"] = resource;
      page.add("regatta_worker_queue_nominal_quota", "Nominal quota on the worker", labels, amount);
    }
    for (const auto& [resource, amount] : sums.reserved) {
      labels["resource"] = resource;
      page.add("regatta_worker_queue_resource_reservation",
               "What Workloads with a reservation hold on the worker, of all", labels, amount);
    }
  }
  return std::move(page).families();
}

}  // namespace regatta::manager
