#pragma once

#include "lib/api/core.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::api {

/// batch/v1 JobSpec; selector, podFailurePolicy and successPolicy travel in Job::raw_spec only.
struct JobSpec {
  std::optional<std::int32_t> parallelism;
  std::optional<std::int32_t> completions;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int32_t> backoff_limit;
  std::optional<std::int32_t> backoff_limit_per_index;
  std::optional<std::int32_t> max_failed_indexes;
  std::optional<bool> manual_selector;
  PodTemplate pod_template;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::string completion_mode;  ///< NonIndexed (also when empty) or Indexed
  std::optional<bool> suspend;
  std::string pod_replacement_policy;
  std::optional<std::string> managed_by;
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

struct UncountedTerminatedPods {
  std::vector<std::string> succeeded;
  std::vector<std::string> failed;
  friend bool operator==(const UncountedTerminatedPods&, const UncountedTerminatedPods&) = default;
};

struct JobStatus {
  StatusConditions conditions;
  std::optional<TimePoint> start_time;
  std::optional<TimePoint> completion_time;
  std::int32_t active = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::optional<std::int32_t> terminating;
  std::optional<std::int32_t> ready;
  std::string completed_indexes;
  std::optional<std::string> failed_indexes;
  std::optional<UncountedTerminatedPods> uncounted_terminated_pods;
  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

struct Job {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;
  /// The spec as it was read, unknown fields included; see Workload::raw_spec.
  RawJson raw_spec;
  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace regatta::api
