#include "manager/metrics.h"

#include "lib/api/names.h"
#include "lifecycle/lifecycle.h"
#include "manager/metrics/custom_labels.h"
#include "manager/metrics/metrics_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace regatta::manager {
namespace {

using Labels = MetricLabels;

prometheus::Histogram::BucketBoundaries default_buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

#if defined(__aarch64__)
constexpr const char* platform = "linux/arm64";
#else
constexpr const char* platform = "linux/amd64";
#endif

double seconds(Duration d) {
  return static_cast<double>(d.count()) / 1000.0;
}

template <class T>
api::ObjectMeta meta_in(const kube::Informer<T>& objects, const api::ObjectKey& key) {
  const auto found = objects.get(key);
  return found ? found->metadata : api::ObjectMeta();
}

api::ObjectMeta meta_of(const clusters::LocalCluster& local, MetricSource kind,
                        const api::ObjectKey& key) {
  switch (kind) {
    case MetricSource::LocalQueue:
      return meta_in(local.local_queues, key);
    case MetricSource::ClusterQueue:
      return meta_in(local.cluster_queues, key);
    case MetricSource::Cohort:
      return meta_in(local.cohorts, key);
    case MetricSource::Workload:
      return meta_in(local.workloads, key);
  }
  return {};
}

}  // namespace

struct Metrics::Families {
  explicit Families(prometheus::Registry& registry)
      : attempts(
            counter_family(registry, "kueue_admission_attempts_total", "Cycles of the scheduler")),
        reserved(counter_twins(registry, "quota_reserved_workloads_total",
                               "Workloads that got a reservation")),
        admitted(counter_twins(registry, "admitted_workloads_total", "Workloads admitted")),
        finished(counter_twins(registry, "finished_workloads_total", "Workloads that finished")),
        dispatched(counter_family(registry, "multikueue_workloads_dispatched_total",
                                  "Copies of Workloads made on workers")),
        dispatch_admitted(counter_family(registry, "multikueue_workloads_admitted_total",
                                         "Workloads whose worker was decided")),
        recomputed(counter_family(registry, "kueue_preemption_target_recomputations_total",
                                  "Preemptors whose targets another one had taken")),
        slices(counter_family(registry, "kueue_replaced_workload_slices_total",
                              "Slices of elastic jobs that another one replaced")),
        below_cohort(counter_family(registry, "kueue_cohort_subtree_admitted_workloads_total",
                                    "Workloads admitted below the Cohort")),
        skipped(gauge_family(registry, "kueue_admission_cycle_preemption_skips",
                             "Preemptors passed over because others took what they needed, "
                             "in the last cycle with any")),
        build(gauge_family(registry, "kueue_build_info", "Always 1; the labels name the build")),
        cycle(histogram_family(registry, "kueue_admission_attempt_duration_seconds",
                               "How long cycles of the scheduler take")),
        creation(histogram_family(registry, "kueue_workload_creation_latency_seconds",
                                  "From the creation of a job to that of its Workload")),
        gate_removal(histogram_family(registry, "kueue_pod_scheduling_gate_removal_seconds",
                                      "From admission until a pod's scheduling gate is removed")),
        reserved_wait(histogram_twins(registry, "quota_reserved_wait_time_seconds",
                                      "From queueing to the reservation")),
        admitted_wait(histogram_twins(registry, "admission_wait_time_seconds",
                                      "From queueing to admission")) {}

  void forget(const Labels& about) {
    for (const CounterTwins* twins : {&reserved, &admitted, &finished}) {
      forget_series(*twins, about);
    }
    for (Counters* family :
         {&dispatched, &dispatch_admitted, &recomputed, &slices, &below_cohort}) {
      forget_series(*family, about);
    }
    forget_series(skipped, about);
    forget_series(gate_removal, about);
    for (const HistogramTwins* twins : {&reserved_wait, &admitted_wait}) {
      forget_series(*twins, about);
    }
  }

  Counters& attempts;
  CounterTwins reserved, admitted, finished;
  Counters &dispatched, &dispatch_admitted, &recomputed, &slices, &below_cohort;
  Gauges &skipped, &build;
  Histograms &cycle, &creation, &gate_removal;
  HistogramTwins reserved_wait, admitted_wait;
};

Metrics::Metrics(QueueGaugesConfig config, std::string version)
    : config_(std::move(config)),
      families_(std::make_unique<Families>(registry_)),
      lifecycle_(registry_, role_, [this](const auto& w) { return local_queue_of(w); }),
      workers_(registry_, role_) {
  families_->build
      .Add({{"git_version", version}, {"compiler", __VERSION__}, {"platform", platform}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::hook_into(CoreConfig* config) {
  config->scheduler.on_cycle = [this](const controllers::CycleSeen& seen) {
    const Labels labels = {{"result", seen.success ? "success" : "inadmissible"},
                           {"replica_role", role_}};
    families_->attempts.Add(labels).Increment();
    families_->cycle.Add(labels, default_buckets()).Observe(seconds(seen.took));
    count_skips(seen);
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
  // A worker that was removed may still answer; then it has no series any more.
  config->on_remote_request = [this](const std::string& cluster, const kube::RequestSeen& seen) {
    if (core_ && core_->fleet().find(cluster)) workers_.request(cluster, seen);
  };
}

void Metrics::count_skips(const controllers::CycleSeen& seen) {
  using Outcome = admission::Recomputed::Outcome;
  std::map<std::string, int> skipped;
  for (const std::string& queue : seen.skipped_preemptors) ++skipped[queue];
  for (const auto& [queue, count] : skipped) {
    families_->skipped.Add({{"cluster_queue", queue}, {"replica_role", role_}}).Set(count);
  }
  for (const admission::Recomputed& one : seen.recomputed) {
    const char* result = one.outcome == Outcome::new_targets    ? "new_targets"
                         : one.outcome == Outcome::deferred_fit ? "deferred_fit"
                                                                : "skipped";
    families_->recomputed
        .Add({{"cluster_queue", one.cluster_queue}, {"result", result}, {"replica_role", role_}})
        .Increment();
  }
}

void Metrics::set_role(std::string role) {
  lifecycle_.set_role(role);
  config_.role = std::move(role);
  workers_.role_changed();
}

void Metrics::follow(Core& core) {
  core_ = &core;
  auto& local = core.local();
  local.workloads.on_transition([this](const auto& key, const auto& before, const auto& after) {
    counts_.changed(before.get(), after.get());
    if (role_ == "follower") return;
    workers_.workload_changed(key, before.get(), after.get(), core_->local().clock.steady());
    if (before && after) workload_changed(*before, *after);
    if (!before && after && core_->synced()) workload_created(*after);
  });
  follow_jobs(local);
  forget_what_goes(local);
}

void Metrics::follow_jobs(clusters::LocalCluster& local) {
  local.jobs.on_change([this, &local](const jobs::JobId& id) {
    if (workers_.idle()) return;
    const jobs::JobPtr job = local.jobs.get(id);
    if (!job || !job->active()) return;
    const std::string owner = clusters::owner_name(id);
    for (const api::ObjectKey& key : local.workloads.keys_by_index(clusters::by_owner, owner)) {
      workers_.job_runs(key, local.clock.steady());
    }
  });
}

/// The series of a deleted object would stay for ever.
void Metrics::forget_what_goes(clusters::LocalCluster& local) {
  local.cluster_queues.on_transition([this](const auto& key, const auto&, const auto& after) {
    if (after) return;
    forget({{"cluster_queue", key.name}});
    forget({{"preempting_cluster_queue", key.name}});
  });
  local.local_queues.on_transition([this](const auto& key, const auto&, const auto& after) {
    if (!after) forget({{"name", key.name}, {"namespace", key.ns}});
  });
  local.cohorts.on_transition([this](const auto& key, const auto&, const auto& after) {
    if (!after) forget({{"cohort", key.name}});
  });
  local.multikueue_clusters.on_transition([this](const auto& key, const auto&, const auto& after) {
    if (after) return;
    forget({{"cluster", key.name}});
    workers_.forget(key.name);
  });
}

void Metrics::forget(const MetricLabels& about) {
  families_->forget(about);
  lifecycle_.forget(about);
}

void Metrics::workload_changed(const api::Workload& before, const api::Workload& after) {
  const std::string queue = queue_of(before, after);
  const Labels labels = {
      {"cluster_queue", queue}, {"priority_class", priority_of(after)}, {"replica_role", role_}};
  const auto local = local_queue_of(after);
  const auto waited = [&](const api::Condition& now) {
    return seconds_between(lifecycle::queued_since(after), now.last_transition_time);
  };
  if (const auto* now = newly_true(before, after, api::conditions::quota_reserved)) {
    count(families_->reserved, labels, local);
    observe(families_->reserved_wait, labels, local, wait_buckets(14), waited(*now));
  }
  if (const auto* now = newly_true(before, after, api::conditions::admitted)) {
    auto mine = local;
    if (mine) mine->merge(workload_labels(config_.custom_labels, after.metadata));
    count(families_->admitted, labels, mine);
    observe(families_->admitted_wait, labels, mine, wait_buckets(16), waited(*now));
    count_below_cohorts(queue, after);
  }
  if (const auto* end = newly_true(before, after, api::conditions::finished)) {
    count(families_->finished, ended_in(labels, after), local);
    if (end->reason == api::reasons::workload_slice_replaced) {
      families_->slices.Add({{"cluster_queue", queue}, {"replica_role", role_}}).Increment();
    }
  }
  lifecycle_.changed(before, after);
}

/// An evicted Workload has no admission any more that names its ClusterQueue, for instance a slice
/// of an elastic job whose larger slice waits on.
Labels Metrics::ended_in(Labels labels, const api::Workload& workload) const {
  if (!labels["cluster_queue"].empty()) return labels;
  if (api::find_condition(workload.status.conditions, api::conditions::evicted)) {
    labels["cluster_queue"] = core_->scheduler().reader().cluster_queue_of(workload);
  }
  return labels;
}

void Metrics::count_below_cohorts(const std::string& queue, const api::Workload& workload) {
  const admission::StatusReader reader = core_->scheduler().reader();
  for (const std::string& cohort : reader.cohorts_above(queue)) {
    if (!reader.shows_cohort(cohort)) continue;
    counted_cohorts_.insert(cohort);
    families_->below_cohort
        .Add({{"cohort", cohort},
              {"priority_class", priority_of(workload)},
              {"replica_role", role_}})
        .Increment();
  }
}

std::optional<MetricLabels> Metrics::local_queue_of(const api::Workload& workload) const {
  if (!config_.local_queues || !core_) return {};
  const api::ObjectKey key(workload.metadata.ns, workload.spec.queue_name);
  const auto queue = core_->local().local_queues.get(key);
  if (!queue || !config_.local_queues->matches(queue->metadata.labels)) return {};
  return MetricLabels{{"name", key.name}, {"namespace", key.ns}};
}

/// The job must be unchanged: otherwise the Workload's age says nothing about this manager.
void Metrics::workload_created(const api::Workload& workload) {
  if (!config_.creation_latency) return;
  const jobs::JobPtr job = jobs::owner_of(core_->local().objects(), workload);
  if (!job || job->metadata().generation > 1) return;
  const auto& made = job->metadata().creation_timestamp;
  if (!made || !workload.metadata.creation_timestamp) return;
  families_->creation
      .Add({{"job_kind", std::string(job->kind().resource().kind)}, {"replica_role", role_}},
           doubling_buckets(0.01, 11))
      .Observe(seconds_between(*made, *workload.metadata.creation_timestamp));
}

/// No object tells that a Cohort is gone which only its members named.
void Metrics::forget_cohorts() {
  const admission::StatusReader reader = core_->scheduler().reader();
  std::erase_if(counted_cohorts_, [&](const std::string& cohort) {
    const bool gone = !reader.shows_cohort(cohort);
    if (gone) forget({{"cohort", cohort}});
    return gone;
  });
}

std::string Metrics::text() {
  if (core_ && core_->synced()) {
    forget_cohorts();
    workers_.look_at(core_->fleet(), core_->local().clock.now());
  }
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  if (core_ && core_->synced()) {
    const clusters::LocalCluster& local = core_->local();
    const GaugeSource source{core_->scheduler().reader(),
                             local.cluster_queues.list(),
                             local.local_queues.list(),
                             [&](const auto& key) { return local.local_queues.get(key); },
                             counts_,
                             [&](const auto& key) { return meta_in(local.workloads, key); }};
    std::ranges::move(queue_gauges(source, config_), std::back_inserter(families));
    if (config_.resources) {
      std::ranges::move(worker_gauges(queues_on_workers(local, core_->fleet()), config_.role),
                        std::back_inserter(families));
    }
    add_custom_labels(
        config_.custom_labels,
        [&](MetricSource kind, const auto& key) { return meta_of(local, kind, key); }, &families);
  }
  return metrics_text(families);
}

}  // namespace regatta::manager
