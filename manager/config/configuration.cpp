#include "manager/config/configuration.h"

#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "manager/config/rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manager {
namespace {

/// Known fields that have no effect yet.
constexpr std::string_view without_effect[] = {
    "controller.cacheSyncTimeout",   "integrations.podOptions",
    "leaderElection.resourceLock",   "pprofBindAddress",
    "resources.deviceClassMappings", "tls"};

bool has(const Json& document, std::string_view path) {
  const Json* at = &document;
  while (at && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = member(*at, path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

/// Adds the warning "what: a, b", or none for an empty list.
void warn_of(std::string_view what, const std::vector<std::string>& names,
             Configuration* configuration) {
  if (names.empty()) return;
  configuration->warnings.push_back(std::string(what) + ": " + joined(names));
}

void warn_of_labels(const Json& effective, Configuration* configuration) {
  const Json& labels = list_or_empty(at_or_null(effective, "metrics"), "customLabels");
  if (labels.empty()) return;
  if (!configuration->gates.enabled("CustomMetricLabels")) {
    configuration->warnings.push_back(
        "metrics.customLabels have no effect without the feature gate CustomMetricLabels");
  }
}

void warn_of_profiles(const Configuration& given, std::vector<std::string>* warnings) {
  const bool on = given.gates.enabled("MultiKueueClusterProfile");
  if (on == !given.multi_kueue.plugins.empty()) return;
  warnings->push_back(on ? "the feature gate MultiKueueClusterProfile has no effect without "
                           "multiKueue.clusterProfile.accessProviders"
                         : "multiKueue.clusterProfile has no effect without the feature gate "
                           "MultiKueueClusterProfile");
}

/// Frameworks that are neither built in nor described, and descriptions that no framework names.
void warn_of_frameworks(Configuration* configuration) {
  const Integrations& integrations = configuration->integrations;
  std::vector<std::string> described, missing, unnamed;
  for (const Json& one : integrations.described_kinds) {
    const std::string& name = described.emplace_back(described_framework(one));
    if (!integrations.enabled(name)) unnamed.push_back(name);
  }
  for (const std::string& framework : integrations.frameworks) {
    const bool known = std::find(described.begin(), described.end(), framework) != described.end();
    if (!known && !has_framework(framework)) missing.push_back(framework);
    if (framework == spark_framework && !configuration->gates.enabled(spark_gate)) {
      configuration->warnings.push_back("integrations.frameworks: " + framework +
                                        " needs the feature gate " + std::string(spark_gate));
    }
  }
  warn_of("integrations.frameworks that Regatta does not have, whose objects it leaves alone",
          missing, configuration);
  warn_of(
      "integrations.describedKinds that integrations.frameworks does not list, whose objects "
      "are left alone",
      unnamed, configuration);
}

void warn_of_unused(const ConfigDocument& document, Configuration* configuration) {
  if (document.written.contains("queueVisibility")) {
    configuration->warnings.push_back("queueVisibility has no effect: use the visibility API");
  }
  std::vector<std::string> fields;
  for (const std::string_view path : without_effect) {
    if (has(document.written, path)) fields.emplace_back(path);
  }
  warn_of("fields without effect in Regatta", fields, configuration);
  warn_of_frameworks(configuration);
  if (!configuration->integrations.enabled("batch/job")) {
    configuration->warnings.push_back(
        "integrations.frameworks does not list batch/job, which Regatta always manages");
  }
  warn_of_labels(document.effective, configuration);
  warn_of_profiles(*configuration, &configuration->warnings);
  warn_of("feature gates without effect in Regatta", configuration->gates.without_effect(),
          configuration);
}

GateSettings gates_in(const Json& effective) {
  GateSettings settings;
  for (const auto& [name, on] : object_or_empty(effective, {"featureGates"}).items()) {
    settings.emplace(name, on.get<bool>());
  }
  return settings;
}

/// The value of an error about gates: the flag, or what the file says.
std::string shown_gates(const Json& effective, std::string_view flag) {
  if (!flag.empty()) return api::in_quotes(flag);
  return webhooks::shaped_text(object_at(effective, "featureGates"),
                               webhooks::shape_type("{}bool"));
}

void read_gates(std::string_view flag, CheckedConfiguration* checked) {
  const Json& effective = checked->document.effective;
  api::ErrorList errors;
  const auto refuse = [&](const std::string& value, const std::string& why) {
    errors.invalid("featureGates", value, why);
    checked->gate_errors = errors.take();
  };
  if (!flag.empty() && effective.contains("featureGates")) {
    return refuse(shown_gates(effective, {}),
                  "feature gates for CLI and configuration cannot both specified");
  }
  auto settings = flag.empty() ? gates_in(effective) : parse_feature_gates_flag(flag);
  if (!settings) return refuse(shown_gates(effective, flag), settings.error().what());
  for (const auto& [name, on] : *settings) checked->hint += similar_feature_gate(name);
  auto gates = FeatureGates::make(std::move(*settings));
  if (!gates) return refuse(shown_gates(effective, flag), gates.error().what());
  checked->gates = std::move(*gates);
}

Error all_of(const std::vector<std::string>& problems) {
  return Error(Errc::invalid, joined(problems, "\n"));
}

}  // namespace

bool Integrations::enabled(std::string_view framework) const {
  return std::find(frameworks.begin(), frameworks.end(), framework) != frameworks.end();
}

Result<CheckedConfiguration> check_configuration(std::string_view text,
                                                 std::string_view feature_gates,
                                                 const std::string& default_namespace) {
  Result<ConfigDocument> document = read_document(text, default_namespace);
  if (!document) return document.error();
  CheckedConfiguration out;
  out.document = std::move(*document);
  read_gates(feature_gates, &out);
  if (out.gate_errors.empty()) out.errors = check_rules(out.document.effective, out.gates);
  return out;
}

Result<Configuration> load_configuration(std::string_view text, std::string_view feature_gates,
                                         const std::string& default_namespace) {
  const auto checked = check_configuration(text, feature_gates, default_namespace);
  if (!checked) return checked.error();
  std::vector<std::string> problems;
  for (const auto& error : checked->gate_errors) problems.push_back(error.text() + checked->hint);
  for (const auto& error : checked->errors) problems.push_back(error.text());
  if (!problems.empty()) return all_of(problems);
  Configuration out = decode_configuration(checked->document.effective, checked->gates);
  problems = check_start(out);
  if (!problems.empty()) return all_of(problems);
  const Json& written = checked->document.written;
  out.webhooks_demanded = has(written, "internalCertManagement") || has(written, "webhook.certDir");
  warn_of_unused(checked->document, &out);
  return out;
}

}  // namespace regatta::manager
