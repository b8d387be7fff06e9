#pragma once

#include "bench/federation.h"

namespace regatta::bench {

/// The exit code when nothing was started.
inline constexpr int options_are_wrong = 2;

struct RaceOptions {
  int jobs = 1000;
  int workers = 3;
  int slots = 128;
  std::string dispatcher;  ///< empty: all at once
  std::string kind = "job";
  std::string servers = "embedded";  ///< or "real"
  std::string manager;               ///< Kueue's, raced in turn with Regatta's; empty: none
  int rounds = 1;                    ///< of each, with `manager`
  int server_latency_ms = 0;
  double run_seconds = 0.2;
  double patience_seconds = 300;
  bool json = false;
};

/// Submits Jobs as fast as possible and waits until all have finished and the workers are clean.
/// Prints the measurements, and with another manager those of both and their ratios. Returns the
/// exit code, 2 when the options are wrong and nothing was started.
Task<int> race(Ground ground, RaceOptions options);

struct MemoryOptions {
  int workloads = 10000;
  int workers = 3;
  bool offered = false;  ///< they wait on the workers, each with a copy on all of them
  bool json = false;
};

/// Creates workloads of which nearly all wait, and measures the memory of the hub's manager.
Task<int> memory(Ground ground, MemoryOptions options);

struct WorkersOptions {
  int workers = 1000;
  std::string frameworks = "batch/job";  ///< of the hub's configuration, by commas
  bool json = false;
};

/// Registers so many workers, which are all one API server, and waits until all are Active. Prints
/// how long that took, and what each costs the hub's manager while nothing is dispatched.
Task<int> workers(Ground ground, WorkersOptions options);

struct WebhookOptions {
  int requests = 20000;  ///< of each case
  int connections = 4;
  int open = 100;  ///< connections at once, for their memory
  bool json = false;
};

/// Calls the webhooks of a manager over TLS. Prints requests per second, its CPU time for each, and
/// the memory of open connections.
Task<int> webhooks(Ground ground, WebhookOptions options);

/// Creates jobs numbered [0, count) over several connections, in turn in the queues of so many
/// groups, and records when each was accepted.
struct Submission {
  std::vector<std::chrono::steady_clock::time_point> accepted;
  Status outcome = ok();
};
struct Submitted {
  const lab::RacedKind* kind = &lab::plain_jobs();
  int count = 0;
  int groups = 1;
  double run_seconds = 0;
  int submitters = 8;
};
Task<> submit(kube::Client& client, Submitted what, Submission* submission);
std::string job_name(int number);

}  // namespace regatta::bench
