#include "dispatch/brake.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace regatta::dispatch {

namespace {

/// The condition Dispatched tells of a record, or how it went. It does not while workers race.
bool tells_of_record(const api::Condition& dispatched) {
  namespace reasons = api::reasons;
  const std::string_view before[] = {
      reasons::racing,         reasons::no_worker_connected, reasons::no_worker_accepts,
      reasons::no_worker_fits, reasons::no_worker_nominated, reasons::waiting_for_first_group,
      reasons::removals_held,  reasons::config_missing,      reasons::not_dispatched};
  return std::find(std::begin(before), std::end(before), dispatched.reason) == std::end(before);
}

}  // namespace

bool shows_no_record(const api::WorkloadStatus& status) {
  return !status.cluster_name && status.evictions.empty() &&
         !api::find_condition(status.conditions, api::conditions::evicted);
}

bool never_sent(const api::Workload& workload) {
  const api::WorkloadStatus& status = workload.status;
  const auto* told = api::find_condition(status.conditions, api::conditions::dispatched);
  if (told && tells_of_record(*told)) return false;
  return !workload.metadata.deleting() && shows_no_record(status) &&
         !api::is_true(status.conditions, api::conditions::finished);
}

bool holds_removals(const RunningThere& there, const BrakeConfig& config,
                    std::optional<std::size_t> allowed, bool held) {
  if (config.share >= 1) return false;
  const bool much = there.vanished >= config.at_least &&
                    double(there.vanished) > config.share * double(there.all);
  if (!much && (!held || there.vanished == 0)) return false;
  return !allowed || there.vanished > *allowed;
}

std::optional<std::size_t> allowed_removals(const std::string& annotation) {
  std::size_t count = 0;
  const char* end = annotation.data() + annotation.size();
  const auto [rest, error] = std::from_chars(annotation.data(), end, count);
  if (error != std::errc() || rest != end) return std::nullopt;
  return count;
}

std::string held_message(const RunningThere& there) {
  const std::string count = std::to_string(there.vanished);
  return count + " of " + std::to_string(there.all) +
         " workloads that run on this worker do not exist on the hub, which did not see their "
         "deletion, or wait there as if they had never been sent. The hub may have lost its data "
         "or may have been restored from a backup, so "
         "they are not removed. To remove them, annotate this MultiKueueCluster with " +
         std::string(api::annotations::remove_vanished) + "=" + count;
}

}  // namespace regatta::dispatch
