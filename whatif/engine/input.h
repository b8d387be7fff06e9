#pragma once

#include "admission/config.h"
#include "dispatch/plan.h"
#include "jobs/read_job.h"
#include "lib/manifest/behaviour.h"
#include "lifecycle/lifecycle.h"
#include "whatif/timeline/timeline.h"

#include <string>
#include <vector>

namespace regatta::whatif {

struct ClusterInput {
  std::string name;  ///< empty for the hub, or the only cluster
  std::vector<Object> objects;
};

struct SimulationInput {
  std::string name;
  TimePoint start{};
  Duration until = std::chrono::hours(24);
  /// Step of the series. 0: see pleasant_step().
  Duration step{0};
  admission::Config admission;
  dispatch::PlanConfig dispatch;
  lifecycle::LifecycleConfig lifecycle;
  jobs::JobConfig jobs;
  /// Behaviour of jobs without annotations.
  manifest::Behaviour behaviour{std::chrono::minutes(10), 0, Duration(0), true};
  ClusterInput hub;
  std::vector<ClusterInput> workers;
  std::vector<TimedEvent> events;  ///< sorted by time
};

/// A round step (of so many seconds, minutes or hours) with which `length` has about 300 samples.
Duration pleasant_step(Duration length);

}  // namespace regatta::whatif
