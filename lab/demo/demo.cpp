#include "lab/demo/demo.h"

#include "lab/demo/nominator.h"
#include "lab/demo/screen.h"
#include "lab/demo/summary.h"
#include "lab/demo/watchers.h"
#include "lab/federation/examples.h"
#include "lab/federation/federation.h"
#include "lab/federation/free_ports.h"
#include "lib/base/temporary_folder.h"
#include "lib/runtime/process.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <unistd.h>
#include <utility>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

constexpr Duration redraw_every{100};
constexpr Duration clean_up_max = std::chrono::seconds(15);

int fail(const Error& error) {
  std::cerr << "regatta: " << error.what() << '\n';
  return 1;
}

/// The capacity of a worker: the quota of its ClusterQueue.
Capacity capacity_of(const std::string& fleet) {
  Capacity capacity;
  const auto objects =
      manifest::objects_below(lab::examples(), "examples/workers/" + fleet + ".yaml");
  if (!objects) return capacity;
  for (const Json& object : *objects) {
    if (object.value("kind", "") != "ClusterQueue") continue;
    for (const Json& resource :
         object.at("spec").at("resourceGroups").at(0).at("flavors").at(0).at("resources")) {
      const Json& quota = resource.at("nominalQuota");
      if (!quota.is_number_integer()) continue;
      const auto value = quota.get<std::int64_t>();
      if (resource.value("name", "") == "cpu") capacity.cpu_milli = value * 1000;
      if (resource.value("name", "") == "nvidia.com/gpu") capacity.accelerators = value;
    }
  }
  return capacity;
}

Race make_race(const SandboxState& state) {
  std::vector<std::string> workers;
  std::map<std::string, Capacity> capacities;
  for (const ClusterState& cluster : state.clusters) {
    if (cluster.hub) continue;
    workers.push_back(cluster.name);
    capacities[cluster.name] = capacity_of(cluster.fleet);
  }
  return Race(std::move(workers), std::move(capacities));
}

Result<std::vector<DemoJob>> jobs_of(const SandboxState& state, int count, std::uint64_t seed) {
  const auto examples = manifest::objects_below(lab::examples(), "examples/jobs/");
  if (!examples) return examples.error();
  const auto kinds = raced_kinds(state.kinds);
  if (!kinds) return kinds.error();
  Rng rng(seed);
  return mix_jobs(*examples, *kinds, count, rng);
}

Task<Status> submit(kube::Client& client, const DemoJob& job) {
  for (const Json& object : job.objects) {
    std::string body = dump_json(object);
    std::string ns = job.key.ns;
    const auto created = co_await client.create_raw(job.resource, std::move(ns), std::move(body));
    if (!created) co_return created.error().within("submitting " + job.key.str());
  }
  co_return ok();
}

/// The race over a federation that runs.
class Demo {
 public:
  Demo(FederationDeps deps, const Federation& federation, DemoOptions options)
      : deps_(deps),
        federation_(federation),
        options_(std::move(options)),
        race_(make_race(federation.state())),
        watchers_(deps, race_),
        scope_(deps.executor) {}

  /// Ends the watches. It must be awaited before this is destroyed, also when run() was cancelled.
  Task<> end() {
    scope_.stop();
    co_await scope_.join();
  }

  Task<> run(Status* outcome, std::optional<Summary>* summary) {
    auto jobs = jobs_of(federation_.state(), options_.jobs, options_.seed);
    *outcome = jobs ? watchers_.start(federation_, scope_) : Status(jobs.error());
    if (!*outcome) co_return;
    co_await watchers_.wait_synced();
    start_nominator();
    const auto before = co_await requests();
    const TimePoint start = deps_.clock.now();
    const SteadyPoint begun = deps_.clock.steady();
    Screen screen(start);
    for (DemoJob& job : *jobs) {
      const DemoJob submitted = job;
      race_.submitted(std::move(job), deps_.clock.now());
      *outcome = co_await submit(watchers_.client(hub()), submitted);
      if (!*outcome) co_return;
    }
    *outcome = co_await watch_race(&screen, begun);
    if (!*outcome) co_return;
    Summary result = summarise(race_, deps_.clock.steady() - begun);
    const SteadyPoint patience = deps_.clock.steady() + clean_up_max;
    while (watchers_.remote_objects() > 0 && deps_.clock.steady() < patience) {
      co_await deps_.clock.sleep_for(redraw_every);
    }
    result.remote_objects_left = watchers_.remote_objects();
    const auto after = co_await requests();
    for (const auto& [cluster, counted] : after) {
      const auto earlier = before.find(cluster);
      result.requests[cluster] =
          difference(earlier == before.end() ? Requests() : earlier->second, counted);
    }
    result.requests_of_everybody = real();
    *summary = std::move(result);
  }

 private:
  const std::string& hub() const { return federation_.state().hub().name; }
  bool real() const { return federation_.state().hub().etcd_port != 0; }

  void start_nominator() {
    if (options_.layout.dispatcher != "external") return;
    nominator_ = std::make_unique<Nominator>(watchers_.client(hub()), deps_.clock,
                                             watchers_.hub_workloads(), race_.workers());
    scope_.spawn("nominator", nominator_->run());
  }

  /// Ends early when a process ended: nothing starts it again, so the race cannot end.
  Task<Status> watch_race(Screen* screen, SteadyPoint begun) {
    const SteadyPoint patience = begun + std::chrono::seconds(options_.patience_seconds);
    while (!race_.over() && deps_.clock.steady() < patience) {
      screen->show(race_, deps_.clock.now());
      for (const Component& component : federation_.state().components) {
        if (component.process.pid == 0 || is_running(component.process)) continue;
        co_return Error(Errc::unavailable, component.name + " ended in mid-race; the end of " +
                                               component.log + ":\n" + tail(component.log, 5));
      }
      co_await deps_.clock.sleep_for(redraw_every);
    }
    screen->show(race_, deps_.clock.now());
    co_return ok();
  }

  Task<std::map<std::string, Requests>> requests() {
    std::map<std::string, Requests> out;
    for (const ClusterState& cluster : federation_.state().clusters) {
      const std::string path = real() ? "/metrics" : "/_regatta/requests";
      const auto text = co_await watchers_.client(cluster.name).get_path(path);
      if (!text) continue;
      if (real()) {
        out[cluster.name] = all_requests(*text);
      } else if (const auto report = parse_json(*text)) {
        out[cluster.name] = manager_requests(*report);
      }
    }
    co_return out;
  }

  FederationDeps deps_;
  const Federation& federation_;
  DemoOptions options_;
  Race race_;
  Watchers watchers_;
  std::unique_ptr<Nominator> nominator_;
  TaskScope scope_;
};

Task<> up_and_race(Federation& federation, Demo& demo, Status* outcome,
                   std::optional<Summary>* summary) {
  *outcome = co_await federation.up();
  if (*outcome) co_await demo.run(outcome, summary);
}

void print_progress(const std::string& line) {
  std::cerr << line << std::endl;
}

Task<int> demonstrate(DemoOptions options) {
  const Executor executor = co_await asio::this_coro::executor;
  SystemClock clock;
  Rng rng = Rng::from_system();
  const FederationDeps deps{executor, clock, rng, print_progress};
  FreePorts ports;
  auto state = lay_out(options.layout, [&] { return ports.next(); });
  if (!state) {
    std::error_code ignored;
    fs::remove(options.layout.folder, ignored);  // only when it is empty
    co_return fail(state.error());
  }
  Federation federation(deps, std::move(*state));
  Demo demo(deps, federation, options);
  Status outcome = ok();
  std::optional<Summary> summary;
  Task<> work = up_and_race(federation, demo, &outcome, &summary);
  const bool done = co_await until_signalled(std::move(work));
  co_await demo.end();
  if (summary) std::cout << to_text(*summary) << std::flush;
  const bool held = summary && summary->holds();
  if (options.keep && done) {
    std::cout << "\nEverything still runs. ./dev sandbox status --dir " << options.layout.folder
              << "\n./dev sandbox down --dir " << options.layout.folder
              << "\nexport KUBECONFIG=" << federation.state().hub().kubeconfig("admin") << '\n';
  } else {
    co_await federation.down();
  }
  if (!done) co_return fail(Error(Errc::unavailable, "interrupted; everything was stopped"));
  if (!outcome) co_return fail(outcome.error());
  if (!held) {
    std::cerr << "regatta: the demo failed; the logs are in " << options.layout.folder << "/logs\n";
    co_return 1;
  }
  std::error_code ignored;
  if (!options.keep) fs::remove_all(options.layout.folder, ignored);
  co_return 0;
}

Task<int> submit_all(std::string folder, int count, std::uint64_t seed) {
  const Executor executor = co_await asio::this_coro::executor;
  SystemClock clock;
  Rng rng = Rng::from_system();
  auto state = load_state(folder);
  if (!state) co_return fail(state.error());
  const Federation federation(FederationDeps{executor, clock, rng, print_progress},
                              std::move(*state));
  auto connection = federation.connect(federation.state().hub().name, "regatta-demo");
  if (!connection) co_return fail(connection.error());
  const auto jobs = jobs_of(federation.state(), count, seed);
  if (!jobs) co_return fail(jobs.error());
  for (const DemoJob& job : *jobs) {
    const Status submitted = co_await submit((*connection)->client(), job);
    if (!submitted) co_return fail(submitted.error());
  }
  std::cout << jobs->size() << " jobs submitted\n";
  co_return 0;
}

}  // namespace

int run_demo(DemoOptions options) {
  if (options.layout.folder.empty()) {
    const auto folder = make_temporary_folder("regatta-demo");
    if (!folder) return fail(folder.error());
    options.layout.folder = folder->string();
  }
  options.layout.persist = false;
  options.layout.parent = options.keep ? 0 : ::getpid();
  return run_process([&] { return demonstrate(options); });
}

int submit_jobs(const std::string& folder, int jobs, std::uint64_t seed) {
  return run_process([&] { return submit_all(folder, jobs, seed); });
}

}  // namespace regatta::lab
