#pragma once

#include "clusters/local_cluster.h"
#include "lib/base/clock.h"
#include "manager/core.h"
#include "manager/lifecycle_metrics.h"
#include "manager/metrics/queue_gauges.h"
#include "manager/worker_metrics.h"

#include <memory>
#include <prometheus/registry.h>
#include <set>
#include <string>

namespace regatta::manager {

/// Kueue's metrics, under its names, of what Regatta does, and Regatta's own of workers. Counters
/// and waiting times follow the Workloads in the informer; gauges are computed when the metrics are
/// read.
class Metrics {
 public:
  /// `config.role` is "follower" until set_role() says "leader", or "standalone". A follower counts
  /// nothing, because the leader does.
  Metrics(QueueGaugesConfig config, std::string version);
  ~Metrics();

  /// Sets the callbacks for cycles, dispatches and requests to workers.
  void hook_into(CoreConfig* config);
  /// Follows the Workloads. Call it before the informers start. `core` must outlive every call of
  /// text().
  void follow(Core& core);

  void set_role(std::string role);

  /// The metrics now, as Prometheus text.
  std::string text();

 private:
  struct Families;
  void follow_jobs(clusters::LocalCluster& local);
  void forget_what_goes(clusters::LocalCluster& local);
  void forget(const MetricLabels& about);
  void forget_cohorts();
  void count_skips(const controllers::CycleSeen& seen);
  void workload_changed(const api::Workload& before, const api::Workload& after);
  void count_below_cohorts(const std::string& queue, const api::Workload& workload);
  MetricLabels ended_in(MetricLabels labels, const api::Workload& workload) const;
  std::optional<MetricLabels> local_queue_of(const api::Workload& workload) const;
  void workload_created(const api::Workload& workload);

  QueueGaugesConfig config_;
  const std::string& role_ = config_.role;
  prometheus::Registry registry_;
  std::unique_ptr<Families> families_;
  LifecycleMetrics lifecycle_;
  WorkerMetrics workers_;
  WorkloadCounts counts_;
  std::set<std::string> counted_cohorts_;  ///< those with a counter
  Core* core_ = nullptr;
};

}  // namespace regatta::manager
