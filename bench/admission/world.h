#pragma once

#include "admission/cycle.h"
#include "bench/admission/measure.h"

#include <functional>
#include <string>
#include <vector>

namespace regatta::admission::bench {

constexpr TimePoint start{std::chrono::hours(24 * 365)};

api::PodTemplate cpu_template(int cpus);

/// A State with one namespace, one flavor and ClusterQueues cq0, cq1, … each with a LocalQueue.
class World {
 public:
  explicit World(Config config = {});

  State& state() { return state_; }
  /// `shape` adds quota, cohort and policies; the namespace selector matches all.
  void add_queues(int count, const std::function<void(int, api::ClusterQueue*)>& shape);

  struct Job {
    int number = 0;  ///< unique; also decides its age
    int queue = 0;
    const api::PodTemplate* pods = nullptr;
    int priority = 0;
  };
  static api::Workload workload(const Job& job);
  static int number_of(const api::ObjectKey& key);

  /// Reads back the decision of a cycle.
  void confirm(api::Workload object, const AdmittedWorkload& decision, TimePoint now);
  void confirm(const Job& job, const AdmittedWorkload& decision, TimePoint now) {
    confirm(workload(job), decision, now);
  }
  /// The job's pods are gone: reads that the workload was evicted and waits again.
  void evict(api::Workload object, TimePoint now);

 private:
  State state_;
};

/// Runs the reactivations that are due, and one cycle.
CycleResult measured_cycle(State& state, TimePoint now, Meter* meter);

/// Quota of the only flavor.
std::vector<api::ResourceGroup> cpu_quota(int nominal, std::optional<int> borrowing_limit = {});

}  // namespace regatta::admission::bench
