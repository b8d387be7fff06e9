#pragma once

#include "bench/federation.h"

namespace regatta::bench {

struct RaceOptions {
  int jobs = 1000;
  int workers = 3;
  int slots = 128;
  double run_seconds = 0.2;
  int submitters = 8;
  double patience_seconds = 300;
  bool json = false;
};

/// Jobs as fast as they can be submitted, until all have finished and the workers are clean. Prints
/// the measurements; the exit code.
Task<int> race(Ground ground, RaceOptions options);

struct MemoryOptions {
  int workloads = 10000;
  int workers = 3;
  bool json = false;
};

/// Workloads that nearly all wait: what they cost the hub's manager.
Task<int> memory(Ground ground, MemoryOptions options);

/// Creates Jobs numbered [0, count) over several connections; when each was accepted.
struct Submission {
  std::vector<std::chrono::steady_clock::time_point> accepted;
  Status outcome = ok();
};
Task<> submit(kube::Client& client, int count, double run_seconds, int submitters,
              Submission* submission);
std::string job_name(int number);

}  // namespace regatta::bench
