#pragma once

#include "lib/api/workload.h"

#include <cstddef>
#include <optional>
#include <string>

namespace regatta::dispatch {

/// The brake on removals: when the hub lacks much of what runs on a worker, the hub is more likely
/// to have lost its data than its users to have deleted it all. The hub lacks a Workload that does
/// not exist, and the start of one that, by its status, was never sent to a worker.
struct BrakeConfig {
  /// More than this share of what runs on a worker is much; 1 and above: nothing is.
  double share = 0.5;
  /// Fewer workloads than this are never much.
  std::size_t at_least = 10;
};

/// Workloads that run on one worker.
struct RunningThere {
  std::size_t all = 0;
  /// Those that the hub lacks and was not seen to delete, or whose start it lacks.
  std::size_t vanished = 0;
};

/// By its status no worker ever had the workload: none is recorded, and it was never evicted.
bool shows_no_record(const api::WorkloadStatus& status);

/// By its status the workload was never sent to a worker: it has no record of one, was never
/// evicted, and Dispatched tells of no record either. Jobs are created on workers after the record
/// was written, and what takes the record away leaves one of these. So where its Job runs, the hub
/// has lost the record.
bool never_sent(const api::Workload& workload);

/// Whether what vanished stays on the worker. `allowed` is how many of them the operator allows to
/// be removed. `held` says that it has stayed so far: then it does until nothing of it is left.
/// That some of it ended, or that more runs there now, is no reason to remove the rest.
bool holds_removals(const RunningThere& there, const BrakeConfig& config,
                    std::optional<std::size_t> allowed, bool held);

/// The number in an annotation; nullopt when it is none.
std::optional<std::size_t> allowed_removals(const std::string& annotation);

/// What an operator should know and may do, for the condition and the event.
std::string held_message(const RunningThere& there);

}  // namespace regatta::dispatch
