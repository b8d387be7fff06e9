#pragma once

#include "lib/api/resource.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/rng.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace regatta::lab {

/// A Job to submit, and its requests while it runs.
struct DemoJob {
  api::ObjectKey key;
  std::string kind;  ///< the example from which it was made
  Json object;
  std::int64_t cpu_milli = 0;
  std::int64_t accelerators = 0;
};

constexpr int demo_jobs_max = 100'000;

/// `count` Jobs made from the examples, in a mix that `rng` decides: job-01, job-02 …, in the
/// namespaces of the examples. Each runs for one to four seconds.
Result<std::vector<DemoJob>> mix_jobs(const std::vector<Json>& examples, int count, Rng& rng);

}  // namespace regatta::lab
