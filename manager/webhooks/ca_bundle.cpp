#include "manager/webhooks/ca_bundle.h"

#include "lib/base/base64.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::manager {
namespace {

constexpr std::string_view service_suffix = "-webhook-service";
constexpr api::ResourceInfo mutating{"admissionregistration.k8s.io", "v1",
                                     "MutatingWebhookConfiguration",
                                     "mutatingwebhookconfigurations", false};
constexpr api::ResourceInfo validating{"admissionregistration.k8s.io", "v1",
                                       "ValidatingWebhookConfiguration",
                                       "validatingwebhookconfigurations", false};
constexpr api::ResourceInfo definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                        "customresourcedefinitions", false};

constexpr api::ResourceInfo api_services{"apiregistration.k8s.io", "v1", "APIService",
                                         "apiservices", false};

std::string base_of(std::string_view service) {
  if (service.ends_with(service_suffix)) service.remove_suffix(service_suffix.size());
  return std::string(service);
}

bool set_in(Json* client_config, const std::string& bundle) {
  if (text_at(*client_config, "caBundle") == bundle) return false;
  (*client_config)["caBundle"] = bundle;
  return true;
}

}  // namespace

std::vector<BundleTarget> bundle_targets(std::string_view service) {
  const std::string base = base_of(service);
  std::vector<BundleTarget> out{{validating, base + "-validating-webhook-configuration"},
                                {mutating, base + "-mutating-webhook-configuration"}};
  for (const char* plural :
       {"localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters"}) {
    out.push_back({definitions, std::string(plural) + ".kueue.x-k8s.io"});
  }
  for (const char* version : {"v1beta1", "v1beta2"}) {
    out.push_back({api_services, std::string(version) + ".visibility.kueue.x-k8s.io", true});
  }
  return out;
}

std::string visibility_service(std::string_view service) {
  return base_of(service) + "-visibility-server";
}

bool set_bundle(Json* object, std::string_view authorities_pem) {
  const std::string bundle = base64_encode(authorities_pem);
  bool changed = false;
  if (list_at(*object, "webhooks")) {
    for (Json& hook : (*object)["webhooks"]) {
      if (object_at(hook, "clientConfig")) changed |= set_in(&hook["clientConfig"], bundle);
    }
  }
  if (member(*object, {"spec", "groupPriorityMinimum"}) && member(*object, {"spec", "service"})) {
    Json& spec = (*object)["spec"];
    changed |= spec.erase("insecureSkipTLSVerify") > 0;
    changed |= set_in(&spec, bundle);
  }
  if (!member(*object, {"spec", "conversion", "webhook", "clientConfig"})) return changed;
  const Json::json_pointer config("/spec/conversion/webhook/clientConfig");
  return set_in(&(*object)[config], bundle) || changed;
}

}  // namespace regatta::manager
