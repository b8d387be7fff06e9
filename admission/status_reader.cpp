#include "admission/status_reader.h"

#include "admission/fair_share.h"
#include "lib/api/names.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace regatta::admission {
namespace {

std::int64_t rounded_share(double share) {
  if (!std::isfinite(share)) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::ceil(share));
}

}  // namespace

std::vector<std::string> required_checks(const api::ClusterQueueSpec& spec,
                                         const std::set<std::string>* assigned) {
  std::set<std::string> all;
  for (const auto& group : spec.resource_groups) {
    for (const auto& flavor : group.flavors) all.insert(flavor.name);
  }
  std::vector<std::string> checks;
  for (const api::AdmissionCheckRule& rule : spec.admission_checks) {
    const std::set<std::string> on(rule.on_flavors.begin(), rule.on_flavors.end());
    const auto listed = [&](const std::string& flavor) { return on.contains(flavor); };
    const bool wanted =
        on.empty() ||
        (assigned == nullptr ? std::all_of(all.begin(), all.end(), listed)
                             : std::any_of(assigned->begin(), assigned->end(), listed));
    if (wanted) checks.push_back(rule.name);
  }
  std::sort(checks.begin(), checks.end());
  return checks;
}

const LocalQueueInfo* StatusReader::find_local(const api::ObjectKey& key) const {
  const LocalQueueId id = books_->queues.find_local(key);
  return id == no_id ? nullptr : &books_->queues.local(id);
}

Activity StatusReader::activity(const std::string& cluster_queue) const {
  const QueueInfo* queue = find_queue(cluster_queue);
  if (queue == nullptr) return {};
  if (queue->deleting) {
    return {false, std::string(api::reasons::terminating),
            "Can't admit new workloads; clusterQueue is terminating"};
  }
  const ObjectBook::Problems found = books_->objects.problems(queue->spec);
  if (found.empty()) return {true, std::string(api::reasons::ready), "Can admit new workloads"};
  std::vector<std::string> texts;
  for (const auto& problem : found) texts.push_back(problem.second);
  return {false, found.front().first, "Can't admit new workloads: " + joined(texts, ", ") + "."};
}

Activity StatusReader::local_queue_activity(const api::ObjectKey& key) const {
  const LocalQueueInfo* local = find_local(key);
  if (local == nullptr || !local->exists) return {};
  const api::LocalQueueSpec& spec = local->spec;
  if (spec.stop_policy != api::StopPolicy::None) {
    return {false, std::string(api::reasons::stopped), "LocalQueue is stopped"};
  }
  const QueueInfo* queue = find_queue(spec.cluster_queue);
  if (queue != nullptr && queue->active) {
    return {true, std::string(api::reasons::ready), "Can submit new workloads to localQueue"};
  }
  const auto reason = queue == nullptr ? api::reasons::cluster_queue_does_not_exist
                                       : api::reasons::cluster_queue_is_inactive;
  return {false, std::string(reason), "Can't submit new workloads to clusterQueue"};
}

std::vector<FrAmount> StatusReader::usage_of(std::span<const WorkloadId> ids,
                                             bool admitted_only) const {
  std::vector<FrAmount> usage;
  for (const WorkloadId id : ids) {
    const auto& reservation = workloads()[id].reservation;
    if (reservation == nullptr || (admitted_only && !reservation->admitted)) continue;
    for (const FrAmount& used : reservation->usage) add_amount(&usage, used.fr, used.amount);
  }
  return usage;
}

std::vector<api::FlavorUsage> StatusReader::usage_to_api(const QueueInfo& queue,
                                                         std::span<const FrAmount> usage,
                                                         bool borrowed) const {
  std::vector<api::FlavorUsage> flavors;
  for (const auto& group : queue.spec.resource_groups) {
    for (const auto& flavor : group.flavors) {
      api::FlavorUsage& entry = flavors.emplace_back();
      entry.name = flavor.name;
      for (const auto& quota : flavor.resources) {
        Amount total = 0;
        for (const FrAmount& used : usage) {
          if (names().flavor_name(used.fr) == flavor.name &&
              names().resource_name(used.fr) == quota.name) {
            total = used.amount;
          }
        }
        api::ResourceUsage& resource = entry.resources.emplace_back();
        resource.name = quota.name;
        resource.total = api::resource_quantity(quota.name, total);
        if (!borrowed) continue;
        const Amount nominal = api::resource_amount(quota.name, quota.nominal_quota);
        const Amount over =
            queue.spec.cohort_name.empty() ? 0 : std::max<Amount>(0, minus(total, nominal));
        resource.borrowed = api::resource_quantity(quota.name, over);
      }
    }
  }
  return flavors;
}

api::ClusterQueueStatus StatusReader::status(const std::string& cluster_queue) const {
  api::ClusterQueueStatus status;
  const QueueInfo* queue = find_queue(cluster_queue);
  if (queue == nullptr) return status;
  status.flavors_reservation = usage_to_api(*queue, usage_of(queue->reserved, false), true);
  status.flavors_usage = usage_to_api(*queue, usage_of(queue->reserved, true), true);
  status.pending_workloads = static_cast<std::int32_t>(queue->pending.size());
  status.reserving_workloads = static_cast<std::int32_t>(queue->reserved.size());
  status.admitted_workloads = static_cast<std::int32_t>(queue->admitted);
  if (config().fair_sharing) {
    status.fair_sharing.emplace().weighted_share = rounded_share(share_of_queue(cluster_queue));
  }
  return status;
}

/// Resources of the ClusterQueue that were not used show as zero.
api::AdmissionFairSharingStatus StatusReader::consumption(
    const QueueInfo& queue, const UsageHistory::Sample& sample) const {
  api::AdmissionFairSharingStatus usage;
  if (config().admission_fair_sharing->usage_half_life.count() > 0) {
    for (const QueueInfo::Group& group : queue.groups) {
      for (const ResourceId resource : group.resources) {
        usage.consumed_resources[names().resources.name(resource)] = api::Quantity(0);
      }
    }
  }
  for (const auto& [resource, value] : sample.consumed) {
    usage.consumed_resources[resource] = to_quantity(value);
  }
  usage.last_update = sample.at;
  return usage;
}

api::LocalQueueStatus StatusReader::status(const api::ObjectKey& local_queue) const {
  api::LocalQueueStatus status;
  const LocalQueueId id = books_->queues.find_local(local_queue);
  if (id == no_id) return status;
  const LocalQueueInfo& info = books_->queues.local(id);
  status.pending_workloads = static_cast<std::int32_t>(info.pending);
  status.reserving_workloads = static_cast<std::int32_t>(info.reserving);
  status.admitted_workloads = static_cast<std::int32_t>(info.admitted);
  const QueueInfo* queue = find_queue(info.spec.cluster_queue);
  if (queue == nullptr) return status;
  if (books_->history.records_usage(info) && info.history.sampled) {
    status.fair_sharing.emplace().admission_fair_sharing_status =
        consumption(*queue, *info.history.sampled);
  }
  std::vector<WorkloadId> mine;
  for (const WorkloadId held : queue->reserved) {
    if (workloads()[held].local_queue == id) mine.push_back(held);
  }
  status.flavors_reservation = usage_to_api(*queue, usage_of(mine, false), false);
  status.flavors_usage = usage_to_api(*queue, usage_of(mine, true), false);
  return status;
}

api::CohortStatus StatusReader::cohort_status(const std::string& cohort) const {
  api::CohortStatus status;
  if (config().fair_sharing) {
    status.fair_sharing.emplace().weighted_share = rounded_share(share_of_cohort(cohort));
  }
  return status;
}

}  // namespace regatta::admission
