#include "lifecycle/multikueue_check.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::lifecycle {
namespace {

/// The API lets a MultiKueueConfig name so many; there may be more by their labels.
constexpr std::size_t named_max = 20;

/// "[a b]"; of very many the first, and how many more there are.
std::string bracketed(const std::vector<std::string>& names) {
  std::string out = "[";
  const std::size_t shown = std::min(names.size(), named_max);
  for (std::size_t i = 0; i < shown; ++i) out += (i > 0 ? " " : "") + names[i];
  if (shown < names.size()) out += " and " + std::to_string(names.size() - shown) + " more";
  return out + "]";
}

}  // namespace

api::Condition check_condition(const CheckView& view, std::int64_t generation) {
  api::Condition out;
  out.type = std::string(api::conditions::active);
  out.observed_generation = generation;
  out.status = api::ConditionStatus::False;
  if (!view.config_error.empty()) {
    out.reason = std::string(api::reasons::bad_config);
    out.message = "Cannot load the AdmissionChecks parameters: " + view.config_error;
    return out;
  }
  if (!view.missing.empty()) out.message = "Missing clusters: " + bracketed(view.missing);
  if (!view.inactive.empty()) {
    out.message += out.message.empty() ? "" : ", ";
    out.message += "Inactive clusters: " + bracketed(view.inactive);
  }
  if (view.missing.size() + view.inactive.size() >= view.clusters.size()) {
    out.reason = std::string(api::reasons::no_usable_clusters);
    return out;
  }
  out.status = api::ConditionStatus::True;
  if (out.message.empty()) {
    out.reason = std::string(api::reasons::active);
    out.message = "The admission check is active";
  } else {
    out.reason = std::string(api::reasons::some_active_clusters);
  }
  return out;
}

}  // namespace regatta::lifecycle
