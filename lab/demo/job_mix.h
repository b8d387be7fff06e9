#pragma once

#include "lab/kinds/raced_kind.h"
#include "lib/api/resource.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/rng.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace regatta::lab {

/// A job to submit, and its requests while it runs.
struct DemoJob {
  api::ObjectKey key;
  api::ResourceInfo resource;
  std::string kind;  ///< the example from which it was made; of other kinds than Jobs its kind
  std::vector<Json> objects;  ///< one, or the Pods of a group
  std::int64_t cpu_milli = 0;
  std::int64_t accelerators = 0;
};

constexpr int demo_jobs_max = 100'000;

/// `count` jobs of these kinds made from the examples, in a mix that `rng` decides: job-01, job-02
/// …, in the namespaces of the examples. Each runs for one to four seconds. A job of another kind
/// than Job has one pod of its example, a group has three.
Result<std::vector<DemoJob>> mix_jobs(const std::vector<Json>& examples,
                                      const std::vector<const RacedKind*>& kinds, int count,
                                      Rng& rng);

}  // namespace regatta::lab
