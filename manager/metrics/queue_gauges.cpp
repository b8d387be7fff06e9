#include "manager/metrics/queue_gauges.h"

#include "lib/api/names.h"
#include "manager/metrics/custom_labels.h"
#include "manager/metrics/gauge_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <prometheus/labels.h>

namespace regatta::manager {
namespace {

using admission::NodeId;
using admission::QueueInfo;
using prometheus::Labels;

constexpr const char* pending_help = "Workloads that wait";
constexpr const char* admitted_help = "Unfinished Workloads that are admitted";
/// The sums over everything below one Cohort.
struct Subtree {
  std::map<std::pair<std::string, std::string>, double> reserved;  ///< by flavor and resource
  std::int64_t admitted = 0;
};

class QueueGauges {
 public:
  QueueGauges(const GaugeSource& source, const QueueGaugesConfig& config)
      : source_(source),
        config_(config),
        reader_(source.reader),
        page_(config.role),
        by_workload_(std::ranges::any_of(config.custom_labels, [](const auto& label) {
          return label.source_kind == MetricSource::Workload;
        })) {}

  std::vector<prometheus::MetricFamily> take() && {
    for (const auto& queue : source_.cluster_queues) cluster_queue(*queue);
    cohorts();
    if (config_.local_queues) {
      for (const auto& queue : source_.local_queues) {
        if (config_.local_queues->matches(queue->metadata.labels)) local_queue(*queue);
      }
    }
    workloads();
    return std::move(page_).families();
  }

 private:
  void cluster_queue(const api::ClusterQueue& queue) {
    const std::string& name = queue.metadata.name;
    const api::ClusterQueueStatus& status = queue.status;
    const Labels labels = {{"cluster_queue", name}};
    page_.add("kueue_reserving_active_workloads", "Unfinished Workloads with a reservation", labels,
              status.reserving_workloads);
    if (!by_workload_) {
      page_.add("kueue_admitted_active_workloads", admitted_help, labels,
                status.admitted_workloads);
    }
    const bool active = api::is_true(status.conditions, api::conditions::active);
    const char* is = queue.metadata.deleting() ? "terminating" : active ? "active" : "pending";
    for (const char* possible : {"active", "pending", "terminating"}) {
      page_.add("kueue_cluster_queue_status", "1 for the state a ClusterQueue is in",
                {{"cluster_queue", name}, {"status", possible}}, std::string_view(possible) == is);
    }
    if (config_.resources) resources_of(queue);
    const QueueInfo* info = reader_.find_queue(name);
    if (!info) return;
    if (by_workload_) {
      split_pending(*info);
      split_admitted(*info);
    } else {
      pending("kueue_pending_workloads", pending_help, labels, info->active,
              info->pending.waiting(), info->pending.inadmissible());
    }
    if (reader_.config().equivalence_hashing || config_.resources) kinds_of(*info);
    place_in_tree(queue, info->node);
  }

  Labels labels_of(admission::WorkloadId id) const {
    const api::ObjectKey& key = reader_.workloads()[id].key;
    return workload_labels(config_.custom_labels, source_.find_workload(key));
  }

  /// Only labels that a Workload has now have series.
  void split_pending(const QueueInfo& queue) {
    std::map<Labels, double> counts;
    for (const admission::WorkloadId id : reader_.pending_ids(queue)) {
      const bool active = queue.active && !admission::is_parked(reader_.workloads()[id]) &&
                          reader_.workloads()[id].place != admission::Place::delayed;
      Labels labels = labels_of(id);
      labels["cluster_queue"] = queue.name;
      labels["status"] = active ? "active" : "inadmissible";
      ++counts[labels];
    }
    for (const auto& [labels, count] : counts) {
      page_.add("kueue_pending_workloads", pending_help, labels, count);
    }
  }

  void split_admitted(const QueueInfo& queue) {
    std::map<Labels, double> counts, local_counts;
    for (const admission::WorkloadId id : queue.reserved) {
      const admission::WorkloadEntry& entry = reader_.workloads()[id];
      if (entry.reservation == nullptr || !entry.reservation->admitted) continue;
      Labels labels = labels_of(id);
      Labels local = labels;
      labels["cluster_queue"] = queue.name;
      ++counts[labels];
      if (entry.local_queue == admission::no_id) continue;
      const api::ObjectKey& key = reader_.local_queue(entry.local_queue).key;
      const auto object = source_.find_local_queue(key);
      if (!object || !config_.local_queues) continue;
      if (!config_.local_queues->matches(object->metadata.labels)) continue;
      local["name"] = key.name;
      local["namespace"] = key.ns;
      ++local_counts[local];
    }
    for (const auto& [labels, count] : counts) {
      page_.add("kueue_admitted_active_workloads", admitted_help, labels, count);
    }
    for (const auto& [labels, count] : local_counts) {
      page_.add("kueue_local_queue_admitted_active_workloads", admitted_help, labels, count);
    }
  }

  /// In an inactive ClusterQueue every workload counts as inadmissible.
  void pending(const char* name, const char* help, Labels labels, bool queue_active,
               std::size_t waiting, std::size_t inadmissible) {
    labels["status"] = "active";
    page_.add(name, help, labels, queue_active ? static_cast<double>(waiting) : 0);
    labels["status"] = "inadmissible";
    page_.add(name, help, labels,
              static_cast<double>(queue_active ? inadmissible : waiting + inadmissible));
  }

  void kinds_of(const QueueInfo& queue) {
    std::size_t waiting = 0, inadmissible = 0;
    std::map<std::string, admission::Amount> requested;
    for (const QueueInfo::Group& group : queue.groups) {
      for (const auto resource : group.resources) {
        requested[reader_.names().resources.name(resource)] = 0;
      }
    }
    const std::vector<admission::PendingKind> kinds = queue.pending.kinds();
    for (const admission::PendingKind& kind : kinds) {
      if (kind.waiting > 0) ++waiting;
      if (kind.inadmissible > 0) ++inadmissible;
      for (const auto& pod_set : reader_.workloads()[kind.example].shape->pod_sets) {
        for (const auto& request : pod_set.requests) {
          admission::Amount& sum = requested[reader_.names().resources.name(request.resource)];
          const auto count = static_cast<std::int64_t>(kind.waiting + kind.inadmissible);
          sum = admission::plus(sum, admission::times(request.amount, count));
        }
      }
    }
    const Labels labels = {{"cluster_queue", queue.name}};
    if (reader_.config().equivalence_hashing) {
      pending("kueue_pending_scheduling_hashes", "Different shapes among waiting Workloads", labels,
              true, queue.active ? waiting : 0, queue.active ? inadmissible : kinds.size());
    }
    if (!config_.resources) return;
    for (const auto& [resource, amount] : requested) {
      page_.add("kueue_cluster_queue_resource_pending", "Requests of waiting Workloads",
                {{"cluster_queue", queue.name}, {"resource", resource}},
                cores_or_units(resource, amount));
    }
  }

  void place_in_tree(const api::ClusterQueue& queue, NodeId node) {
    const admission::QuotaForest& forest = reader_.forest();
    const NodeId root = forest.node(node).root;
    const std::string& name = queue.metadata.name;
    const std::string& cohort = queue.spec.cohort_name;
    if (config_.cohort_info)
      page_.add(
          "kueue_cluster_queue_info", "Always 1; the labels tell where it is in the tree",
          {{"cluster_queue", name},
           {"parent_cohort", cohort},
           {"root_cohort",
            cohort.empty() || root == admission::no_node ? std::string() : forest.node(root).name}},
          1);
    if (reader_.config().fair_sharing) {
      page_.add("kueue_cluster_queue_weighted_share",
                "Use above nominal quota against what the Cohort lends, by weight",
                {{"cluster_queue", name}, {"cohort", cohort}}, share(reader_.share_of_queue(name)));
    }
    for (const NodeId up : forest.ancestors(node)) {
      Subtree& subtree = subtrees_[up];
      subtree.admitted += queue.status.admitted_workloads;
      for (const api::FlavorUsage& flavor : queue.status.flavors_reservation) {
        for (const api::ResourceUsage& used : flavor.resources) {
          subtree.reserved[{flavor.name, used.name}] += gauge_value(used.name, used.total);
        }
      }
    }
  }

  /// The share is infinite without any weight; Kueue's series says NaN then.
  static double share(double value) { return std::isfinite(value) ? value : std::nan(""); }

  void resources_of(const api::ClusterQueue& queue) {
    Labels labels = {{"cluster_queue", queue.metadata.name}, {"cohort", queue.spec.cohort_name}};
    const auto limit = [](const std::string& resource, const std::optional<api::Quantity>& given) {
      return given ? gauge_value(resource, *given) : cores_or_units(resource, admission::unlimited);
    };
    for (const api::ResourceGroup& group : queue.spec.resource_groups) {
      for (const api::FlavorQuotas& flavor : group.flavors) {
        labels["flavor"] = flavor.name;
        for (const api::ResourceQuota& quota : flavor.resources) {
          labels["resource"] = quota.name;
          page_.add("kueue_cluster_queue_nominal_quota", "Nominal quota", labels,
                    gauge_value(quota.name, quota.nominal_quota));
          page_.add("kueue_cluster_queue_borrowing_limit", "What it may borrow", labels,
                    limit(quota.name, quota.borrowing_limit));
          page_.add("kueue_cluster_queue_lending_limit", "What it may lend", labels,
                    limit(quota.name, quota.lending_limit));
        }
      }
    }
    labels.erase("flavor");
    labels.erase("resource");
    usage("kueue_cluster_queue_resource_reservation", "What Workloads with a reservation hold",
          labels, queue.status.flavors_reservation);
    usage("kueue_cluster_queue_resource_usage", "What admitted Workloads hold", labels,
          queue.status.flavors_usage);
  }

  void usage(const char* name, const char* help, Labels labels,
             const std::vector<api::FlavorUsage>& flavors) {
    for (const api::FlavorUsage& flavor : flavors) {
      labels["flavor"] = flavor.name;
      for (const api::ResourceUsage& used : flavor.resources) {
        labels["resource"] = used.name;
        page_.add(name, help, labels, gauge_value(used.name, used.total));
      }
    }
  }

  void cohorts() {
    for (const auto& cohort : reader_.cohorts()) {
      const admission::QuotaNode& node = reader_.forest().node(cohort.node);
      if (node.cyclic) continue;
      if (config_.cohort_info) place_of(node);
      quota_of(node);
      // Without a ClusterQueue below it there is nothing to count.
      const auto below = subtrees_.find(cohort.node);
      if (below != subtrees_.end()) held_below(node.name, below->second);
      if (reader_.config().fair_sharing) {
        page_.add("kueue_cohort_weighted_share",
                  "Use above nominal quota against what the parent lends, by weight",
                  {{"cohort", node.name}}, share(reader_.share_of_cohort(node.name)));
      }
    }
  }

  void place_of(const admission::QuotaNode& node) {
    const admission::QuotaForest& forest = reader_.forest();
    const std::string parent =
        node.parent == admission::no_node ? std::string() : forest.node(node.parent).name;
    page_.add("kueue_cohort_info", "Always 1; the labels tell where it is in the tree",
              {{"cohort", node.name},
               {"parent_cohort", parent},
               {"root_cohort", forest.node(node.root).name}},
              1);
  }

  void quota_of(const admission::QuotaNode& node) {
    for (const admission::Cell& cell : node.cells) {
      if (cell.subtree <= 0) continue;
      const std::string& resource = reader_.names().resource_name(cell.fr);
      page_.add("kueue_cohort_subtree_quota", "Nominal quota of the Cohort and all below",
                {{"cohort", node.name},
                 {"flavor", reader_.names().flavor_name(cell.fr)},
                 {"resource", resource}},
                cores_or_units(resource, cell.subtree));
    }
  }

  void held_below(const std::string& cohort, const Subtree& subtree) {
    page_.add("kueue_cohort_subtree_admitted_active_workloads",
              "Unfinished admitted Workloads below the Cohort", {{"cohort", cohort}},
              static_cast<double>(subtree.admitted));
    for (const auto& [what, value] : subtree.reserved) {
      if (value <= 0) continue;
      page_.add("kueue_cohort_subtree_resource_reservations",
                "What Workloads with a reservation hold below the Cohort",
                {{"cohort", cohort}, {"flavor", what.first}, {"resource", what.second}}, value);
    }
  }

  void local_queue(const api::LocalQueue& queue) {
    const api::LocalQueueStatus& status = queue.status;
    const Labels labels = {{"name", queue.metadata.name}, {"namespace", queue.metadata.ns}};
    const auto with = [&](const char* key, const char* value) {
      Labels more = labels;
      more[key] = value;
      return more;
    };
    const auto [active, inadmissible] = reader_.pending_of(queue.metadata.key());
    const QueueInfo* target = reader_.find_queue(queue.spec.cluster_queue);
    pending("kueue_local_queue_pending_workloads", pending_help, labels,
            target != nullptr && target->active, active, inadmissible);
    if (const auto used = reader_.usage_of(queue.metadata.key())) {
      Labels more = labels;
      more["cluster_queue"] = queue.spec.cluster_queue;
      page_.add("kueue_local_queue_admission_fair_sharing_usage",
                "Its recent use, by weight: the LocalQueue with the least is next", more, *used);
    }
    page_.add("kueue_local_queue_reserving_active_workloads",
              "Unfinished Workloads with a reservation", labels, status.reserving_workloads);
    if (!by_workload_) {
      page_.add("kueue_local_queue_admitted_active_workloads", admitted_help, labels,
                status.admitted_workloads);
    }
    const api::Condition* found = api::find_condition(status.conditions, api::conditions::active);
    const char* is = !found                                         ? "Unknown"
                     : found->status == api::ConditionStatus::True  ? "True"
                     : found->status == api::ConditionStatus::False ? "False"
                                                                    : "Unknown";
    for (const char* possible : {"True", "False", "Unknown"}) {
      page_.add("kueue_local_queue_status", "1 for what its condition Active says",
                with("active", possible), std::string_view(possible) == is);
    }
    const auto finished =
        source_.counts.all().find({queue.metadata.key(), WorkloadCounts::finished, ""});
    page_.add("kueue_local_queue_finished_workloads", "Finished Workloads that are kept", labels,
              finished == source_.counts.all().end() ? 0 : static_cast<double>(finished->second));
    usage("kueue_local_queue_resource_reservation", "What Workloads with a reservation hold",
          labels, status.flavors_reservation);
    usage("kueue_local_queue_resource_usage", "What admitted Workloads hold", labels,
          status.flavors_usage);
  }

  void workloads() {
    std::map<Labels, double> finished, unadmitted;
    for (const auto& queue : source_.cluster_queues) {
      finished[{{"cluster_queue", queue->metadata.name}}] = 0;
    }
    for (const auto& [key, count] : source_.counts.all()) {
      const auto local = source_.find_local_queue(key.local_queue);
      const std::string queue = local ? local->spec.cluster_queue : std::string();
      if (key.reason == WorkloadCounts::finished) {
        finished[{{"cluster_queue", queue}}] += static_cast<double>(count);
      } else {
        unadmitted[{
            {"cluster_queue", queue}, {"reason", key.reason}, {"underlying_cause", key.cause}}] +=
            static_cast<double>(count);
      }
      if (!local || !config_.local_queues) continue;
      if (config_.local_queues->matches(local->metadata.labels)) of_local_queue(key, queue, count);
    }
    for (const auto& [labels, count] : finished) {
      page_.add("kueue_finished_workloads", "Finished Workloads that are kept", labels, count);
    }
    for (const auto& [labels, count] : unadmitted) {
      page_.add("kueue_unadmitted_workloads", "Unfinished Workloads that are not admitted", labels,
                count);
    }
  }

  void of_local_queue(const WorkloadCounts::Key& key, const std::string& queue,
                      std::int64_t count) {
    Labels labels = {{"name", key.local_queue.name}, {"namespace", key.local_queue.ns}};
    if (key.reason == WorkloadCounts::finished) return;  // see local_queue()
    labels["cluster_queue"] = queue;
    labels["reason"] = key.reason;
    labels["underlying_cause"] = key.cause;
    page_.add("kueue_local_queue_unadmitted_workloads",
              "Unfinished Workloads that are not admitted", labels, static_cast<double>(count));
  }

  const GaugeSource& source_;
  const QueueGaugesConfig& config_;
  const admission::StatusReader& reader_;
  GaugePage page_;
  bool by_workload_;  ///< labels of Workloads are configured
  std::map<NodeId, Subtree> subtrees_;
};

}  // namespace

std::vector<prometheus::MetricFamily> queue_gauges(const GaugeSource& source,
                                                   const QueueGaugesConfig& config) {
  return QueueGauges(source, config).take();
}

}  // namespace regatta::manager
