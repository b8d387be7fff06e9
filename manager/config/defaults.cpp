#include "manager/config/defaults.h"

#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::manager {
namespace {

/// The member, which becomes an empty object when it is absent.
Json& stanza(Json& parent, const char* name) {
  return parent.emplace(name, Json::object()).first.value();
}

void set_if_absent(Json& parent, const char* name, Json value) {
  parent.emplace(name, std::move(value));
}

void set_if_empty(Json& parent, const char* name, std::string_view value) {
  if (text_at(parent, name).empty()) parent[name] = value;
}

void set_if_zero(Json& parent, const char* name, std::string_view duration) {
  const std::string& own = text_at(parent, name);
  if (own.empty() || own == "0s") parent[name] = duration;
}

void complete_process(Json& c, const std::string& default_namespace) {
  set_if_absent(c, "namespace", default_namespace);
  Json& webhook = stanza(c, "webhook");
  set_if_absent(webhook, "port", 9443);
  set_if_empty(webhook, "certDir", "/tmp/k8s-webhook-server/serving-certs");
  Json& metrics = stanza(c, "metrics");
  set_if_empty(metrics, "bindAddress", ":8443");
  set_if_absent(metrics, "localQueueMetrics", Json{{"enable", true}});
  set_if_empty(stanza(c, "health"), "healthProbeBindAddress", ":8081");
  Json& election = stanza(c, "leaderElection");
  set_if_empty(election, "resourceName", "c1f6bfd2.kueue.x-k8s.io");
  set_if_empty(election, "resourceLock", "leases");
  set_if_absent(election, "leaderElect", true);
  set_if_zero(election, "leaseDuration", "15s");
  set_if_zero(election, "renewDeadline", "10s");
  set_if_zero(election, "retryPeriod", "2s");
  Json& certificates = stanza(c, "internalCertManagement");
  set_if_absent(certificates, "enable", true);
  if (true_at(certificates, "enable")) {
    set_if_absent(certificates, "webhookServiceName", "kueue-webhook-service");
    set_if_absent(certificates, "webhookSecretName", "kueue-webhook-server-cert");
  }
  Json& client = stanza(c, "clientConnection");
  set_if_absent(client, "qps", 300);
  set_if_absent(client, "burst", 500);
}

void complete_jobs(Json& c) {
  Json& integrations = stanza(c, "integrations");
  if (list_or_empty(integrations, "frameworks").empty()) {
    integrations["frameworks"] = {"batch/job"};
  }
  if (!c.contains("managedJobsNamespaceSelector")) {
    const Json elsewhere{{"key", api::labels::namespace_name},
                         {"operator", "NotIn"},
                         {"values", {"kube-system", c["namespace"]}}};
    c["managedJobsNamespaceSelector"]["matchExpressions"] = Json::array({elsewhere});
  }
  Json& multi_kueue = stanza(c, "multiKueue");
  set_if_absent(multi_kueue, "gcInterval", "1m0s");
  set_if_empty(multi_kueue, "origin", api::default_origin);
  set_if_absent(multi_kueue, "workerLostTimeout", "15m0s");
  set_if_absent(multi_kueue, "dispatcherName", api::dispatchers::all_at_once);
  if (c.contains("admissionFairSharing")) {
    Json& sharing = c["admissionFairSharing"];
    set_if_zero(sharing, "usageSamplingInterval", "5m0s");
    set_if_absent(sharing, "usageHalfLifeTime", "0s");
  }
  if (!list_or_empty(at_or_null(c, "resources"), "transformations").empty()) {
    for (Json& one : c["resources"]["transformations"]) set_if_empty(one, "strategy", "Retain");
  }
}

void complete_requeuing(Json& wait) {
  Json& requeuing = stanza(wait, "requeuingStrategy");
  set_if_absent(requeuing, "timestamp", "Eviction");
  set_if_absent(requeuing, "backoffBaseSeconds", 60);
  set_if_absent(requeuing, "backoffMaxSeconds", 3600);
}

}  // namespace

void set_defaults(Json* configuration, const std::string& default_namespace) {
  Json& c = *configuration;
  complete_process(c, default_namespace);
  complete_jobs(c);
  Json& wait = stanza(c, "waitForPodsReady");
  set_if_zero(wait, "timeout", "30m0s");
  set_if_absent(wait, "recoveryTimeout", wait["timeout"]);
  set_if_absent(wait, "blockAdmission", false);
  complete_requeuing(wait);
  Json& multi_kueue = c["multiKueue"];
  if (multi_kueue["dispatcherName"] == api::dispatchers::incremental) {
    set_if_absent(stanza(multi_kueue, "incrementalDispatcherConfig"), "stepSize", 3);
  }
  set_if_absent(stanza(c, "visibilityServer"), "bindPort", 8082);
}

void set_old_defaults(Json* configuration, const std::string& default_namespace) {
  Json& c = *configuration;
  complete_process(c, default_namespace);
  complete_jobs(c);
  if (true_at(at_or_null(c, "waitForPodsReady"), "enable")) {
    Json& wait = c["waitForPodsReady"];
    set_if_absent(wait, "timeout", "5m0s");
    set_if_absent(wait, "recoveryTimeout", wait["timeout"]);
    set_if_absent(wait, "blockAdmission", true);
    complete_requeuing(wait);
  }
  const Json& sharing = at_or_null(c, "fairSharing");
  if (true_at(sharing, "enable") && list_or_empty(sharing, "preemptionStrategies").empty()) {
    c["fairSharing"]["preemptionStrategies"] = {"LessThanOrEqualToFinalShare",
                                                "LessThanInitialShare"};
  }
}

void convert_old(Json* configuration) {
  Json& c = *configuration;
  for (const char* name : {"waitForPodsReady", "fairSharing"}) {
    if (!true_at(at_or_null(c, name), "enable")) {
      c.erase(name);
    } else {
      c[name].erase("enable");
    }
  }
  c.erase("queueVisibility");
  c["integrations"].erase("podOptions");
}

}  // namespace regatta::manager
