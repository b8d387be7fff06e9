#pragma once

#include "lib/api/field_errors.h"
#include "lib/base/json.h"
#include "manager/config/feature_gates.h"

#include <span>
#include <string_view>

// What Kueue refuses of a configuration in effect: a ConfigDocument's `effective`.
namespace regatta::manager {

/// A built-in integration, its name in the file and its kind: {"batch/job", "Job.v1.batch"}.
struct Framework {
  std::string_view name;
  std::string_view kind;
  bool multi_kueue = true;  ///< its jobs can be sent to workers
};

/// By name.
std::span<const Framework> all_frameworks();

/// In Kueue's order.
api::FieldErrors check_rules(const Json& effective, const FeatureGates& gates);

void check_integrations(const Json& c, api::ErrorList* errors);
void check_multi_kueue(const Json& c, api::ErrorList* errors);
/// multiKueue.externalFrameworks
void check_external_adapters(const Json& c, api::ErrorList* errors);
void check_device_classes(const Json& c, const FeatureGates& gates, api::ErrorList* errors);
void check_custom_labels(const Json& c, api::ErrorList* errors);
void check_tls(const Json& c, api::ErrorList* errors);
/// managedJobsNamespaceSelector
void check_namespace_selector(const Json& c, api::ErrorList* errors);

/// Words of several complaints about one value.
void invalid_joined(std::string field, std::string_view value,
                    const std::vector<std::string>& complaints, std::string_view separator,
                    api::ErrorList* errors);

}  // namespace regatta::manager
