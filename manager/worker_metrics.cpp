#include "manager/worker_metrics.h"

#include "controllers/worker_queues.h"
#include "dispatch/group.h"
#include "jobs/multikueue.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::manager {
namespace {

double seconds(Duration d) {
  return static_cast<double>(d.count()) / 1000.0;
}

std::string_view class_of(unsigned http_status) {
  if (http_status == 0) return "none";
  if (http_status < 300) return "2xx";
  if (http_status < 400) return "3xx";
  return http_status < 500 ? "4xx" : "5xx";
}

/// Why a worker did not create an object, in the words of Kubernetes where it has any.
const char* reason_of(unsigned http_status) {
  switch (http_status) {
    case 0:
      return "NoAnswer";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "AlreadyExists";
    case 413:
      return "RequestEntityTooLarge";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    default:
      return http_status < 500 ? "BadRequest" : "InternalError";
  }
}

const prometheus::Histogram::BucketBoundaries& request_buckets() {
  static const auto bounds = doubling_buckets(0.001, 16);
  return bounds;
}

bool has_reservation(const api::Workload& workload) {
  const auto holds = [&](std::string_view type) {
    const api::Condition* found = api::find_condition(workload.status.conditions, type);
    return found && found->status == api::ConditionStatus::True;
  };
  return holds(api::conditions::quota_reserved) && !holds(api::conditions::finished);
}

}  // namespace

WorkerMetrics::WorkerMetrics(prometheus::Registry& registry, const std::string& role)
    : role_(role),
      connected_(gauge_family(registry, "regatta_worker_connected",
                              "1 while the worker can be given workloads, else 0")),
      cache_age_(gauge_family(registry, "regatta_worker_cache_age_seconds",
                              "How old the oldest news of the worker's objects are")),
      requests_(counter_family(registry, "regatta_worker_requests_total",
                               "Requests to the worker, each attempt")),
      rejections_(counter_family(registry, "regatta_worker_rejections_total",
                                 "Copies and jobs that the worker did not create")),
      removed_(counter_family(registry, "regatta_worker_removed_objects_total",
                              "Objects of this hub removed from the worker")),
      took_(histogram_family(registry, "regatta_worker_request_duration_seconds",
                             "How long the worker takes to answer")),
      nomination_wait_(histogram_family(registry, "regatta_worker_nomination_wait_time_seconds",
                                        "From the reservation to the nomination of the worker")),
      admission_wait_(histogram_family(registry, "regatta_worker_admission_wait_time_seconds",
                                       "From the reservation until the worker has won")),
      start_wait_(histogram_family(registry, "regatta_worker_start_wait_time_seconds",
                                   "From the decision for the worker until the job runs")) {}

MetricLabels WorkerMetrics::labels(const std::string& cluster) const {
  return {{"cluster", cluster}, {"replica_role", role_}};
}

void WorkerMetrics::request(const std::string& cluster, const kube::RequestSeen& seen) {
  auto& verbs = of_requests_[cluster];
  auto it = verbs.find(seen.verb);
  if (it == verbs.end()) it = verbs.emplace(std::string(seen.verb), OfRequests()).first;
  OfRequests& known = it->second;
  const auto with = [&](const char* name, std::string_view value) {
    MetricLabels all = labels(cluster);
    all[name] = std::string(value);
    return all;
  };
  if (!known.took) known.took = &took_.Add(with("verb", seen.verb), request_buckets());
  known.took->Observe(seconds(seen.took));
  prometheus::Counter*& counter = known.by_code[class_of(seen.http_status)];
  if (!counter) {
    MetricLabels all = with("verb", seen.verb);
    all["code"] = std::string(class_of(seen.http_status));
    counter = &requests_.Add(all);
  }
  counter->Increment();
  const bool succeeded = seen.http_status >= 200 && seen.http_status < 300;
  if (seen.verb == "create" && !succeeded) {
    MetricLabels all = with("resource", seen.resource);
    all["reason"] = reason_of(seen.http_status);
    rejections_.Add(all).Increment();
  }
  if (seen.verb == "delete" && succeeded) {
    removed_.Add(with("resource", seen.resource)).Increment();
  }
}

void WorkerMetrics::observe(Histograms& family, const std::string& cluster, Duration waited) {
  family.Add(labels(cluster), doubling_buckets(0.05, 16)).Observe(seconds(waited));
}

void WorkerMetrics::workload_changed(const api::ObjectKey& key, const api::Workload* before,
                                     const api::Workload* after, SteadyPoint now) {
  if (!after || !has_reservation(*after)) {
    on_the_way_.erase(key);
    return;
  }
  // Without both sides it is not known when the reservation was made.
  if (before && !has_reservation(*before) && !after->status.admission_checks.empty()) {
    on_the_way_[key] = {now, {}, "", {}};
  }
  const auto it = on_the_way_.find(key);
  if (it == on_the_way_.end()) return;
  OnTheWay& way = it->second;
  for (const std::string& cluster : after->status.nominated_cluster_names) {
    if (way.nominated.insert(cluster).second) {
      observe(nomination_wait_, cluster, now - way.reserved);
    }
  }
  const std::string winner = after->status.cluster_name.value_or("");
  if (winner == way.cluster) return;
  way.cluster = winner;
  way.won = now;
  if (!winner.empty()) observe(admission_wait_, winner, now - way.reserved);
}

void WorkerMetrics::job_runs(const api::ObjectKey& workload, SteadyPoint now) {
  const auto it = on_the_way_.find(workload);
  if (it == on_the_way_.end() || it->second.cluster.empty()) return;
  observe(start_wait_, it->second.cluster, now - it->second.won);
  on_the_way_.erase(it);
}

void WorkerMetrics::look_at(const clusters::Fleet& fleet, TimePoint now) {
  for (const auto& [name, member] : fleet.members()) {
    connected_.Add(labels(name)).Set(member.ready() ? 1 : 0);
    const auto heard = member.remote ? member.remote->heard() : std::nullopt;
    if (heard) cache_age_.Add(labels(name)).Set(std::max(0.0, seconds(now - *heard)));
  }
}

void WorkerMetrics::forget(const std::string& cluster) {
  of_requests_.erase(cluster);
  const MetricLabels about{{"cluster", cluster}};
  for (Gauges* family : {&connected_, &cache_age_}) forget_series(*family, about);
  for (Counters* family : {&requests_, &rejections_, &removed_}) forget_series(*family, about);
  for (Histograms* family : {&took_, &nomination_wait_, &admission_wait_, &start_wait_}) {
    forget_series(*family, about);
  }
}

std::vector<QueueOnWorker> queues_on_workers(const clusters::LocalCluster& hub,
                                             const clusters::Fleet& fleet) {
  std::vector<QueueOnWorker> out;
  for (const auto& [name, ways] : controllers::ways_by_queue(hub)) {
    const auto queue = hub.cluster_queues.get(api::ObjectKey(name));
    const auto check = queue ? jobs::multikueue_check(hub.objects(), *queue) : nullptr;
    const auto config = check ? dispatch::config_of(hub.objects(), check->metadata.name) : nullptr;
    if (!config) continue;
    for (const std::string& cluster : config->spec.clusters) {
      const auto* member = fleet.find(cluster);
      const auto* queues = member && member->ready() ? member->remote->queues() : nullptr;
      if (!queues || !queues->told()) continue;
      for (auto& there : controllers::queues_behind(*queues, ways)) {
        out.push_back({name, cluster, std::move(there)});
      }
    }
  }
  return out;
}

}  // namespace regatta::manager
