#pragma once

/// Workloads that hold quota and need places: their places had to wait for an admission check, or
/// they lost a node. A cycle places them before it nominates heads.

#include "admission/cycle.h"
#include "admission/trial.h"

#include <vector>

namespace regatta::admission {

/// Finds places for one workload after the other, and takes them in the trial.
class SecondPass {
 public:
  SecondPass(Trial& trial, std::vector<WorkloadId> ids) : trial_(trial), ids_(std::move(ids)) {}

  void place_all();
  /// To be called after the trial has ended: records what was found, and what is tried again.
  void record(TimePoint now, CycleResult* result);

 private:
  struct Found {
    WorkloadId id = no_id;
    std::vector<PodSetPlaces> places;
    bool evict = false;
    std::string failure;
  };

  void place(Found* found);
  void place_delayed(const Reservation& held, const PlacesTask& task, Found* found);
  void replace_lost(const Reservation& held, const PlacesTask& task, Found* found);
  TopologyRequest request_for(const Found& found, const PlacesTask& task, std::size_t pod_set,
                              FlavorId flavor) const;
  void take(const Reservation& held, const Found& found);

  Trial& trial_;
  std::vector<WorkloadId> ids_;
  std::vector<Found> found_;
  CycleAccess* access_ = nullptr;
};

}  // namespace regatta::admission
