#include "bench/measure.h"
#include "bench/objects.h"
#include "bench/watcher.h"
#include "lib/api/workload.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace regatta::bench {
namespace {

using Clocked = std::chrono::steady_clock;

double seconds_between(Instant from, Instant to) {
  return std::chrono::duration<double>(to - from).count();
}

Task<> submit_some(kube::Client& client, Submitted what, int* next, Submission* submission) {
  while (*next < what.count && submission->outcome) {
    const int number = (*next)++;
    std::vector<Json> objects =
        raced_job(*what.kind, job_name(number), group_name(number % what.groups), what.run_seconds);
    for (const Json& object : objects) {
      std::string body = dump_json(object);
      const auto made =
          co_await client.create_raw(what.kind->resource, job_namespace, std::move(body));
      if (!made) submission->outcome = made.error();
    }
    submission->accepted[static_cast<std::size_t>(number)] = Clocked::now();
  }
}

struct Measured {
  double seconds = 0;
  std::vector<double> admission;  ///< seconds from acceptance to admission, sorted
  std::vector<Usage> before, after;
  std::vector<Requests> requests;
  std::size_t completed = 0;
};

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(share * last)];
}

/// How many objects there are that `counts` holds for.
Task<Result<std::size_t>> count(Cluster& cluster, api::ResourceInfo resource,
                                std::function<bool(const Json&)> counts) {
  std::size_t found = 0;
  const std::function<void(const Json&)> each = [&](const Json& object) {
    if (counts(object)) ++found;
  };
  const std::function<void(const kube::ListPage&)> look = [&](const kube::ListPage& page) {
    kube::for_each_item(page, each);
  };
  kube::ListOptions options;
  options.limit = 0;
  const auto listed = co_await cluster.client().list_raw(resource, job_namespace, options, look);
  if (!listed) co_return listed.error();
  co_return found;
}

Task<Result<bool>> is_clean(Cluster& cluster, const lab::RacedKind& kind) {
  for (const api::ResourceInfo& resource : {api::Workload::resource, kind.resource}) {
    const std::function<bool(const Json&)> any = [](const Json&) { return true; };
    const auto left = co_await count(cluster, resource, any);
    if (!left) co_return left.error();
    if (*left > 0) co_return false;
  }
  co_return true;
}

Task<Status> wait_clean(Federation& fleet, const lab::RacedKind& kind, Clock& clock) {
  constexpr Duration poll_every{20};
  for (std::size_t i = 1; i < fleet.clusters().size();) {
    const auto clean = co_await is_clean(*fleet.clusters()[i], kind);
    if (!clean) co_return clean.error();
    if (*clean) {
      ++i;
    } else {
      co_await clock.sleep_for(poll_every);
    }
  }
  co_return ok();
}

std::vector<Usage> usage_of(const Federation& fleet) {
  std::vector<Usage> all;
  for (const Process* process : fleet.processes()) all.push_back(process->usage());
  return all;
}

/// The race itself; the watcher runs beside it.
class Race {
 public:
  Race(Federation& fleet, const lab::RacedKind& kind, Ground ground, RaceOptions options)
      : fleet_(fleet),
        kind_(kind),
        clock_(ground.clock),
        options_(std::move(options)),
        watcher_(fleet.hub().client(), ground.executor) {}

  Task<> run() { co_await first_of(watcher_.run(), measure()); }
  const Status& outcome() const { return outcome_; }
  const Measured& measured() const { return measured_; }

 private:
  Task<> measure() {
    outcome_ = co_await fleet_.forget_requests();
    if (!outcome_) co_return;
    measured_.before = usage_of(fleet_);
    const Instant began = Clocked::now();
    Submission submission;
    Submitted what;
    what.kind = &kind_;
    what.count = options_.jobs;
    what.groups = groups_of(options_.workers);
    what.run_seconds = options_.run_seconds;
    co_await submit(fleet_.hub().client(), what, &submission);
    outcome_ = submission.outcome;
    while (outcome_ && watcher_.finished() < static_cast<std::size_t>(options_.jobs)) {
      co_await watcher_.changed().wait();
      if (!watcher_.error().empty()) outcome_ = Error(Errc::unavailable, watcher_.error());
    }
    if (outcome_) outcome_ = co_await wait_clean(fleet_, kind_, clock_);
    if (!outcome_) co_return;
    measured_.seconds = seconds_between(began, Clocked::now());
    measured_.after = usage_of(fleet_);
    for (int i = 0; i < options_.jobs; ++i) {
      const auto admitted = watcher_.admitted().find(job_name(i));
      if (admitted == watcher_.admitted().end()) continue;
      const Instant accepted = submission.accepted[static_cast<std::size_t>(i)];
      measured_.admission.push_back(std::max(0.0, seconds_between(accepted, admitted->second)));
    }
    std::sort(measured_.admission.begin(), measured_.admission.end());
    outcome_ = co_await collect();
  }

  Task<Status> collect() {
    // Events are written a little after the changes that they report.
    co_await clock_.sleep_for(std::chrono::seconds(2));
    auto requests = co_await fleet_.requests();
    if (!requests) co_return requests.error();
    measured_.requests = std::move(*requests);
    const std::function<bool(const Json&)> complete = [this](const Json& job) {
      return kind_.is_complete(job);
    };
    const auto completed = co_await count(fleet_.hub(), kind_.resource, complete);
    if (!completed) co_return completed.error();
    measured_.completed = *completed;
    co_return ok();
  }

  Federation& fleet_;
  const lab::RacedKind& kind_;
  Clock& clock_;
  RaceOptions options_;
  Watcher watcher_;
  Measured measured_;
  Status outcome_ = Error(Errc::timeout, "the watch of the hub's workloads ended");
};

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

void print_processes(const Federation& fleet, const Measured& measured, double jobs) {
  std::printf("\n%-20s %12s %16s %12s\n", "process", "CPU seconds", "ms per workload", "peak MB");
  double sum = 0;
  const auto processes = fleet.processes();
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const double cpu = measured.after[i].cpu_seconds - measured.before[i].cpu_seconds;
    sum += cpu;
    std::printf("%-20s %12.2f %16.2f %12.1f\n", processes[i]->name().c_str(), cpu,
                cpu * 1000 / jobs, static_cast<double>(measured.after[i].peak_rss_bytes) / 1e6);
  }
  std::printf("%-20s %12.2f %16.2f\n", "all", sum, sum * 1000 / jobs);
}

Json summary(const Federation& fleet, const Measured& measured, const RaceOptions& options) {
  const double jobs = options.jobs;
  const Totals all = totals(measured.requests);
  const auto share = [jobs](std::int64_t count) { return static_cast<double>(count) / jobs; };
  Json json = {{"jobs", options.jobs},
               {"kind", options.kind},
               {"workers", options.workers},
               {"completed", measured.completed},
               {"seconds", measured.seconds},
               {"workloads_per_second", jobs / measured.seconds},
               {"hub_writes_per_workload", share(all.hub_writes)},
               {"worker_writes_per_workload", share(all.worker_writes)},
               {"hub_gets_per_workload", share(all.hub_gets)},
               {"worker_gets_per_workload", share(all.worker_gets)},
               {"hub_events_per_workload", share(all.hub_events)},
               {"worker_events_per_workload", share(all.worker_events)},
               {"conflicts_per_workload", share(all.conflicts)},
               {"time_to_admission_p50_seconds", percentile(measured.admission, 0.5)},
               {"time_to_admission_p95_seconds", percentile(measured.admission, 0.95)}};
  const auto processes = fleet.processes();
  for (std::size_t i = 0; i < processes.size(); ++i) {
    Json& one = json["processes"][processes[i]->name()];
    one["cpu_seconds"] = measured.after[i].cpu_seconds - measured.before[i].cpu_seconds;
    one["peak_rss_bytes"] = measured.after[i].peak_rss_bytes;
  }
  return json;
}

void print_summary(const Json& summary) {
  std::printf("\n");
  for (const char* name :
       {"jobs", "workers", "completed", "seconds", "workloads_per_second",
        "hub_writes_per_workload", "worker_writes_per_workload", "hub_gets_per_workload",
        "worker_gets_per_workload", "hub_events_per_workload", "worker_events_per_workload",
        "conflicts_per_workload", "time_to_admission_p50_seconds",
        "time_to_admission_p95_seconds"}) {
    std::printf("%-32s %10.2f\n", name, summary.at(name).get<double>());
  }
}

}  // namespace

std::string job_name(int number) {
  return "race-" + std::to_string(number);
}

Task<> submit(kube::Client& client, Submitted what, Submission* submission) {
  submission->accepted.resize(static_cast<std::size_t>(what.count));
  int next = 0;
  std::vector<Task<>> all;
  for (int i = 0; i < what.submitters; ++i) {
    all.push_back(submit_some(client, what, &next, submission));
  }
  co_await all_of(std::move(all));
}

Task<int> race(Ground ground, RaceOptions options) {
  const auto kind = lab::raced_kind(options.kind);
  if (!kind) {
    std::fprintf(stderr, "regatta_bench: %s\n", kind.error().what().c_str());
    co_return 2;
  }
  FederationOptions shape;
  shape.kind = *kind;
  shape.workers = options.workers;
  const int objects = (*kind)->objects(group_pods);
  shape.slots = options.slots * objects;
  shape.hub_slots = shape.slots * std::min(options.workers, group_size);
  shape.dispatcher = options.dispatcher;
  ground.server_latency_ms = options.server_latency_ms;
  auto fleet = co_await Federation::start(ground, shape);
  if (!fleet) {
    std::fprintf(stderr, "regatta_bench: %s\n", fleet.error().what().c_str());
    co_return 1;
  }
  Race race(**fleet, **kind, ground, options);
  const SteadyPoint deadline =
      ground.clock.steady() + Duration(static_cast<Duration::rep>(options.patience_seconds * 1000));
  const bool in_time = co_await finishes_before(ground.clock, deadline, race.run());
  if (!in_time || !race.outcome()) {
    std::fprintf(stderr, "regatta_bench: %s; logs are in %s\n",
                 in_time ? race.outcome().error().what().c_str() : "not finished in time",
                 ground.folder.c_str());
    co_return 1;
  }
  const Measured& measured = race.measured();
  const Json result = summary(**fleet, measured, options);
  if (options.json) {
    std::printf("%s\n", dump_json(result).c_str());
  } else {
    print_requests(measured, options.jobs);
    print_processes(**fleet, measured, options.jobs);
    print_summary(result);
  }
  std::fflush(stdout);
  co_return measured.completed == static_cast<std::size_t>(options.jobs * objects) ? 0 : 1;
}

}  // namespace regatta::bench
