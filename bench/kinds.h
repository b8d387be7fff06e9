#pragma once

#include "lib/api/resource.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace regatta::bench {

/// A kind of job that is raced.
struct RacedKind {
  std::string_view name;       ///< on the command line: "jobset"
  std::string_view framework;  ///< of the configuration: "jobset.x-k8s.io/jobset"
  api::ResourceInfo resource;
  /// Where `suspend` and `managedBy` are.
  Json::json_pointer settings{"/spec"};
  Json (*spec)(const Json& pod_template);  ///< the rest of it, of one pod or a few
  /// What its status says at its end: a condition, or the value of a field.
  std::string_view complete = "Complete";
  std::string_view ends_in = {};  ///< the field; empty: a condition

  /// One in that LocalQueue that runs for `run_seconds`.
  Json make(const std::string& name, const std::string& queue, double run_seconds) const;
  bool is_complete(const Json& job) const;
  /// Its CRD, which allows everything; null for what every API server has.
  Json definition() const;
};

/// `invalid` names those that there are.
Result<const RacedKind*> raced_kind(std::string_view name);
const RacedKind& plain_jobs();

}  // namespace regatta::bench
