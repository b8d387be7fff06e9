#include "bench/measure.h"
#include "bench/objects.h"
#include "lib/api/multikueue.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>

namespace regatta::bench {
namespace {

using SteadyTime = std::chrono::steady_clock;
constexpr Duration connect_patience = std::chrono::minutes(10);
constexpr Duration between_looks{100};
/// For memory of the start to go back.
constexpr Duration until_settled = std::chrono::seconds(20);
/// Kinds without jobs are listed less and less often; the connections for that are closed.
constexpr Duration until_idle = std::chrono::seconds(200);
constexpr Duration idle_watched = std::chrono::seconds(60);

double seconds_since(SteadyTime::time_point begin) {
  return std::chrono::duration<double>(SteadyTime::now() - begin).count();
}

std::string worker_name(int number) {
  return "worker-" + std::to_string(number);
}

/// Registers the workers numbered [from, to), all of which are the same API server.
Task<Status> add_workers(Cluster& hub, std::string kubeconfig, int from, int to) {
  std::vector<Json> secrets;
  std::vector<std::string> names;
  for (int i = from; i < to; ++i) {
    names.push_back(worker_name(i));
    secrets.push_back(kubeconfig_secret(names.back(), kubeconfig));
  }
  const Status done = co_await hub.apply(std::move(secrets));
  if (!done) co_return done;
  co_return co_await hub.apply(cluster_objects(names));
}

Task<Status> wait_active(Cluster& hub, Clock& clock, int count) {
  for (;;) {
    const auto members = co_await hub.client().list<api::MultiKueueCluster>();
    int active = 0;
    if (members) {
      for (const auto& member : *members) {
        if (api::is_true(member.status.conditions, "Active")) ++active;
      }
    }
    if (active >= count) co_return ok();
    if (!hub.manager().running()) co_return Error(Errc::unavailable, "the hub's manager ended");
    co_await clock.sleep_for(between_looks);
  }
}

Task<> measure_workers(Cluster& hub, Cluster& worker, Ground ground, WorkersOptions options,
                       Json* result, Status* outcome) {
  const auto kubeconfig = worker.kubeconfig();
  if (!kubeconfig) {
    *outcome = kubeconfig.error();
    co_return;
  }
  // What the first one costs, such as caches of the process, is not a worker's.
  *outcome = co_await add_workers(hub, *kubeconfig, 0, 1);
  if (*outcome) *outcome = co_await wait_active(hub, ground.clock, 1);
  if (!*outcome) co_return;
  co_await ground.clock.sleep_for(until_settled);
  const Usage before = hub.manager().usage();
  const int files = hub.manager().descriptors();
  (void)co_await hub.forget_requests();
  (void)co_await worker.forget_requests();

  const auto begin = SteadyTime::now();
  *outcome = co_await add_workers(hub, *kubeconfig, 1, options.workers);
  const double registered = seconds_since(begin);
  if (*outcome) *outcome = co_await wait_active(hub, ground.clock, options.workers);
  if (!*outcome) co_return;
  const double active = seconds_since(begin);
  const Usage started = hub.manager().usage();
  const auto at_hub = co_await hub.requests();
  const auto at_workers = co_await worker.requests();
  co_await ground.clock.sleep_for(until_idle);
  const Usage settled = hub.manager().usage();
  co_await ground.clock.sleep_for(idle_watched);
  const Usage rested = hub.manager().usage();

  const double added = options.workers - 1;
  *result = {{"workers", options.workers},
             {"seconds_to_register_them", registered},
             {"seconds_until_all_active", active},
             {"cpu_ms_to_connect_one", 1000 * (started.cpu_seconds - before.cpu_seconds) / added},
             {"idle_kb_of_one", double(rested.rss_bytes - before.rss_bytes) / 1024 / added},
             {"peak_kb_of_one", double(rested.peak_rss_bytes - before.rss_bytes) / 1024 / added},
             {"descriptors_of_one", double(hub.manager().descriptors() - files) / added},
             {"idle_cpu_ms_per_minute_of_one",
              1000 * (rested.cpu_seconds - settled.cpu_seconds) / options.workers}};
  if (!at_hub || !at_workers) co_return;
  const Totals sums = totals({*at_hub, *at_workers});
  (*result)["hub_writes_of_one"] = double(sums.hub_writes) / added;
}

}  // namespace

Task<int> workers(Ground ground, WorkersOptions options) {
  Status outcome = Error(Errc::timeout, "the workers were not Active in time");
  auto hub = co_await Cluster::start(ground, "hub");
  auto worker = co_await Cluster::start(ground, "workers");
  if (!hub) outcome = hub.error();
  if (!worker) outcome = worker.error();
  Json result;
  if (hub && worker) {
    const std::vector<Json> system = {Json{
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kueue-system"}}}}};
    outcome = co_await (*hub)->apply(system);
    const std::string frameworks = "integrations:\n  frameworks: [" + options.frameworks + "]\n";
    if (outcome) outcome = (*hub)->start_manager(frameworks);
    if (outcome) {
      outcome = Error(Errc::timeout, "the workers were not Active in time");
      Task<> measuring = measure_workers(**hub, **worker, ground, options, &result, &outcome);
      co_await finishes_before(ground.clock, ground.clock.steady() + connect_patience,
                               std::move(measuring));
    }
  }
  if (!outcome) {
    std::fprintf(stderr, "regatta_bench: %s; logs are in %s\n", outcome.error().what().c_str(),
                 ground.folder.c_str());
    co_return 1;
  }
  if (options.json) {
    std::printf("%s\n", dump_json(result).c_str());
  } else {
    for (const auto& [name, value] : result.items()) {
      std::printf("%-30s %10.2f\n", name.c_str(), value.get<double>());
    }
  }
  std::fflush(stdout);
  co_return 0;
}

}  // namespace regatta::bench
