// Webhooks of the manager, and certificates.
#include "lib/api/core.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "lib/kube/status.h"
#include "operate/doctor.h"
#include "operate/expiry.h"
#include "operate/questions.h"

#include <nlohmann/json.hpp>

namespace regatta::operate {
namespace {

constexpr const char* admission = "admissionregistration.k8s.io";
constexpr api::ResourceInfo mutating{admission, "v1", "MutatingWebhookConfiguration",
                                     "mutatingwebhookconfigurations", false};
constexpr api::ResourceInfo validating{admission, "v1", "ValidatingWebhookConfiguration",
                                       "validatingwebhookconfigurations", false};
constexpr api::ResourceInfo definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                        "customresourcedefinitions", false};
constexpr api::ResourceInfo flavors{"kueue.x-k8s.io", "v1beta2", "ResourceFlavor",
                                    "resourceflavors", false};
constexpr Duration certificate_early = std::chrono::hours(24);
constexpr const char* who_writes =
    "the manager (internalCertManagement) or cert-manager writes it: see its log";

bool is_of_kueue(const Json& webhook, const std::string& hub_ns) {
  const Json& service = object_or_empty(webhook, {"clientConfig", "service"});
  return text_at(service, "namespace") == hub_ns || text_at(webhook, "name").ends_with(".kb.io");
}

/// The authority in a clientConfig.
void check_bundle(const Json& client_config, const std::string& what, TimePoint now,
                  Examination* out) {
  const auto bundle = base64_decode(text_at(client_config, "caBundle"));
  if (!bundle || bundle->empty()) {
    ++out->checks;
    return out->error("hub", what + " has no CA bundle, so no API server can call it", who_writes);
  }
  check_certificate(out, "hub", "the authority of " + what, *bundle, now, certificate_early,
                    who_writes);
}

/// Asks something that webhooks are called for. Nothing is stored.
Task<> check_reachable(DoctorDeps deps, Examination* out) {
  const Json flavor{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                    {"kind", "ResourceFlavor"},
                    {"metadata", {{"name", "regatta-doctor"}}}};
  kube::WriteOptions options;
  options.dry_run = true;
  const auto answer = co_await deps.hub.create_raw(flavors, "", dump_json(flavor), options);
  ++out->checks;
  if (answer || answer.error().what().find("webhook") == std::string::npos) co_return;
  out->error("hub", "a webhook does not answer: " + answer.error().what(),
             "see whether the manager runs, its Service has endpoints, and nothing blocks "
             "connections of the API server to port 9443");
}

Task<> check_webhooks(DoctorDeps deps, Examination* out) {
  bool any = false;
  for (const api::ResourceInfo& resource : {mutating, validating}) {
    const auto found = co_await list_json(deps.hub, resource);
    if (!found) {
      out->cannot_check("hub: " + std::string(resource.plural) + ": " + found.error().what());
      continue;
    }
    for (const Json& configuration : *found) {
      for (const Json& webhook : list_or_empty(configuration, "webhooks")) {
        if (!is_of_kueue(webhook, deps.hub_ns)) continue;
        any = true;
        check_bundle(object_or_empty(webhook, {"clientConfig"}),
                     "webhook " + text_at(webhook, "name"), deps.clock.now(), out);
      }
    }
  }
  if (any) co_await check_reachable(deps, out);
}

Task<> check_conversion(DoctorDeps deps, Examination* out) {
  const auto found = co_await list_json(deps.hub, definitions);
  if (!found) co_return out->cannot_check("hub: conversion: " + found.error().what());
  for (const Json& definition : *found) {
    if (text_at(definition, {"spec", "group"}) != "kueue.x-k8s.io") continue;
    const Json& conversion = object_or_empty(definition, {"spec", "conversion"});
    if (text_at(conversion, "strategy") != "Webhook") continue;
    check_bundle(object_or_empty(conversion, {"webhook", "clientConfig"}),
                 "the conversion of " + text_at(definition, {"metadata", "name"}), deps.clock.now(),
                 out);
  }
}

Task<> check_certificates(DoctorDeps deps, Examination* out) {
  const auto found = co_await list_json(deps.hub, api::Secret::resource, deps.hub_ns);
  if (!found) co_return out->cannot_check("hub: certificates: " + found.error().what());
  for (const Json& secret : *found) {
    const auto pem = base64_decode(text_at(object_or_empty(secret, {"data"}), "tls.crt"));
    if (!pem || pem->empty()) continue;
    check_certificate(
        out, "hub",
        "the certificate in Secret " + deps.hub_ns + "/" + text_at(secret, {"metadata", "name"}),
        *pem, deps.clock.now(), certificate_early, who_writes);
  }
}

}  // namespace

Task<> examine_servers(DoctorDeps deps, Examination* out) {
  co_await check_webhooks(deps, out);
  co_await check_conversion(deps, out);
  co_await check_certificates(deps, out);
}

}  // namespace regatta::operate
