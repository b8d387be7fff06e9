#include "manager/metrics.h"

#include "lib/api/names.h"

#include <prometheus/text_serializer.h>
#include <utility>

namespace regatta::manager {
namespace {

using Labels = MetricLabels;

prometheus::Histogram::BucketBoundaries default_buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

double seconds(Duration d) {
  return static_cast<double>(d.count()) / 1000.0;
}

}  // namespace

struct Metrics::Families {
  explicit Families(prometheus::Registry& registry)
      : attempts(
            counter_family(registry, "kueue_admission_attempts_total", "Cycles of the scheduler")),
        reserved(counter_family(registry, "kueue_quota_reserved_workloads_total",
                                "Workloads that got a reservation")),
        admitted(counter_family(registry, "kueue_admitted_workloads_total", "Workloads admitted")),
        finished(
            counter_family(registry, "kueue_finished_workloads_total", "Workloads that finished")),
        dispatched(counter_family(registry, "multikueue_workloads_dispatched_total",
                                  "Copies of Workloads made on workers")),
        dispatch_admitted(counter_family(registry, "multikueue_workloads_admitted_total",
                                         "Workloads whose worker was decided")),
        pending(gauge_family(registry, "kueue_pending_workloads", "Workloads that wait")),
        reserving(gauge_family(registry, "kueue_reserving_active_workloads",
                               "Unfinished Workloads with a reservation")),
        active(gauge_family(registry, "kueue_admitted_active_workloads",
                            "Unfinished Workloads that are admitted")),
        queue_status(gauge_family(registry, "kueue_cluster_queue_status",
                                  "1 for the state a ClusterQueue is in")),
        build(gauge_family(registry, "kueue_build_info", "Always 1; the labels tell the build")),
        cycle(histogram_family(registry, "kueue_admission_attempt_duration_seconds",
                               "How long cycles of the scheduler take")),
        gate_removal(histogram_family(registry, "kueue_pod_scheduling_gate_removal_seconds",
                                      "From admission until a pod's scheduling gate is removed")),
        reserved_wait(histogram_family(registry, "kueue_quota_reserved_wait_time_seconds",
                                       "From queueing to the reservation")),
        admitted_wait(histogram_family(registry, "kueue_admission_wait_time_seconds",
                                       "From queueing to admission")) {}

  Counters &attempts, &reserved, &admitted, &finished, &dispatched, &dispatch_admitted;
  Gauges &pending, &reserving, &active, &queue_status, &build;
  Histograms &cycle, &gate_removal, &reserved_wait, &admitted_wait;
};

Metrics::Metrics(std::string role, std::string version)
    : role_(std::move(role)),
      families_(std::make_unique<Families>(registry_)),
      lifecycle_(registry_, role_) {
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
  config->scheduler.on_preempted = [this](const admission::PreemptedWorkload& preempted) {
    const std::string& path = preempted.preemptor->path;
    lifecycle_.preempted(path.substr(path.rfind('/') + 1), std::string(preempted.reason));
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
  const std::string queue = queue_of(before, after);
  const Labels labels = {
      {"cluster_queue", queue}, {"priority_class", priority_of(after)}, {"replica_role", role_}};
  const auto waited = [&](const api::Condition& now) {
    return seconds_between(waits_since(after), now.last_transition_time);
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
  lifecycle_.changed(before, after);
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
