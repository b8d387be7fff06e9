#pragma once

#include "clusters/local_cluster.h"
#include "lib/runtime/work_queue.h"

#include <string>
#include <vector>

namespace regatta::controllers {

/// What decides whether an admission check of MultiKueue is active.
struct CheckView {
  std::string config_error;  ///< why its MultiKueueConfig cannot be used; empty when it can
  std::vector<std::string> clusters;  ///< listed, in order
  std::vector<std::string> missing;   ///< of those, without a MultiKueueCluster
  std::vector<std::string> inactive;  ///< of those, with one that is not Active
};

/// The Active condition: active with any usable cluster, and which ones are not.
api::Condition check_condition(const CheckView& view, std::int64_t generation);

/// Keeps the Active condition of the AdmissionChecks whose controller is MultiKueue.
class MultiKueueCheckController {
 public:
  MultiKueueCheckController(clusters::LocalCluster& local, TaskScope& scope);
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  Task<> work();
  Task<Status> reconcile(std::string name);
  CheckView view(const api::AdmissionCheck& check) const;
  void enqueue_all();

  clusters::LocalCluster& local_;
  TaskScope& scope_;
  Log log_;
  WorkQueue<std::string> queue_;
};

}  // namespace regatta::controllers
