#pragma once

#include "lab/federation/layout.h"

#include <cstdint>

namespace regatta::lab {

struct DemoOptions {
  LayoutOptions layout;
  int jobs = 30;
  std::uint64_t seed = 1;  ///< of the mix of Jobs
  bool keep = false;       ///< leave everything running at the end
  int patience_seconds = 300;
};

/// `regatta-lab demo`: a sandbox, Jobs that race over it, what came of it. The exit code is 0
/// only if all that must hold did.
int run_demo(DemoOptions options);

/// `regatta-lab submit`: the demo's Jobs for a sandbox that runs.
int submit_jobs(const std::string& folder, int jobs, std::uint64_t seed);

}  // namespace regatta::lab
