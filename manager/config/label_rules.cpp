#include "lib/api/validation.h"
#include "lib/base/json_access.h"
#include "manager/config/rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace regatta::manager {
namespace {

constexpr std::size_t labels_max = 20;
constexpr std::size_t of_kind_max = 6;
constexpr std::size_t of_workloads_max = 2;
constexpr std::size_t tracked_max = 16;
constexpr std::size_t tracked_of_workloads_max = 12;
constexpr std::string_view workload = "Workload";

bool is_label_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto usable = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), usable);
}

std::string kind_of(const Json& label) {
  const std::string* kind = string_at(label, "sourceKind");
  return kind ? *kind : "ClusterQueue";
}

void check_source(const Json& label, const std::string& path, api::ErrorList* errors) {
  const bool both =
      !text_at(label, "sourceLabelKey").empty() && !text_at(label, "sourceAnnotationKey").empty();
  if (both) {
    errors->invalid(path, webhooks::shaped_text(&label, webhooks::shape_type("config.CustomLabel")),
                    "sourceLabelKey and sourceAnnotationKey are mutually exclusive");
  }
  std::string name = "name";
  for (const char* source : {"sourceAnnotationKey", "sourceLabelKey"}) {
    if (!text_at(label, source).empty()) name = source;
  }
  const std::string& key = text_at(label, name);
  invalid_joined(path + "." + name, key, api::check_label_key(key), "; ", errors);
}

void check_tracked_values(const Json& label, const std::string& path, api::ErrorList* errors) {
  const std::string field = path + ".trackedValues";
  const Json& values = list_or_empty(label, "trackedValues");
  const Json* given = list_at(label, "trackedValues");
  const std::string text = webhooks::shaped_text(given, webhooks::shape_type("[]string"));
  if (kind_of(label) == workload) {
    if (values.empty()) {
      errors->invalid(field, text, "must not be empty when sourceKind is 'Workload'");
    }
    if (values.size() > tracked_of_workloads_max) {
      errors->invalid(field, text, "must not be greater than 12 when sourceKind is 'Workload'");
    }
  } else if (values.size() > tracked_max) {
    errors->too_many(field, values.size(), tracked_max);
  }
  if (std::set<Json>(values.begin(), values.end()).size() < values.size()) {
    errors->invalid(field, text, "must not contain duplicates");
  }
}

void check_kinds(const Json& labels, api::ErrorList* errors) {
  static const std::map<std::string, std::size_t> limits = {{"ClusterQueue", of_kind_max},
                                                            {"Cohort", of_kind_max},
                                                            {"LocalQueue", of_kind_max},
                                                            {"Workload", of_workloads_max}};
  std::map<std::string, std::size_t> counts;
  for (const Json& label : labels) ++counts[kind_of(label)];
  const auto type = webhooks::shape_type("[]config.CustomLabel");
  for (const auto& [kind, count] : counts) {
    const auto limit = limits.find(kind);
    std::string why;
    if (limit == limits.end()) {
      why = "unknown source kind: " + kind;
    } else if (count > limit->second) {
      why = "too many custom labels for source kind " + kind + ": found " + std::to_string(count) +
            ", expected <= " + std::to_string(limit->second);
    } else {
      continue;
    }
    errors->invalid("metrics.customLabels", webhooks::shaped_text(&labels, type), why);
  }
}

}  // namespace

void check_custom_labels(const Json& c, api::ErrorList* errors) {
  const Json& labels = list_or_empty(at_or_null(c, "metrics"), "customLabels");
  if (labels.size() > labels_max) {
    errors->too_many("metrics.customLabels", labels.size(), labels_max);
  }
  std::set<std::string> seen;
  std::size_t i = 0;
  for (const Json& label : labels) {
    const std::string path = api::at("metrics.customLabels", i++);
    const std::string& name = text_at(label, "name");
    if (!is_label_name(name)) {
      errors->invalid(path + ".name", api::in_quotes(name), "must match ^[a-zA-Z][a-zA-Z0-9_]*$");
    }
    if (!seen.insert(name).second) errors->duplicate(path + ".name", api::in_quotes(name));
    check_source(label, path, errors);
    check_tracked_values(label, path, errors);
  }
  check_kinds(labels, errors);
}

}  // namespace regatta::manager
