#include "lab/apiserver/health.h"

#include "lab/apiserver/output.h"
#include "lab/terms.h"
#include "lib/manifest/failure.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace regatta::apiserver {
namespace {

/// The hooks that kube-apiserver starts one after another. Here all of them run from the beginning.
constexpr std::array hooks = {
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-wait-for-first-sync",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
    "",  // not a hook: autoregister-completion
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
};

std::vector<std::string> checks_of(bool ready) {
  std::vector<std::string> checks = {"ping", "log"};
  if (ready) {
    checks.emplace_back("informer-sync");
  } else {
    checks.emplace_back("loopback-serving-certificate");
    checks.emplace_back("etcd");
  }
  for (const std::string hook : hooks) {
    checks.push_back(hook.empty() ? "autoregister-completion" : "poststarthook/" + hook);
  }
  if (ready) checks.emplace_back("shutdown");
  return checks;
}

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

const std::vector<std::string>& health_checks(const std::string& endpoint) {
  static const std::vector<std::string> live = checks_of(false);
  static const std::vector<std::string> ready = checks_of(true);
  return endpoint == "readyz" ? ready : live;
}

std::optional<net::HttpResponse> health(const RequestInfo& info) {
  const auto& s = info.segments;
  if (s.empty() || (s[0] != "healthz" && s[0] != "livez" && s[0] != "readyz")) return std::nullopt;
  const std::vector<std::string>& checks = health_checks(s[0]);
  if (s.size() > 1) {
    const std::string name = info.path.substr(s[0].size() + 2);
    return has(checks, name) ? respond_text(200, "ok") : respond_text(404, "404 page not found\n");
  }
  if (!info.query.has("verbose")) return respond_text(200, "ok");
  const std::vector<std::string> excluded = info.query.all("exclude");
  std::string text;
  for (const std::string& check : checks) {
    text += "[+]" + check + (has(excluded, check) ? " excluded: ok\n" : " ok\n");
  }
  std::string unmatched;
  for (const std::string& name : excluded) {
    if (!has(checks, name)) unmatched += (unmatched.empty() ? "" : ", ") + in_quotes(name);
  }
  if (!unmatched.empty()) {
    text += "warn: some health checks cannot be excluded: no matches for " + unmatched + "\n";
  }
  return respond_text(200, text + s[0] + " check passed\n");
}

}  // namespace regatta::apiserver
