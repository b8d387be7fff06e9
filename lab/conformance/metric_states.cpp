#include "lab/conformance/metric_states.h"

#include "lab/conformance/metric_calls.h"
#include "lab/conformance/queue_world.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "manager/metrics/custom_labels.h"
#include "manager/metrics/queue_gauges.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::lab {
namespace {

using manager::GaugeSource;
using manager::MetricLabels;
using Families = std::vector<prometheus::MetricFamily>;

/// A series: its metric and labels.
using Series = std::pair<std::string, MetricLabels>;

/// Series that controllers write when they have written a status, and not queues or caches.
bool of_controllers(const std::string& metric) {
  constexpr std::string_view names[] = {"kueue_local_queue_status", "kueue_unadmitted_workloads",
                                        "kueue_local_queue_unadmitted_workloads",
                                        "kueue_local_queue_admission_fair_sharing_usage"};
  return std::find(std::begin(names), std::end(names), metric) != std::end(names);
}

/// Series that the reference reports only at a takeover, and in its controllers.
bool only_at_takeover(const std::string& metric) {
  return metric.ends_with("_weighted_share") || metric.ends_with("_limit") ||
         metric.ends_with("_quota") || metric.ends_with("_usage") ||
         metric.ends_with("_reservation") || metric.ends_with("_reservations");
}

/// Series that begin with what they count, and whose metrics have no zeros at a takeover.
bool begins_with_one(const std::string& metric) {
  return metric.ends_with("admitted_active_workloads");
}

class StatePlayer {
 public:
  explicit StatePlayer(const Json& scenario) : scenario_(scenario), world_(scenario) {
    const Json& gates = object_or_empty(scenario, {"featureGates"});
    const std::string& role = text_at(object_or_empty(scenario, {"config"}), "role");
    config_.role = role.empty() ? "standalone" : role;
    config_.resources = true;
    config_.cohort_info = at_or_null(gates, "MetricsForCohorts") != false;
    config_.custom_labels = configured_labels(scenario);
    if (at_or_null(gates, "LocalQueueMetrics") != false) {
      config_.local_queues = *api::Selector::from(api::LabelSelector());
    }
  }

  Result<Json> play() {
    const Status loaded = world_.load(list_or_empty(scenario_, "objects"));
    if (!loaded) return loaded.error();
    Json out = Json::array();
    for (const Json& step : list_or_empty(scenario_, "steps")) {
      observe();
      for (const Json& event : list_or_empty(step, "events")) {
        if (event.contains("resync")) {
          take_over();
        } else if (const Status applied = world_.apply(event); !applied) {
          return applied.error();
        }
        observe();
      }
      out.push_back(Json{{"samples", samples_of(shown(), scenario_)}});
    }
    return out;
  }

 private:
  /// What the controllers write into status, and gauges are made of.
  template <class T>
  void write_status(T* queue, const admission::Activity& activity) const {
    api::Condition& condition = queue->status.conditions.emplace_back();
    condition.type = api::conditions::active;
    condition.status = activity.active ? api::ConditionStatus::True : api::ConditionStatus::False;
  }

  Families gauges() {
    const admission::StatusReader reader = world_.state().reader();
    manager::WorkloadCounts counts;
    for (const auto& [key, workload] : world_.workloads()) counts.changed(nullptr, &workload);
    GaugeSource source{
        reader, {},
        {},     {},
        counts, [&](const api::ObjectKey& key) {
                         return meta_in(world_.workloads(), key); }};
    for (const auto& [name, object] : world_.cluster_queues()) {
      auto queue = std::make_shared<api::ClusterQueue>(object);
      queue->status = reader.status(name);
      write_status(queue.get(), reader.activity(name));
      source.cluster_queues.push_back(std::move(queue));
    }
    std::map<api::ObjectKey, std::shared_ptr<const api::LocalQueue>> local;
    for (const auto& [key, object] : world_.local_queues()) {
      auto queue = std::make_shared<api::LocalQueue>(object);
      queue->status = reader.status(key);
      write_status(queue.get(), reader.local_queue_activity(key));
      local[key] = queue;
      source.local_queues.push_back(std::move(queue));
    }
    source.find_local_queue = [&](const api::ObjectKey& key) {
      const auto found = local.find(key);
      return found == local.end() ? nullptr : found->second;
    };
    Families all = manager::queue_gauges(source, config_);
    manager::add_custom_labels(
        config_.custom_labels,
        [&](manager::MetricSource kind, const api::ObjectKey& key) { return meta_of(kind, key); },
        &all);
    std::erase_if(all, [](const auto& family) { return of_controllers(family.name); });
    return all;
  }

  template <class Objects, class Key>
  static api::ObjectMeta meta_in(const Objects& objects, const Key& key) {
    const auto found = objects.find(key);
    return found == objects.end() ? api::ObjectMeta() : found->second.metadata;
  }

  api::ObjectMeta meta_of(manager::MetricSource kind, const api::ObjectKey& key) const {
    switch (kind) {
      case manager::MetricSource::ClusterQueue:
        return meta_in(world_.cluster_queues(), key.name);
      case manager::MetricSource::LocalQueue:
        return meta_in(world_.local_queues(), key);
      case manager::MetricSource::Cohort:
        return meta_in(world_.cohorts(), key.name);
      case manager::MetricSource::Workload:
        return meta_in(world_.workloads(), key);
    }
    return {};
  }

  static MetricLabels labels_of(const prometheus::ClientMetric& metric) {
    MetricLabels labels;
    for (const auto& label : metric.label) labels[label.name] = label.value;
    return labels;
  }

  /// Remembers the series that exist from now on.
  void observe() {
    for (const prometheus::MetricFamily& family : gauges()) {
      for (const prometheus::ClientMetric& metric : family.metric) {
        const MetricLabels labels = labels_of(metric);
        if (begins(family.name, labels, metric.gauge.value)) begun_.insert({family.name, labels});
      }
    }
  }

  bool begins(const std::string& metric, const MetricLabels& labels, double value) {
    if (only_at_takeover(metric)) return false;
    if (begins_with_one(metric)) return value > 0;
    if (metric == "kueue_reserving_active_workloads") return value > 0;
    if (metric == "kueue_local_queue_finished_workloads") return value > 0;
    if (metric == "kueue_finished_workloads") {
      const auto& all = world_.local_queues();
      return std::any_of(all.begin(), all.end(), [&](const auto& entry) {
        return entry.second.spec.cluster_queue == labels.at("cluster_queue");
      });
    }
    // Both statuses at once.
    if (metric == "kueue_local_queue_pending_workloads") {
      if (value == 0)
        return begun_.contains({metric, with_status(labels, "active")}) ||
               begun_.contains({metric, with_status(labels, "inadmissible")});
      for (const char* status : {"active", "inadmissible"}) {
        begun_.insert({metric, with_status(labels, status)});
      }
      return true;
    }
    if (metric == "kueue_cohort_info") return world_.cohorts().contains(labels.at("cohort"));
    return true;
  }

  static MetricLabels with_status(MetricLabels labels, const char* status) {
    labels["status"] = status;
    return labels;
  }

  /// Every gauge is cleared and reported again.
  void take_over() {
    world_.take_over();
    begun_.clear();
    at_takeover_.clear();
    for (prometheus::MetricFamily& family : gauges()) {
      for (const prometheus::ClientMetric& metric : family.metric) {
        if (begins_with_one(family.name) && metric.gauge.value == 0 &&
            !family.name.starts_with("kueue_cohort_")) {
          continue;
        }
        const Series series{family.name, labels_of(metric)};
        begun_.insert(series);
        at_takeover_[series] = metric.gauge.value;
      }
    }
  }

  /// The series that exist; of those that nothing reports between takeovers, the values then.
  Families shown() {
    Families all = gauges();
    for (prometheus::MetricFamily& family : all) {
      std::erase_if(family.metric, [&](const auto& metric) {
        return !begun_.contains({family.name, labels_of(metric)});
      });
      if (!only_at_takeover(family.name)) continue;
      for (prometheus::ClientMetric& metric : family.metric) {
        metric.gauge.value = at_takeover_[{family.name, labels_of(metric)}];
      }
    }
    return all;
  }

  const Json& scenario_;
  QueueWorld world_;
  manager::QueueGaugesConfig config_;
  std::set<Series> begun_;
  std::map<Series, double> at_takeover_;
};

}  // namespace

Result<Json> play_metric_states(const Json& scenario) {
  return StatePlayer(scenario).play();
}

}  // namespace regatta::lab
