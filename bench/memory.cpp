#include "bench/measure.h"
#include "bench/watcher.h"
#include "lib/api/workload.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace regatta::bench {
namespace {

constexpr Duration patience = std::chrono::minutes(5);
constexpr Duration look_every = std::chrono::seconds(5);
constexpr double idle_seconds = 0.1;  ///< CPU time between two looks, at most

Task<> wait_for_workloads(Watcher& watcher, std::size_t count) {
  while (watcher.seen() < count && watcher.error().empty()) co_await watcher.changed().wait();
}

/// Until what is left to write about waiting Workloads is written.
Task<> wait_idle(const Process& manager, Clock& clock) {
  for (double before = manager.usage().cpu_seconds;;) {
    co_await clock.sleep_for(look_every);
    const double now = manager.usage().cpu_seconds;
    if (now - before < idle_seconds) co_return;
    before = now;
  }
}

/// The Workloads that the workers hold.
Task<Result<std::size_t>> count_copies(Federation& fleet) {
  std::size_t all = 0;
  for (const auto& cluster : fleet.clusters()) {
    if (cluster.get() == &fleet.hub()) continue;
    const auto there = co_await cluster->client().list<api::Workload>();
    if (!there) co_return there.error();
    all += there->size();
  }
  co_return all;
}

Task<> fill(Federation& fleet, Ground ground, MemoryOptions options, Status* outcome) {
  Watcher watcher(fleet.hub().client(), ground.executor);
  Submission submission;
  constexpr double hours = 36000;
  Submitted what;
  what.count = options.workloads;
  what.run_seconds = hours;
  co_await submit(fleet.hub().client(), what, &submission);
  *outcome = submission.outcome;
  if (!submission.outcome) co_return;
  const auto count = static_cast<std::size_t>(options.workloads);
  co_await first_of(watcher.run(), wait_for_workloads(watcher, count));
  if (!watcher.error().empty()) *outcome = Error(Errc::unavailable, watcher.error());
  co_await wait_idle(fleet.hub().manager(), ground.clock);
}

}  // namespace

Task<int> memory(Ground ground, MemoryOptions options) {
  FederationOptions shape;
  shape.workers = options.workers;
  shape.slots = 10;
  shape.hub_slots = options.offered ? options.workloads : 10 * options.workers;
  auto fleet = co_await Federation::start(ground, shape);
  Status outcome = Error(Errc::timeout, "the workloads were not there in time");
  if (fleet) {
    const Process& manager = (*fleet)->hub().manager();
    const Usage before = manager.usage();
    Task<> filling = fill(**fleet, ground, options, &outcome);
    co_await finishes_before(ground.clock, ground.clock.steady() + patience, std::move(filling));
    const Usage after = manager.usage();
    const auto copies = co_await count_copies(**fleet);
    if (!copies) outcome = copies.error();
    if (outcome) {
      const auto megabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
      const Json result = {{"workloads", options.workloads},
                           {"copies", *copies},
                           {"hub_manager_rss_mb", megabytes(after.rss_bytes)},
                           {"hub_manager_peak_rss_mb", megabytes(after.peak_rss_bytes)},
                           {"hub_manager_idle_rss_mb", megabytes(before.rss_bytes)},
                           {"hub_manager_cpu_seconds", after.cpu_seconds - before.cpu_seconds}};
      if (!options.json) {
        for (const auto& [name, value] : result.items()) {
          std::printf("%-28s %10.1f\n", name.c_str(), value.get<double>());
        }
      } else {
        std::printf("%s\n", dump_json(result).c_str());
      }
      std::fflush(stdout);
      co_return 0;
    }
  } else {
    outcome = fleet.error();
  }
  std::fprintf(stderr, "regatta_bench: %s; logs are in %s\n", outcome.error().what().c_str(),
               ground.folder.c_str());
  co_return 1;
}

}  // namespace regatta::bench
