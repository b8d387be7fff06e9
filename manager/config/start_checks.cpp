#include "lib/api/validation.h"
#include "lib/base/contains.h"
#include "lib/base/duration.h"
#include "manager/config/configuration.h"

namespace regatta::manager {
namespace {

/// Replicas and API servers learn of a new certificate in about a second.
constexpr Duration certificate_life_min = std::chrono::seconds(5);
/// API servers give no token for less.
constexpr Duration token_life_min = std::chrono::minutes(10);

void must_exceed(api::ErrorList* errors, const std::string& path, Duration value, Duration least,
                 std::string_view what) {
  if (value > least) return;
  errors->invalid(path, api::in_quotes(format_go_duration(value)),
                  "must be greater than " + std::string(what));
}

void at_least(api::ErrorList* errors, const std::string& path, std::int64_t value,
              std::int64_t least) {
  if (value >= least) return;
  errors->invalid(path, std::to_string(value),
                  "must be greater than or equal to " + std::to_string(least));
}

void check_leader_election(api::ErrorList* errors, const LeaderElectionConfig& election) {
  if (!election.leader_elect) return;
  const std::string path = "leaderElection.";
  must_exceed(errors, path + "retryPeriod", election.retry_period, Duration(0), "0");
  must_exceed(errors, path + "renewDeadline", election.renew_deadline, election.retry_period,
              "retryPeriod");
  must_exceed(errors, path + "leaseDuration", election.lease_duration, election.renew_deadline,
              "renewDeadline");
}

/// Fields that Kueue does not have.
void check_own_fields(api::ErrorList* errors, const MultiKueueConfiguration& m) {
  if (m.dispatch_timeout < Duration(0)) {
    errors->invalid("multiKueue.dispatchTimeout",
                    api::in_quotes(format_go_duration(m.dispatch_timeout)),
                    "must be greater than or equal to 0");
  }
  at_least(errors, "multiKueue.dispatchAttempts", m.dispatch_attempts, 0);
  at_least(errors, "multiKueue.workerLimits.objects", m.worker_limits.objects, 1);
  at_least(errors, "multiKueue.workerLimits.bytes", m.worker_limits.bytes, 1 << 20);
  at_least(errors, "multiKueue.workerLimits.pages", m.worker_limits.pages, 1);
  at_least(errors, "multiKueue.removalBrake.sharePercent", m.brake_share_percent, 0);
  at_least(errors, "multiKueue.removalBrake.atLeast", m.brake_at_least, 0);
}

void one_of(api::ErrorList* errors, const std::string& path, const std::string& value,
            const std::vector<std::string>& known) {
  if (!contains(known, value)) errors->not_supported(path, api::in_quotes(value), known);
}

void check_managed_clusters(api::ErrorList* errors, const Configuration& c) {
  if (!c.multi_kueue.managed_clusters) return;
  const ManagedClustersConfiguration& given = *c.multi_kueue.managed_clusters;
  const std::string path = "multiKueue.managedClusters.";
  one_of(errors, path + "accounts", given.accounts, {"Request", "Use"});
  one_of(errors, path + "connection", given.connection, {"ClusterProfile", "Direct", "Proxy"});
  errors->invalid_each(path + "account", given.account, api::check_dns1123_label(given.account));
  if (given.token_validity < token_life_min) {
    errors->invalid(path + "tokenValidity",
                    api::in_quotes(format_go_duration(given.token_validity)),
                    "must be at least " + format_go_duration(token_life_min));
  }
  if (given.connection == "Proxy" && !given.proxy_url.starts_with("https://")) {
    errors->invalid(path + "proxyURL", api::in_quotes(given.proxy_url),
                    "must be an https URL with the connection Proxy");
  }
  if (given.connection == "ClusterProfile" && !c.gates.enabled("MultiKueueClusterProfile")) {
    errors->invalid(path + "connection", api::in_quotes(given.connection),
                    "needs the feature gate MultiKueueClusterProfile");
  }
  if (!given.selector) return;
  if (const auto selector = api::Selector::from(*given.selector); !selector) {
    errors->invalid(path + "selector", "", selector.error().what());
  }
}

void check_webhook(api::ErrorList* errors, const Configuration& c) {
  if (c.webhook.port < 0 || c.webhook.port > 65535) {
    errors->invalid("webhook.port", std::to_string(c.webhook.port), "must be a port");
  }
  const Duration valid_for = c.internal_cert_management.valid_for;
  if (valid_for < certificate_life_min) {
    errors->invalid("internalCertManagement.validFor",
                    api::in_quotes(format_go_duration(valid_for)),
                    "must be at least " + format_go_duration(certificate_life_min));
  }
}

}  // namespace

std::vector<std::string> check_start(const Configuration& c) {
  api::ErrorList errors;
  errors.invalid_each("namespace", c.ns, api::check_dns1123_label(c.ns));
  check_leader_election(&errors, c.leader_election);
  for (const auto& [kind, workers] : c.controller.group_kind_concurrency) {
    at_least(&errors, api::at("controller.groupKindConcurrency", kind), workers, 1);
  }
  check_webhook(&errors, c);
  check_own_fields(&errors, c.multi_kueue);
  check_managed_clusters(&errors, c);
  std::vector<std::string> out;
  for (const api::FieldError& error : errors.take()) out.push_back(error.text());
  return out;
}

}  // namespace regatta::manager
