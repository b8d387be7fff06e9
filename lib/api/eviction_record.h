#pragma once

#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/workload.h"

#include <optional>
#include <string>
#include <string_view>

/// An eviction takes `status.clusterName` away, while the job may still run there. The condition
/// Dispatched remembers the cluster in its message until the Workload gets quota again.
namespace regatta::api {

inline constexpr std::string_view evicted_from_prefix = "Evicted from worker cluster \"";

inline std::string evicted_from_text(const std::string& cluster, const std::string& message) {
  return std::string(evicted_from_prefix) + cluster + "\": " + message;
}

/// How the message of a check begins that had decided something before its Workload was evicted.
inline constexpr std::string_view reset_prefix = "Reset to Pending after eviction. Previously: ";

/// The cluster that ran the evicted Workload; nullopt when none did, or that is not known.
inline std::optional<std::string> evicted_from(const WorkloadStatus& status) {
  if (!is_true(status.conditions, conditions::evicted)) return std::nullopt;
  const Condition* told = find_condition(status.conditions, conditions::dispatched);
  if (!told || !told->message.starts_with(evicted_from_prefix)) return std::nullopt;
  const std::size_t begin = evicted_from_prefix.size();
  const std::size_t end = told->message.find('"', begin);
  if (end == std::string::npos || end == begin) return std::nullopt;
  return told->message.substr(begin, end - begin);
}

}  // namespace regatta::api
