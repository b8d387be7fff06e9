#include "lib/api/validation.h"
#include "lib/base/near_miss.h"
#include "manager/config/configuration.h"
#include "manager/config/duration.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace regatta::manager {
namespace {

using Problems = std::vector<std::string>;

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

void invalid(Problems* problems, const std::string& path, const std::string& value,
             std::string_view why) {
  problems->push_back(path + ": Invalid value: " + value + ": " + std::string(why));
}

constexpr std::string_view not_negative = "must be greater than or equal to 0";

void at_least_zero(Problems* problems, const std::string& path, Duration value) {
  if (value.count() < 0)
    invalid(problems, path, in_quotes(format_go_duration(value)), not_negative);
}

void at_least(Problems* problems, const std::string& path, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  invalid(problems, path, std::to_string(value),
          "must be greater than or equal to " + std::to_string(least));
}

void complaints(Problems* problems, const std::string& path, const std::string& value,
                const api::Complaints& found) {
  for (const std::string& complaint : found) invalid(problems, path, in_quotes(value), complaint);
}

std::string at(std::string_view list, std::size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

void check_port(Problems* problems, const std::string& path, int port) {
  if (port >= 1 && port <= 65535) return;
  invalid(problems, path, std::to_string(port), "must be between 1 and 65535, inclusive");
}

/// "kind.version.group", where the group contains dots, too.
bool is_kind_version_group(std::string_view name) {
  const std::size_t first = name.find('.');
  if (first == std::string_view::npos || first == 0) return false;
  const std::size_t second = name.find('.', first + 1);
  if (second == std::string_view::npos || second == first + 1) return false;
  return second + 1 < name.size() && api::check_dns1123_subdomain(name.substr(second + 1)).empty();
}

/// Kinds that MultiKueue handles without configuration, as "kind.group" in lower case.
constexpr std::string_view built_in_adapters[] = {"appwrapper.workload.codeflare.dev",
                                                  "jaxjob.kubeflow.org",
                                                  "job.batch",
                                                  "jobset.jobset.x-k8s.io",
                                                  "leaderworkerset.leaderworkerset.x-k8s.io",
                                                  "mpijob.kubeflow.org",
                                                  "paddlejob.kubeflow.org",
                                                  "pytorchjob.kubeflow.org",
                                                  "raycluster.ray.io",
                                                  "rayjob.ray.io",
                                                  "rayservice.ray.io",
                                                  "statefulset.apps",
                                                  "tfjob.kubeflow.org",
                                                  "trainjob.trainer.kubeflow.org",
                                                  "xgboostjob.kubeflow.org"};

bool has_built_in_adapter(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t second = name.find('.', first + 1);
  std::string kind_group = std::string(name.substr(0, first)) + std::string(name.substr(second));
  for (char& c : kind_group) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(std::begin(built_in_adapters), std::end(built_in_adapters), kind_group) !=
         std::end(built_in_adapters);
}

void check_exec_config(Problems* problems, const std::string& path, const ExecConfig& exec) {
  if (exec.command.empty()) problems->push_back(path + ".command: Required value");
  if (exec.api_version.empty()) problems->push_back(path + ".apiVersion: Required value");
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    if (exec.env[i].name.empty()) {
      problems->push_back(at(path + ".env", i) + ".name: Required value");
    }
  }
  const auto& mode = exec.interactive_mode;
  if (mode.empty()) {
    problems->push_back(path + ".interactiveMode: Required value");
  } else if (mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    problems->push_back(path + ".interactiveMode: Unsupported value: " + in_quotes(mode) +
                        ": supported values: \"Never\", \"IfAvailable\", \"Always\"");
  }
}

void check_multikueue(Problems* problems, const Configuration& c) {
  const MultiKueueConfiguration& m = c.multi_kueue;
  at_least_zero(problems, "multiKueue.gcInterval", m.gc_interval);
  at_least_zero(problems, "multiKueue.workerLostTimeout", m.worker_lost_timeout);
  at_least_zero(problems, "multiKueue.dispatchTimeout", m.dispatch_timeout);
  at_least(problems, "multiKueue.dispatchAttempts", m.dispatch_attempts, 0);
  complaints(problems, "multiKueue.origin", m.origin, api::check_label_value(m.origin));
  at_least(problems, "multiKueue.incrementalDispatcherConfig.stepSize", m.incremental_step_size, 1);
  at_least(problems, "multiKueue.workerLimits.objects", m.worker_limits.objects, 1);
  at_least(problems, "multiKueue.workerLimits.bytes", m.worker_limits.bytes, 1 << 20);
  at_least(problems, "multiKueue.workerLimits.pages", m.worker_limits.pages, 1);
  at_least(problems, "multiKueue.removalBrake.sharePercent", m.brake_share_percent, 0);
  at_least(problems, "multiKueue.removalBrake.atLeast", m.brake_at_least, 0);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < m.external_frameworks.size(); ++i) {
    const std::string& name = m.external_frameworks[i];
    const std::string path = at("multiKueue.externalFrameworks", i) + ".name";
    if (!is_kind_version_group(name)) {
      invalid(problems, path, in_quotes(name), "must be in 'kind.version.group' format");
    } else if (!seen.insert(name).second) {
      problems->push_back(path + ": Duplicate value: " + in_quotes(name));
    } else if (has_built_in_adapter(name)) {
      invalid(problems, path, in_quotes(name), "conflicts with a built-in MultiKueue adapter");
    }
  }
  if (!m.cluster_profile) return;
  seen.clear();
  for (std::size_t i = 0; i < m.cluster_profile->access_providers.size(); ++i) {
    const auto& provider = m.cluster_profile->access_providers[i];
    const std::string path = at("multiKueue.clusterProfile.accessProviders", i);
    if (provider.name.empty()) problems->push_back(path + ".name: Required value");
    if (!seen.insert(provider.name).second) {
      problems->push_back(path + ".name: Duplicate value: " + in_quotes(provider.name));
    }
    check_exec_config(problems, path + ".execConfig", provider.exec_config);
  }
}

void check_integrations(Problems* problems, const Configuration& c) {
  const Integrations& i = c.integrations;
  const auto known = all_frameworks();
  std::set<std::string> seen;
  for (std::size_t n = 0; n < i.frameworks.size(); ++n) {
    const std::string& name = i.frameworks[n];
    const std::string path = at("integrations.frameworks", n);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::vector<std::string_view> names(known.begin(), known.end());
      problems->push_back(path + ": Unsupported value: " + in_quotes(name) +
                          did_you_mean(name, names));
    } else if (!seen.insert(name).second) {
      problems->push_back(path + ": Duplicate value: " + in_quotes(name));
    }
  }
  for (std::size_t n = 0; n < i.external_frameworks.size(); ++n) {
    const std::string& name = i.external_frameworks[n];
    const std::string path = at("integrations.externalFrameworks", n);
    if (!is_kind_version_group(name)) {
      invalid(problems, path, in_quotes(name), "must be in 'Kind.version.group.com' format");
    } else if (!seen.insert(name).second) {
      problems->push_back(path + ": Duplicate value: " + in_quotes(name));
    }
  }
  for (std::size_t n = 0; n < i.label_keys_to_copy.size(); ++n) {
    complaints(problems, at("integrations.labelKeysToCopy", n), i.label_keys_to_copy[n],
               api::check_label_key(i.label_keys_to_copy[n]));
  }
}

/// A manager of every Pod must leave out the namespaces of Kubernetes and Kueue.
void check_namespace_selector(Problems* problems, const Configuration& c) {
  const bool manages_pods = c.integrations.enabled("pod") || c.integrations.enabled("deployment") ||
                            c.integrations.enabled("statefulset") ||
                            c.integrations.enabled("leaderworkerset.x-k8s.io/leaderworkerset");
  if (!manages_pods || !c.managed_jobs_namespace_selector) return;
  const auto selector = api::Selector::from(*c.managed_jobs_namespace_selector);
  if (!selector) return;  // reported where it was read
  for (const std::string& ns : {std::string("kube-system"), c.ns}) {
    const api::StringMap labels{{std::string(api::labels::namespace_name), ns}};
    if (!selector->matches(labels)) continue;
    invalid(problems, "managedJobsNamespaceSelector", in_quotes(selector->str()),
            "should not match the " + in_quotes(ns) + " namespace");
  }
}

void check_wait_for_pods_ready(Problems* problems, const Configuration& c) {
  if (!c.wait_for_pods_ready) return;
  const WaitForPodsReady& w = *c.wait_for_pods_ready;
  at_least_zero(problems, "waitForPodsReady.timeout", w.timeout);
  if (w.recovery_timeout) {
    at_least_zero(problems, "waitForPodsReady.recoveryTimeout", *w.recovery_timeout);
  }
  const std::string path = "waitForPodsReady.requeuingStrategy.";
  const RequeuingStrategy& r = w.requeuing_strategy;
  if (r.backoff_limit_count) {
    at_least(problems, path + "backoffLimitCount", *r.backoff_limit_count, 0);
  }
  at_least(problems, path + "backoffBaseSeconds", r.backoff_base_seconds, 0);
  at_least(problems, path + "backoffMaxSeconds", r.backoff_max_seconds, 0);
}

void check_fair_sharing(Problems* problems, const Configuration& c) {
  if (c.fair_sharing) {
    const auto& s = c.fair_sharing->preemption_strategies;
    const std::string final_share = "LessThanOrEqualToFinalShare", initial = "LessThanInitialShare";
    using List = std::vector<std::string>;
    if (s != List{final_share} && s != List{initial} && s != List{final_share, initial}) {
      problems->push_back("fairSharing.preemptionStrategies: Unsupported value: supported are [" +
                          final_share + "], [" + initial + "] and [" + final_share + " " + initial +
                          "]");
    }
  }
  if (!c.admission_fair_sharing) return;
  const AdmissionFairSharing& a = *c.admission_fair_sharing;
  at_least_zero(problems, "admissionFairSharing.usageHalfLifeTime", a.usage_half_life_time);
  if (a.usage_sampling_interval.count() <= 0) {
    invalid(problems, "admissionFairSharing.usageSamplingInterval",
            in_quotes(format_go_duration(a.usage_sampling_interval)), "must be greater than 0");
  }
  for (const auto& [resource, weight] : a.resource_weights) {
    if (weight >= 0) continue;
    invalid(problems, "admissionFairSharing.resourceWeights[" + resource + "]",
            std::to_string(weight), not_negative);
  }
}

void check_resources(Problems* problems, const Configuration& c) {
  constexpr std::size_t mappings_max = 16, classes_max = 8;
  std::set<std::string> inputs;
  const auto& transformations = c.resources.transformations;
  for (std::size_t i = 0; i < transformations.size(); ++i) {
    const std::string path = at("resources.transformations", i) + ".input";
    const std::string& input = transformations[i].input;
    if (input.empty()) {
      problems->push_back(path + ": Required value");
    } else if (!inputs.insert(input).second) {
      problems->push_back(path + ": Duplicate value: " + in_quotes(input));
    }
  }
  const auto& mappings = c.resources.device_class_mappings;
  if (mappings.size() > mappings_max) {
    problems->push_back("resources.deviceClassMappings: Too many: " +
                        std::to_string(mappings.size()) + ": must have at most 16 items");
  }
  std::set<std::string> names, classes;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const std::string path = at("resources.deviceClassMappings", i);
    complaints(problems, path + ".name", mappings[i].name,
               api::check_qualified_name(mappings[i].name));
    if (!names.insert(mappings[i].name).second) {
      problems->push_back(path + ".name: Duplicate value: " + in_quotes(mappings[i].name));
    }
    const auto& own = mappings[i].device_class_names;
    if (own.empty()) problems->push_back(path + ".deviceClassNames: Required value");
    if (own.size() > classes_max) {
      problems->push_back(path + ".deviceClassNames: Too many: " + std::to_string(own.size()) +
                          ": must have at most 8 items");
    }
    for (std::size_t k = 0; k < own.size(); ++k) {
      if (classes.insert(own[k]).second) continue;
      problems->push_back(at(path + ".deviceClassNames", k) +
                          ": Duplicate value: " + in_quotes(own[k]));
    }
  }
}

bool is_prometheus_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto usable = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), usable);
}

void check_metrics(Problems* problems, const Configuration& c) {
  constexpr std::size_t labels_max = 20, of_kind_max = 6, tracked_max = 16;
  const auto& labels = c.metrics.custom_labels;
  if (!labels.empty() && !c.gates.enabled("CustomMetricLabels")) {
    problems->push_back(
        "metrics.customLabels: Forbidden: needs the feature gate "
        "CustomMetricLabels");
  }
  if (labels.size() > labels_max) {
    problems->push_back("metrics.customLabels: Too many: " + std::to_string(labels.size()) +
                        ": must have at most 20 items");
  }
  std::set<std::string> seen;
  std::map<MetricSource, std::size_t> of_kind;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string path = at("metrics.customLabels", i);
    if (!is_prometheus_name(labels[i].name)) {
      invalid(problems, path + ".name", in_quotes(labels[i].name),
              "must match [a-zA-Z][a-zA-Z0-9_]*");
    } else if (!seen.insert(labels[i].name).second) {
      problems->push_back(path + ".name: Duplicate value: " + in_quotes(labels[i].name));
    }
    if (!labels[i].source_label_key.empty() && !labels[i].source_annotation_key.empty()) {
      problems->push_back(path +
                          ": Forbidden: sourceLabelKey and sourceAnnotationKey are mutually "
                          "exclusive");
    }
    if (++of_kind[labels[i].source_kind] == of_kind_max + 1) {
      problems->push_back(path + ".sourceKind: Too many: must have at most 6 items of one kind");
    }
    if (labels[i].tracked_values.size() > tracked_max) {
      problems->push_back(path + ".trackedValues: Too many: must have at most 16 items");
    }
  }
}

void check_process(Problems* problems, const Configuration& c) {
  complaints(problems, "namespace", c.ns, api::check_dns1123_label(c.ns));
  check_port(problems, "webhook.port", c.webhook.port);
  check_port(problems, "visibilityServer.bindPort", c.visibility_server.bind_port);
  const InternalCertManagement& certs = c.internal_cert_management;
  if (certs.enable) {
    complaints(problems, "internalCertManagement.webhookServiceName", certs.webhook_service_name,
               api::check_dns1035_label(certs.webhook_service_name));
    complaints(problems, "internalCertManagement.webhookSecretName", certs.webhook_secret_name,
               api::check_dns1123_subdomain(certs.webhook_secret_name));
  }
  for (const auto& [kind, workers] : c.controller.group_kind_concurrency) {
    at_least(problems, "controller.groupKindConcurrency[" + kind + "]", workers, 1);
  }
  const std::string& tls = c.tls.min_version;
  if (!tls.empty() && tls != "VersionTLS12" && tls != "VersionTLS13") {
    problems->push_back("tls.minVersion: Unsupported value: " + in_quotes(tls) +
                        ": supported values: \"VersionTLS12\", \"VersionTLS13\"");
  }
  if (tls == "VersionTLS13" && !c.tls.cipher_suites.empty()) {
    problems->push_back("tls.cipherSuites: Forbidden: TLS 1.3 has no choice of cipher suites");
  }
}

void check_leader_election(Problems* problems, const Configuration& c) {
  const LeaderElectionConfig& e = c.leader_election;
  if (!e.leader_elect) return;
  const std::string path = "leaderElection.";
  if (e.resource_lock != "leases") {
    problems->push_back(path + "resourceLock: Unsupported value: " + in_quotes(e.resource_lock) +
                        ": supported values: \"leases\"");
  }
  if (e.resource_name.empty()) problems->push_back(path + "resourceName: Required value");
  if (e.retry_period.count() <= 0) {
    invalid(problems, path + "retryPeriod", in_quotes(format_go_duration(e.retry_period)),
            "must be greater than 0");
  }
  if (e.renew_deadline <= e.retry_period) {
    invalid(problems, path + "renewDeadline", in_quotes(format_go_duration(e.renew_deadline)),
            "must be greater than retryPeriod");
  }
  if (e.lease_duration <= e.renew_deadline) {
    invalid(problems, path + "leaseDuration", in_quotes(format_go_duration(e.lease_duration)),
            "must be greater than renewDeadline");
  }
}

void check_retention(Problems* problems, const Configuration& c) {
  const std::string path = "objectRetentionPolicies.workloads.";
  const WorkloadRetention& r = c.workload_retention;
  if (r.after_finished) at_least_zero(problems, path + "afterFinished", *r.after_finished);
  if (r.after_deactivated_by_kueue) {
    at_least_zero(problems, path + "afterDeactivatedByKueue", *r.after_deactivated_by_kueue);
  }
}

}  // namespace

std::vector<std::string> validate(const Configuration& configuration) {
  Problems problems;
  for (const auto check : {check_process, check_leader_election, check_metrics, check_integrations,
                           check_namespace_selector, check_wait_for_pods_ready, check_multikueue,
                           check_fair_sharing, check_resources, check_retention}) {
    check(&problems, configuration);
  }
  return problems;
}

}  // namespace regatta::manager
