#pragma once

#include "lib/api/kueue.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::placement {

/// What decides the quota of a hub's ClusterQueue that follows its workers (KEP-9988).
struct AutomatedQuotaInput {
  bool config_found = true;  ///< the MultiKueueConfig of its check
  bool requested = false;    ///< that config says `quotaManagement: Automated`
  api::ClusterQueueSpec spec;
  /// Those that the LocalQueues of the same names lead to on workers, each of them once.
  std::vector<std::shared_ptr<const api::ClusterQueue>> on_workers;
  /// Workers that count and whose queues are not known yet: what is there stays until they are.
  std::vector<std::string> unknown;
  /// Workers that do not let the hub read their queues: "east (clusterqueues)".
  std::vector<std::string> withheld;
};

struct AutomatedQuota {
  /// Of the condition MultiKueueManagerQuotaAutomation, which is True for `QuotaAutomated` only.
  std::string reason, message;
  /// What the spec is to have; nullopt: what it has.
  std::optional<std::vector<api::ResourceGroup>> groups;
};

/// The sum of the nominal quotas on workers, for each resource that the hub covers; those that no
/// worker has become 0. Limits of borrowing and lending stay, but no more is lent than there is.
/// nullopt while there is nothing to say yet. Pure.
std::optional<AutomatedQuota> automated_quota(const AutomatedQuotaInput& input);

/// "cpu 24, memory 96Gi": of the one flavor.
std::string quota_text(const std::vector<api::ResourceGroup>& groups);

}  // namespace regatta::placement
