#pragma once

#include "admission/cycle_access.h"
#include "admission/state.h"
#include "lib/api/codec.h"
#include "lib/base/json.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::lab {

/// The queues of a manager that gets events of objects and schedules nothing by itself: what pages
/// and metrics are made of.
class QueueWorld {
 public:
  /// `scenario`: its feature gates and config.
  explicit QueueWorld(const Json& scenario);

  /// The objects that are there from the beginning.
  Status load(const Json& objects);
  /// {"create": …}, {"update": …}, {"delete": …}, {"takeHeads": {}}, {"requeue": …}, {"flush": {}}
  Status apply(const Json& event);

  /// Another process goes on. It does not know which Cohorts there have been.
  void take_over();

  admission::State& state() { return *state_; }
  TimePoint now() const { return now_; }
  const std::map<api::ObjectKey, api::Workload>& workloads() const { return workloads_; }
  const std::map<std::string, api::ClusterQueue>& cluster_queues() const { return cluster_queues_; }
  const std::map<std::string, api::Cohort>& cohorts() const { return cohorts_; }
  const std::map<api::ObjectKey, api::LocalQueue>& local_queues() const { return local_queues_; }

 private:
  Status put(const Json& object);
  Status put_kind(const std::string& kind, const Json& object);
  template <class T>
  Status put_one(const Json& object);
  Status erase(const Json& name);
  Status requeue(const Json& what);

  TimePoint now_;
  admission::Config config_;
  std::unique_ptr<admission::State> state_;
  std::vector<admission::WorkloadId> heads_;
  std::map<std::pair<std::string, api::ObjectKey>, Json> objects_;  ///< as they were read
  bool cohort_deleted_ = false;
  std::map<api::ObjectKey, api::Workload> workloads_;
  std::map<std::string, api::ClusterQueue> cluster_queues_;
  std::map<std::string, api::Cohort> cohorts_;
  std::map<api::ObjectKey, api::LocalQueue> local_queues_;
};

}  // namespace regatta::lab
