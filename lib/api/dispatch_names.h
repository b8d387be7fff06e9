#pragma once

#include <string_view>

/// Conditions that Kueue does not have: how far MultiKueue has got with a Workload.
namespace regatta::api::conditions {
/// One sentence on the state of its dispatch as a whole.
constexpr std::string_view dispatched = "Dispatched";
/// Which workers refuse its job.
constexpr std::string_view refused_by_workers = "RefusedByWorkers";
}  // namespace regatta::api::conditions

namespace regatta::api::reasons {
// Dispatched
constexpr std::string_view dispatched = "Dispatched";
constexpr std::string_view racing = "Racing";
constexpr std::string_view no_worker_connected = "NoWorkerConnected";
constexpr std::string_view no_worker_accepts = "NoWorkerAccepts";
constexpr std::string_view worker_lost = "WorkerLost";
constexpr std::string_view waiting_for_removal = "WaitingForRemoval";
constexpr std::string_view waiting_for_stop = "WaitingForStop";
constexpr std::string_view waiting_for_last_status = "WaitingForLastStatus";
constexpr std::string_view job_not_created = "JobNotCreated";
constexpr std::string_view rejected = "Rejected";
// RefusedByWorkers
constexpr std::string_view job_refused = "JobRefused";
}  // namespace regatta::api::reasons
