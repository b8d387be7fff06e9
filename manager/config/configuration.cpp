#include "manager/config/configuration.h"

#include "lib/api/yaml.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manager {
namespace {

constexpr std::string_view v1beta1 = "config.kueue.x-k8s.io/v1beta1";
constexpr std::string_view v1beta2 = "config.kueue.x-k8s.io/v1beta2";
constexpr std::size_t bytes_max = 1024 * 1024;

constexpr std::string_view frameworks[] = {"batch/job",
                                           "deployment",
                                           "jobset.x-k8s.io/jobset",
                                           "kubeflow.org/jaxjob",
                                           "kubeflow.org/mpijob",
                                           "kubeflow.org/paddlejob",
                                           "kubeflow.org/pytorchjob",
                                           "kubeflow.org/tfjob",
                                           "kubeflow.org/xgboostjob",
                                           "leaderworkerset.x-k8s.io/leaderworkerset",
                                           "pod",
                                           "ray.io/raycluster",
                                           "ray.io/rayjob",
                                           "ray.io/rayservice",
                                           "sparkoperator.k8s.io/sparkapplication",
                                           "statefulset",
                                           "trainer.kubeflow.org/trainjob",
                                           "workload.codeflare.dev/appwrapper"};

/// Which version the document has; an Error when it is another kind of document.
Result<bool> is_v1beta1(const Json& document) {
  if (!document.is_object()) {
    return Error(Errc::invalid, "the configuration is not an object");
  }
  const std::string kind = text_at(document, "kind");
  const std::string version = text_at(document, "apiVersion");
  if (kind != "Configuration") {
    return Error(Errc::invalid, "kind: expected Configuration, got \"" + kind + "\"");
  }
  if (version == v1beta1) return true;
  if (version == v1beta2) return false;
  return Error(Errc::invalid, "apiVersion: expected " + std::string(v1beta2) + " or " +
                                  std::string(v1beta1) + ", got \"" + version + "\"");
}

/// Sets defaults that depend on other fields.
void complete(Configuration* configuration) {
  if (configuration->leader_election.resource_namespace.empty()) {
    configuration->leader_election.resource_namespace = configuration->ns;
  }
  if (!configuration->managed_jobs_namespace_selector) {
    api::LabelSelectorRequirement elsewhere;
    elsewhere.key = api::labels::namespace_name;
    elsewhere.op = "NotIn";
    elsewhere.values = {"kube-system", configuration->ns};
    api::LabelSelector selector;
    selector.match_expressions.push_back(std::move(elsewhere));
    configuration->managed_jobs_namespace_selector = std::move(selector);
  }
  auto& wait = configuration->wait_for_pods_ready;
  if (wait && configuration->gates.enabled("DisableWaitForPodsReady")) wait.reset();
  if (wait && !wait->recovery_timeout) wait->recovery_timeout = wait->timeout;
}

/// Known fields that have no effect yet.
constexpr std::string_view without_effect[] = {"controller.cacheSyncTimeout",
                                               "integrations.externalFrameworks",
                                               "integrations.podOptions",
                                               "internalCertManagement",
                                               "leaderElection.resourceLock",
                                               "multiKueue.clusterProfile",
                                               "multiKueue.externalFrameworks",
                                               "pprofBindAddress",
                                               "resources.deviceClassMappings",
                                               "tls",
                                               "visibilityServer",
                                               "webhook"};

bool has(const Json& document, std::string_view path) {
  const Json* at = &document;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto member = at->is_object() ? at->find(std::string(path.substr(0, dot))) : at->end();
    if (member == at->end() || member->is_null()) return false;
    at = &*member;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return true;
}

/// Adds the warning "what: a, b", or none for an empty list.
void warn_of(std::string_view what, const std::vector<std::string>& names,
             Configuration* configuration) {
  if (names.empty()) return;
  configuration->warnings.push_back(std::string(what) + ": " + joined(names));
}

void warn_of_unused(const Json& document, Configuration* configuration) {
  std::vector<std::string> fields, missing;
  for (const std::string_view path : without_effect) {
    if (has(document, path)) fields.emplace_back(path);
  }
  warn_of("fields without effect in Regatta", fields, configuration);
  for (const std::string& framework : configuration->integrations.frameworks) {
    if (framework != "batch/job") missing.push_back(framework);
  }
  warn_of("integrations.frameworks that Regatta does not have, whose objects it leaves alone",
          missing, configuration);
  if (!configuration->integrations.enabled("batch/job")) {
    configuration->warnings.push_back(
        "integrations.frameworks does not list batch/job, which Regatta always manages");
  }
}

Error all_of(const std::vector<std::string>& problems) {
  return Error(Errc::invalid, joined(problems, "\n"));
}

}  // namespace

std::span<const std::string_view> all_frameworks() {
  return frameworks;
}

bool Integrations::enabled(std::string_view framework) const {
  return std::find(frameworks.begin(), frameworks.end(), framework) != frameworks.end();
}

Result<Configuration> load_configuration(std::string_view text, const GateSettings& flag_gates,
                                         const std::string& default_namespace) {
  if (text.size() > bytes_max) {
    return Error(Errc::invalid, "the configuration has more than 1 MiB");
  }
  const Result<Json> document = api::parse_yaml(text);
  if (!document) return document.error();
  Configuration configuration;
  configuration.ns = default_namespace;
  ReadContext context;
  if (!document->is_null()) {
    const Result<bool> old = is_v1beta1(*document);
    if (!old) return old.error();
    context.v1beta1 = *old;
    decode_configuration(*document, &context, &configuration);
    warn_of_unused(*document, &configuration);
  }
  auto gates = FeatureGates::make(configuration.feature_gates, flag_gates);
  if (gates) {
    configuration.gates = std::move(*gates);
    warn_of("feature gates without effect in Regatta", configuration.gates.without_effect(),
            &configuration);
  } else {
    context.problems.push_back(gates.error().what());
  }
  complete(&configuration);
  const auto invalid = validate(configuration);
  context.problems.insert(context.problems.end(), invalid.begin(), invalid.end());
  if (!context.problems.empty()) return all_of(context.problems);
  return configuration;
}

}  // namespace regatta::manager
