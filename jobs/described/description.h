#pragma once

#include "jobs/described/expression.h"
#include "jobs/templated_job.h"
#include "lib/api/field_errors.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// A kind of job that the configuration describes, as `integrations.describedKinds` has it: where
/// in its objects things are (JSON pointers), and what its status means (CEL over `object`).
/// docs/operations.md has the fields.
namespace regatta::jobs {

/// The number of pods of a pod set: a number, the place of one in the object, or an expression.
using DescribedCount = std::variant<std::int32_t, Json::json_pointer, Expression>;

struct DescribedPodSet {
  std::string name;
  Json::json_pointer path;  ///< of the pod template
  std::string field;        ///< the same as messages show it: "spec.driver.template"
  bool optional = false;    ///< a job without the template is one without the pod set
  DescribedCount count = 1;
  std::optional<Expression> reclaimable;  ///< how many of its pods the job will not need again
};

struct KindDescription {
  std::string group, version, kind, plural;
  std::vector<DescribedPodSet> pod_sets;
  JobShape shape;
  Json::json_pointer remote_status{"/status"};  ///< what the hub's job takes over from a worker's
  /// Merge patches of the status of a job that ended so, where no worker can tell; empty: none.
  Json succeeded = Json::object(), failed = Json::object();
  Expression finished, success;
  std::optional<Expression> active, message, pods_ready;

  std::string framework() const;  ///< "flows.example.com/pipeline"
};

constexpr std::size_t described_kinds_max = 16;
constexpr std::size_t described_pod_sets_max = 8;

/// Reads one description. Nothing when it is wrong; then `errors` has each mistake, at its field
/// below `at`.
std::optional<KindDescription> read_description(const Json& given, const std::string& at,
                                                api::ErrorList* errors);

/// "spec.roles[0].template" of "/spec/roles/0/template".
std::string field_of(const Json::json_pointer& path);

}  // namespace regatta::jobs
