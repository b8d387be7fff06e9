#include "manager/metrics.h"

#include "lib/api/names.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/text_serializer.h>
#include <utility>

namespace regatta::manager {
namespace {

using Labels = prometheus::Labels;
using Counters = prometheus::Family<prometheus::Counter>;
using Gauges = prometheus::Family<prometheus::Gauge>;
using Histograms = prometheus::Family<prometheus::Histogram>;

/// 1, 2.5, 5, 10 … doubling: `count` bounds.
prometheus::Histogram::BucketBoundaries wait_buckets(int count) {
  prometheus::Histogram::BucketBoundaries bounds = {1};
  for (double bound = 2.5; static_cast<int>(bounds.size()) < count; bound *= 2) {
    bounds.push_back(bound);
  }
  return bounds;
}

prometheus::Histogram::BucketBoundaries default_buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

double seconds(Duration d) {
  return static_cast<double>(d.count()) / 1000.0;
}

const api::Condition* newly_true(const api::Workload& before, const api::Workload& after,
                                 std::string_view type) {
  if (api::is_true(before.status.conditions, type)) return nullptr;
  const api::Condition* now = api::find_condition(after.status.conditions, type);
  return now && now->status == api::ConditionStatus::True ? now : nullptr;
}

/// Since when the Workload waits: its creation, or its last eviction.
TimePoint waits_since(const api::Workload& workload) {
  const api::Condition* evicted =
      api::find_condition(workload.status.conditions, api::conditions::evicted);
  if (evicted) return evicted->last_transition_time;
  return workload.metadata.creation_timestamp.value_or(TimePoint());
}

std::string queue_of(const api::Workload& workload) {
  return workload.status.admission ? workload.status.admission->cluster_queue : std::string();
}

std::string priority_of(const api::Workload& workload) {
  return workload.spec.priority_class_ref ? workload.spec.priority_class_ref->name : std::string();
}

}  // namespace

struct Metrics::Families {
  explicit Families(prometheus::Registry& registry)
      : attempts(counter(registry, "kueue_admission_attempts_total", "Cycles of the scheduler")),
        reserved(counter(registry, "kueue_quota_reserved_workloads_total",
                         "Workloads that got a reservation")),
        admitted(counter(registry, "kueue_admitted_workloads_total", "Workloads admitted")),
        evicted(counter(registry, "kueue_evicted_workloads_total", "Workloads evicted")),
        finished(counter(registry, "kueue_finished_workloads_total", "Workloads that finished")),
        dispatched(counter(registry, "multikueue_workloads_dispatched_total",
                           "Copies of Workloads made on workers")),
        dispatch_admitted(counter(registry, "multikueue_workloads_admitted_total",
                                  "Workloads whose worker was decided")),
        pending(gauge(registry, "kueue_pending_workloads", "Workloads that wait")),
        reserving(gauge(registry, "kueue_reserving_active_workloads",
                        "Unfinished Workloads with a reservation")),
        active(gauge(registry, "kueue_admitted_active_workloads",
                     "Unfinished Workloads that are admitted")),
        queue_status(
            gauge(registry, "kueue_cluster_queue_status", "1 for the state a ClusterQueue is in")),
        build(gauge(registry, "kueue_build_info", "Always 1; the labels tell the build")),
        cycle(histogram(registry, "kueue_admission_attempt_duration_seconds",
                        "How long cycles of the scheduler take")),
        gate_removal(histogram(registry, "kueue_pod_scheduling_gate_removal_seconds",
                               "From admission until a pod's scheduling gate is removed")),
        reserved_wait(histogram(registry, "kueue_quota_reserved_wait_time_seconds",
                                "From queueing to the reservation")),
        admitted_wait(histogram(registry, "kueue_admission_wait_time_seconds",
                                "From queueing to admission")) {}

  static Counters& counter(prometheus::Registry& registry, const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  static Gauges& gauge(prometheus::Registry& registry, const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  static Histograms& histogram(prometheus::Registry& registry, const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }

  Counters &attempts, &reserved, &admitted, &evicted, &finished, &dispatched, &dispatch_admitted;
  Gauges &pending, &reserving, &active, &queue_status, &build;
  Histograms &cycle, &gate_removal, &reserved_wait, &admitted_wait;
};

Metrics::Metrics(std::string role, std::string version)
    : role_(std::move(role)), families_(std::make_unique<Families>(registry_)) {
  families_->build.Add({{"git_version", version}, {"compiler", __VERSION__}}).Set(1);
}

Metrics::~Metrics() = default;

void Metrics::hook_into(CoreConfig* config) {
  config->scheduler.on_cycle = [this](const controllers::CycleSeen& seen) {
    const Labels labels = {{"result", seen.success ? "success" : "inadmissible"},
                           {"replica_role", role_}};
    families_->attempts.Add(labels).Increment();
    families_->cycle.Add(labels, default_buckets()).Observe(seconds(seen.took));
  };
  config->ungater.on_ungated = [this](const controllers::UngateSeen& seen) {
    const Labels labels = {{"name", std::string(api::gates::topology)},
                           {"cluster_queue", seen.cluster_queue},
                           {"is_group", seen.is_group ? "true" : "false"},
                           {"replica_role", role_}};
    families_->gate_removal.Add(labels, default_buckets()).Observe(seconds(seen.since_admission));
  };
  const auto count = [this](Counters& family) {
    return [this, &family](const std::string& queue, const std::string& cluster) {
      family.Add({{"cluster_queue", queue}, {"cluster", cluster}, {"replica_role", role_}})
          .Increment();
    };
  };
  config->dispatch.on_dispatched = count(families_->dispatched);
  config->dispatch.on_admitted = count(families_->dispatch_admitted);
}

void Metrics::follow(Core& core) {
  core_ = &core;
  core.local().workloads.on_transition([this](const auto&, const auto& before, const auto& after) {
    if (before && after) workload_changed(*before, *after);
  });
}

void Metrics::workload_changed(const api::Workload& before, const api::Workload& after) {
  const std::string queue = queue_of(after).empty() ? queue_of(before) : queue_of(after);
  const Labels labels = {
      {"cluster_queue", queue}, {"priority_class", priority_of(after)}, {"replica_role", role_}};
  const auto waited = [&](const api::Condition& now) {
    return std::max(0.0, seconds(now.last_transition_time - waits_since(after)));
  };
  if (const auto* now = newly_true(before, after, api::conditions::quota_reserved)) {
    families_->reserved.Add(labels).Increment();
    families_->reserved_wait.Add(labels, wait_buckets(14)).Observe(waited(*now));
  }
  if (const auto* now = newly_true(before, after, api::conditions::admitted)) {
    families_->admitted.Add(labels).Increment();
    families_->admitted_wait.Add(labels, wait_buckets(16)).Observe(waited(*now));
  }
  if (newly_true(before, after, api::conditions::finished)) {
    families_->finished.Add(labels).Increment();
  }
  if (const auto* now = newly_true(before, after, api::conditions::evicted)) {
    Labels why = labels;
    why["reason"] = now->reason;
    why["underlying_cause"] = "";
    families_->evicted.Add(why).Increment();
  }
}

void Metrics::set_pending(const std::string& queue, const prometheus::Labels& labels) {
  const admission::QueueInfo* info = core_->scheduler().state().find_queue(queue);
  if (!info) return;
  Labels of_state = labels;
  of_state["status"] = "active";
  families_->pending.Add(of_state).Set(static_cast<double>(info->pending.waiting()));
  of_state["status"] = "inadmissible";
  families_->pending.Add(of_state).Set(static_cast<double>(info->pending.inadmissible()));
}

void Metrics::set_gauges() {
  if (!core_ || !core_->synced()) return;
  for (const auto& queue : core_->local().cluster_queues.list()) {
    const std::string& name = queue->metadata.name;
    const api::ClusterQueueStatus& status = queue->status;
    const Labels labels = {{"cluster_queue", name}, {"replica_role", role_}};
    families_->reserving.Add(labels).Set(status.reserving_workloads);
    families_->active.Add(labels).Set(status.admitted_workloads);
    set_pending(name, labels);
    const bool active = api::is_true(status.conditions, api::conditions::active);
    const char* state = queue->metadata.deleting() ? "terminating" : active ? "active" : "pending";
    for (const char* possible : {"active", "pending", "terminating"}) {
      Labels of_state = labels;
      of_state["status"] = possible;
      families_->queue_status.Add(of_state).Set(std::string_view(possible) == state ? 1 : 0);
    }
  }
}

std::string Metrics::text() {
  set_gauges();
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace regatta::manager
