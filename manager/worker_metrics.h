#pragma once

#include "clusters/fleet.h"
#include "lib/kube/client.h"
#include "manager/metrics/metric_families.h"
#include "manager/metrics/worker_gauges.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::manager {

/// What a hub knows about each worker, as metrics with the label `cluster`: the connection, the
/// requests, and how long workloads take on the way there. Nothing is asked for them. Labels have
/// few values each, whatever a worker answers.
class WorkerMetrics {
 public:
  /// `role` is read when something is counted, and outlives this.
  WorkerMetrics(prometheus::Registry& registry, const std::string& role);

  /// An attempt at a request to that worker has ended.
  void request(const std::string& cluster, const kube::RequestSeen& seen);
  /// `after` is null when the Workload is gone.
  void workload_changed(const api::ObjectKey& key, const api::Workload* before,
                        const api::Workload* after, SteadyPoint now);
  /// No workload waits for its job to start.
  bool idle() const { return on_the_way_.empty(); }
  /// The job of that workload runs.
  void job_runs(const api::ObjectKey& workload, SteadyPoint now);
  /// Sets the gauges of all workers.
  void look_at(const clusters::Fleet& fleet, TimePoint now);

  void forget(const std::string& cluster);
  /// Another process leads now, or this one: what was counted stays under the earlier role.
  void role_changed() { of_requests_.clear(); }

 private:
  /// Of one verb; looked up once, because families look up by all labels.
  struct OfRequests {
    std::map<std::string_view, prometheus::Counter*> by_code;
    prometheus::Histogram* took = nullptr;
  };
  /// A workload between its reservation and the start of its job.
  struct OnTheWay {
    SteadyPoint reserved;
    std::set<std::string> nominated;
    std::string cluster;  ///< that won
    SteadyPoint won;
  };
  MetricLabels labels(const std::string& cluster) const;
  void observe(Histograms& family, const std::string& cluster, Duration waited);

  const std::string& role_;
  Gauges &connected_, &cache_age_;
  Counters &requests_, &rejections_, &removed_;
  Histograms &took_, &nomination_wait_, &admission_wait_, &start_wait_;
  std::map<std::string, std::map<std::string, OfRequests, std::less<>>> of_requests_;
  std::map<api::ObjectKey, OnTheWay> on_the_way_;
};

/// Of the workers that are connected now. None before Fleet::follow_queues(), or where a worker
/// does not let the hub read its queues.
std::vector<QueueOnWorker> queues_on_workers(const clusters::LocalCluster& hub,
                                             const clusters::Fleet& fleet);

}  // namespace regatta::manager
