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

/// `regatta-lab demo`: starts a sandbox, races Jobs over it, prints a summary. The exit code is 0
/// only if everything held that must hold.
int run_demo(DemoOptions options);

/// `regatta-lab submit`: submits the demo's Jobs to a running sandbox.
int submit_jobs(const std::string& folder, int jobs, std::uint64_t seed);

}  // namespace regatta::lab
