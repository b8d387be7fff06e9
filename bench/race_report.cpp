#include "bench/race_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace regatta::bench {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(share * last)];
}

double megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

/// CPU seconds of the processes with that role, on the hub or on the workers.
double cpu_of(const Measured& measured, Role role, bool of_hub) {
  double sum = 0;
  for (const PartUsage& part : measured.parts) {
    if (part.role == role && part.of_hub == of_hub) sum += part.cpu_seconds;
  }
  return sum;
}

/// Of the manager, on the hub or the largest on a worker.
double peak_mb_of_manager(const Measured& measured, bool of_hub) {
  double peak = 0;
  for (const PartUsage& part : measured.parts) {
    if (part.role != Role::manager || part.of_hub != of_hub) continue;
    peak = std::max(peak, megabytes(part.peak_rss_bytes));
  }
  return peak;
}

void print_requests(const Measured& measured, double jobs) {
  std::printf("\n%-10s %-12s %-8s %-28s %12s\n", "cluster", "sent by", "verb", "resource",
              "per workload");
  for (const Requests& cluster : measured.requests) {
    for (const auto& [key, count] : cluster.counts()) {
      const double share = static_cast<double>(count) / jobs;
      if (share < 0.005) continue;
      std::printf("%-10s %-12s %-8s %-28s %12.2f\n", cluster.cluster().c_str(), key.sent_by.c_str(),
                  key.verb.c_str(), key.resource.c_str(), share);
    }
    if (cluster.failures() > 0) {
      std::printf("%-10s answers of 400 and above: %lld, of them 409: %lld\n",
                  cluster.cluster().c_str(), static_cast<long long>(cluster.failures()),
                  static_cast<long long>(cluster.conflicts()));
    }
  }
}

void print_processes(const Measured& measured, double jobs) {
  std::printf("\n%-20s %12s %16s %12s\n", "process", "CPU seconds", "ms per workload", "peak MB");
  double sum = 0;
  for (const PartUsage& part : measured.parts) {
    sum += part.cpu_seconds;
    std::printf("%-20s %12.2f %16.2f %12.1f\n", part.name.c_str(), part.cpu_seconds,
                part.cpu_seconds * 1000 / jobs, megabytes(part.peak_rss_bytes));
  }
  std::printf("%-20s %12.2f %16.2f\n", "all", sum, sum * 1000 / jobs);
}

void add_requests(Json& json, const Measured& measured, double jobs) {
  const Totals all = totals(measured.requests);
  const auto share = [jobs](std::int64_t count) { return static_cast<double>(count) / jobs; };
  json["hub_writes_per_workload"] = share(all.hub_writes);
  json["worker_writes_per_workload"] = share(all.worker_writes);
  json["worker_writes_of_nodes_per_workload"] = share(all.worker_writes_of_nodes);
  json["hub_gets_per_workload"] = share(all.hub_gets);
  json["worker_gets_per_workload"] = share(all.worker_gets);
  json["hub_events_per_workload"] = share(all.hub_events);
  json["worker_events_per_workload"] = share(all.worker_events);
  json["events_per_workload"] = share(all.hub_events + all.worker_events);
  json["conflicts_per_workload"] = share(all.conflicts);
}

void add_processes(Json& json, const Measured& measured, double jobs) {
  const auto hub = [&](Role role) { return cpu_of(measured, role, true) * 1000 / jobs; };
  const auto workers = [&](Role role) { return cpu_of(measured, role, false) * 1000 / jobs; };
  json["managers_cpu_ms_per_workload"] = hub(Role::manager) + workers(Role::manager);
  json["hub_server_cpu_ms_per_workload"] = hub(Role::api_server);
  json["worker_servers_cpu_ms_per_workload"] = workers(Role::api_server);
  json["etcd_cpu_ms_per_workload"] = hub(Role::etcd) + workers(Role::etcd);
  json["hub_manager_peak_rss_mb"] = peak_mb_of_manager(measured, true);
  json["worker_manager_peak_rss_mb"] = peak_mb_of_manager(measured, false);
  for (const PartUsage& part : measured.parts) {
    Json& one = json["processes"][part.name];
    one["cpu_seconds"] = part.cpu_seconds;
    one["peak_rss_bytes"] = part.peak_rss_bytes;
  }
}

void print_summary(const Json& summary) {
  std::printf("\n");
  for (const char* name :
       {"jobs", "workers", "completed", "seconds", "workloads_per_second",
        "hub_writes_per_workload", "worker_writes_per_workload",
        "worker_writes_of_nodes_per_workload", "hub_gets_per_workload", "worker_gets_per_workload",
        "hub_events_per_workload", "worker_events_per_workload", "conflicts_per_workload",
        "time_to_admission_p50_seconds", "time_to_admission_p95_seconds",
        "managers_cpu_ms_per_workload", "hub_server_cpu_ms_per_workload",
        "worker_servers_cpu_ms_per_workload", "etcd_cpu_ms_per_workload"}) {
    std::printf("%-36s %10.2f\n", name, summary.at(name).get<double>());
  }
}

}  // namespace

Json summary(const Measured& measured, const RaceOptions& options) {
  const double jobs = options.jobs;
  Json json = {{"jobs", options.jobs},
               {"kind", options.kind},
               {"workers", options.workers},
               {"servers", options.servers},
               {"completed", measured.completed},
               {"seconds", measured.seconds},
               {"workloads_per_second", jobs / measured.seconds},
               {"time_to_admission_p50_seconds", percentile(measured.admission, 0.5)},
               {"time_to_admission_p95_seconds", percentile(measured.admission, 0.95)}};
  add_requests(json, measured, jobs);
  add_processes(json, measured, jobs);
  return json;
}

void print_tables(const Measured& measured, const RaceOptions& options) {
  print_requests(measured, options.jobs);
  print_processes(measured, options.jobs);
  print_summary(summary(measured, options));
}

}  // namespace regatta::bench
