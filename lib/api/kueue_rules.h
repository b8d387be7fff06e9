#pragma once

#include "lib/api/kueue.h"

#include <string>
#include <vector>

// The defaults that Kueue's webhooks set and the rules that they enforce beyond the CRD schemas and
// their CEL rules. Our webhooks serve them, and reconcilers apply them to objects that no webhook
// saw.
namespace regatta::api {

/// One refused field, worded as the API server words it: "spec.x[0].y" and
/// "Invalid value: \"-1\": must be greater than or equal to 0".
struct FieldError {
  std::string field;
  std::string message;
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

using FieldErrors = std::vector<FieldError>;

/// "field: message" for one error, "[a, b]" for several.
std::string to_text(const FieldErrors& errors);

/// Feature gates that change the rules.
struct RuleOptions {
  bool partial_admission = true;
  bool reject_invalid_on_flavors = false;  ///< RejectUpdatesToCQWithInvalidOnFlavors
};

/// On create: the finalizer that keeps an object while it is in use.
void add_defaults(ClusterQueue* queue);
void add_defaults(ResourceFlavor* flavor);
void add_defaults(Workload* workload, const RuleOptions& options = {});

FieldErrors validate(const ClusterQueue& queue);
FieldErrors validate_update(const ClusterQueue& before, const ClusterQueue& after,
                            const RuleOptions& options = {});
FieldErrors validate(const Cohort& cohort);
FieldErrors validate(const ResourceFlavor& flavor);
FieldErrors validate(const Workload& workload);
FieldErrors validate_update(const Workload& before, const Workload& after);

constexpr std::size_t flavors_max = 256;            ///< of one queue, over all groups
constexpr std::size_t covered_resources_max = 256;  ///< of one queue, over all groups
constexpr std::size_t group_quotas_max = 512;       ///< flavors times resources of one group
constexpr std::size_t concurrent_flavors_max = 16;  ///< with a concurrentAdmissionPolicy

}  // namespace regatta::api
