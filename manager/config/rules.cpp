#include "manager/config/rules.h"

#include "lib/api/names.h"
#include "lib/api/validation.h"
#include "lib/base/duration.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "manager/config/selectors.h"
#include "webhooks/field_rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <array>
#include <set>

namespace regatta::manager {
namespace {

using api::in_quotes;
using webhooks::negative;

std::chrono::nanoseconds length_of(const Json& parent, std::string_view name) {
  return parse_go_duration(text_at(parent, name)).value_or(std::chrono::nanoseconds(0));
}

void not_negative(const Json& parent, std::string_view name, const std::string& path,
                  api::ErrorList* errors) {
  if (length_of(parent, name).count() >= 0) return;
  errors->invalid(path + "." + std::string(name), in_quotes(text_at(parent, name)), negative);
}

void not_negative_number(const Json& parent, std::string_view name, const std::string& path,
                         api::ErrorList* errors) {
  const std::int64_t number = integer_at(parent, name).value_or(0);
  if (number >= 0) return;
  errors->invalid(path + "." + std::string(name), std::to_string(number), negative);
}

void check_wait_for_pods_ready(const Json& c, const FeatureGates& gates, api::ErrorList* errors) {
  const Json& wait = at_or_null(c, "waitForPodsReady");
  if (!wait.is_object() || gates.enabled("DisableWaitForPodsReady")) return;
  const std::string path = "waitForPodsReady";
  if (length_of(wait, "timeout").count() == 0) {
    errors->required(path + ".timeout", "must be specified");
  }
  not_negative(wait, "timeout", path, errors);
  not_negative(wait, "recoveryTimeout", path, errors);
  const Json& requeuing = at_or_null(wait, "requeuingStrategy");
  const std::string inner = path + ".requeuingStrategy";
  const std::string* timestamp = string_at(requeuing, "timestamp");
  if (timestamp && *timestamp != "Creation" && *timestamp != "Eviction") {
    errors->not_supported(inner + ".timestamp", api::json_quotes(*timestamp),
                          {"Creation", "Eviction"});
  }
  not_negative_number(requeuing, "backoffLimitCount", inner, errors);
  not_negative_number(requeuing, "backoffBaseSeconds", inner, errors);
  not_negative_number(requeuing, "backoffMaxSeconds", inner, errors);
}

void check_fair_sharing(const Json& c, api::ErrorList* errors) {
  const Json* sharing = object_at(c, "fairSharing");
  if (!sharing) return;
  const std::string path = "fairSharing.preemptionStrategies";
  const Json& given = list_or_empty(*sharing, "preemptionStrategies");
  if (given.empty()) return errors->required(path, "must be specified");
  const std::string final_share = "LessThanOrEqualToFinalShare", initial = "LessThanInitialShare";
  const bool known = given == Json::array({final_share}) || given == Json::array({initial}) ||
                     given == Json::array({final_share, initial});
  if (known) return;
  errors->not_supported(path, webhooks::shaped_text(&given, webhooks::shape_type("[]string")),
                        {final_share, initial, final_share + "," + initial});
}

void check_admission_fair_sharing(const Json& c, api::ErrorList* errors) {
  const Json* sharing = object_at(c, "admissionFairSharing");
  if (!sharing) return;
  const std::string path = "admissionFairSharing";
  not_negative(*sharing, "usageHalfLifeTime", path, errors);
  if (length_of(*sharing, "usageSamplingInterval").count() <= 0) {
    // Kueue shows the half-life time here.
    errors->invalid(path + ".usageSamplingInterval",
                    in_quotes(text_at(*sharing, "usageHalfLifeTime")), "must be greater than 0");
  }
  const Json& weights = object_or_empty(*sharing, {"resourceWeights"});
  for (const auto& [resource, weight] : weights.items()) {
    if (weight.get<double>() >= 0) continue;
    errors->invalid(api::at(path + ".resourceWeights", resource),
                    webhooks::shaped_text(&weights, webhooks::shape_type("{}float64")), negative);
  }
}

void check_certificates(const Json& c, api::ErrorList* errors) {
  const Json& certificates = at_or_null(c, "internalCertManagement");
  if (!true_at(certificates, "enable")) return;
  const std::string path = "internalCertManagement.";
  if (const std::string* name = string_at(certificates, "webhookServiceName")) {
    invalid_joined(path + "webhookServiceName", *name, api::check_dns1035_label(*name), ",",
                   errors);
  }
  if (const std::string* name = string_at(certificates, "webhookSecretName")) {
    invalid_joined(path + "webhookSecretName", *name, api::check_dns1123_subdomain(*name), ",",
                   errors);
  }
}

void check_transformations(const Json& c, api::ErrorList* errors) {
  std::set<std::string> seen;
  std::size_t i = 0;
  for (const Json& one : list_or_empty(at_or_null(c, "resources"), "transformations")) {
    const std::string path = api::at("resources.transformations", i++);
    const std::string& strategy = text_at(one, "strategy");
    if (strategy != "Retain" && strategy != "Replace") {
      errors->not_supported(path + ".strategy", api::json_quotes(strategy), {"Retain", "Replace"});
    }
    const std::string& input = text_at(one, "input");
    if (!seen.insert(input).second) errors->duplicate(path + ".input", api::json_quotes(input));
  }
}

void check_retention(const Json& c, api::ErrorList* errors) {
  const Json& workloads = object_or_empty(c, {"objectRetentionPolicies", "workloads"});
  not_negative(workloads, "afterFinished", "objectRetentionPolicies.workloads", errors);
  not_negative(workloads, "afterDeactivatedByKueue", "objectRetentionPolicies.workloads", errors);
}

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

void check_visibility_server(const Json& c, api::ErrorList* errors) {
  const Json& server = at_or_null(c, "visibilityServer");
  if (const std::string* address = string_at(server, "bindAddress");
      address && !is_address(*address)) {
    errors->invalid("visibilityServer.bindAddress", in_quotes(*address),
                    "must be a valid IP address");
  }
  const auto port = integer_at(server, "bindPort");
  if (port && (*port < 1 || *port > 65535)) {
    errors->invalid("visibilityServer.bindPort", std::to_string(*port),
                    "must be a valid port number (1-65535)");
  }
}

void check_quota_strategy(const Json& c, const FeatureGates& gates, api::ErrorList* errors) {
  const Json& resources = at_or_null(c, "resources");
  const std::string* strategy = string_at(resources, "quotaCheckStrategy");
  if (!strategy || !gates.enabled("QuotaCheckStrategy")) return;
  const std::string path = "resources.quotaCheckStrategy", ignore = "IgnoreUndeclared";
  if (*strategy == ignore && !list_or_empty(resources, "excludeResourcePrefixes").empty()) {
    errors->invalid(path, api::json_quotes(*strategy),
                    "excludeResourcePrefixes is not allowed when quotaCheckStrategy is "
                    "IgnoreUndeclared");
  }
  if (*strategy != ignore && *strategy != "BlockUndeclared") {
    errors->not_supported(path, api::json_quotes(*strategy), {ignore, "BlockUndeclared"});
  }
}

}  // namespace

void invalid_joined(std::string field, std::string_view value,
                    const std::vector<std::string>& complaints, std::string_view separator,
                    api::ErrorList* errors) {
  if (complaints.empty()) return;
  errors->invalid(std::move(field), in_quotes(value), joined(complaints, separator));
}

void check_namespace_selector(const Json& c, api::ErrorList* errors) {
  const std::string path = "managedJobsNamespaceSelector";
  const Json& given = at_or_null(c, path);
  webhooks::check_selector(given, path, errors);
  const auto selector = api::Selector::from(selector_of(given));
  if (!selector) return;
  for (const std::string& ns : {std::string("kube-system"), text_at(c, "namespace")}) {
    if (ns.empty() || !selector->matches({{std::string(api::labels::namespace_name), ns}})) {
      continue;
    }
    errors->invalid(path, webhooks::shaped_text(&given, webhooks::shape_type("LabelSelector")),
                    "should not match the " + in_quotes(ns) + " namespace");
  }
}

api::FieldErrors check_rules(const Json& effective, const FeatureGates& gates) {
  api::ErrorList errors;
  check_wait_for_pods_ready(effective, gates, &errors);
  check_integrations(effective, &errors);
  check_multi_kueue(effective, &errors);
  check_fair_sharing(effective, &errors);
  check_admission_fair_sharing(effective, &errors);
  check_certificates(effective, &errors);
  check_transformations(effective, &errors);
  check_device_classes(effective, gates, &errors);
  check_namespace_selector(effective, &errors);
  check_retention(effective, &errors);
  check_tls(effective, &errors);
  check_visibility_server(effective, &errors);
  check_custom_labels(effective, &errors);
  check_quota_strategy(effective, gates, &errors);
  return errors.take();
}

}  // namespace regatta::manager
