#include "bench/measure.h"
#include "bench/objects.h"
#include "bench/race_report.h"
#include "bench/watcher.h"
#include "lib/api/workload.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::bench {
namespace {

using Clocked = std::chrono::steady_clock;

// How often the driver looks whether workers are clean; it takes time of their API servers.
constexpr Duration embedded_look{20};
constexpr Duration real_look{250};
/// For kube-apiserver to finish what its start and the CRDs gave it to do.
constexpr Duration until_quiet = std::chrono::seconds(5);

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

/// How many objects there are that `counts` holds for.
Task<Result<std::size_t>> count(Cluster& cluster, api::ResourceInfo resource,
                                std::function<bool(const Json&)> counts) {
  std::size_t found = 0;
  const kube::OnItem each = [&](const Json& object, std::size_t) {
    if (counts(object)) ++found;
  };
  kube::ListOptions options;
  options.limit = 0;
  const auto listed = co_await cluster.client().list_raw(resource, job_namespace, options, each);
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

Task<Status> wait_clean(Federation& fleet, const lab::RacedKind& kind, Ground ground) {
  const Duration poll_every = ground.assets.empty() ? embedded_look : real_look;
  for (std::size_t i = 1; i < fleet.clusters().size();) {
    const auto clean = co_await is_clean(*fleet.clusters()[i], kind);
    if (!clean) co_return clean.error();
    if (*clean) {
      ++i;
    } else {
      co_await ground.clock.sleep_for(poll_every);
    }
  }
  co_return ok();
}

/// What the processes have used so far.
std::vector<PartUsage> usage_of(Federation& fleet) {
  std::vector<PartUsage> all;
  for (const auto& cluster : fleet.clusters()) {
    for (const Part& part : cluster->parts()) {
      const Usage usage = part.process->usage();
      all.push_back({part.role, cluster.get() == &fleet.hub(), part.process->name(),
                     usage.cpu_seconds, usage.peak_rss_bytes});
    }
  }
  return all;
}

/// The race itself; the watcher runs beside it.
class Race {
 public:
  Race(Federation& fleet, const lab::RacedKind& kind, Ground ground, RaceOptions options)
      : fleet_(fleet),
        kind_(kind),
        ground_(ground),
        options_(std::move(options)),
        watcher_(fleet.hub().client(), ground.executor) {}

  Task<> run() { co_await first_of(watcher_.run(), measure()); }
  const Status& outcome() const { return outcome_; }
  const Measured& measured() const { return measured_; }

 private:
  Task<> measure() {
    outcome_ = co_await fleet_.forget_requests();
    if (!outcome_) co_return;
    const std::vector<PartUsage> before = usage_of(fleet_);
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
    if (outcome_) outcome_ = co_await wait_clean(fleet_, kind_, ground_);
    if (!outcome_) co_return;
    measured_.seconds = seconds_between(began, Clocked::now());
    measured_.parts = usage_of(fleet_);
    for (std::size_t i = 0; i < before.size(); ++i) {
      measured_.parts[i].cpu_seconds -= before[i].cpu_seconds;
    }
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
    co_await ground_.clock.sleep_for(std::chrono::seconds(2));
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
  Ground ground_;
  RaceOptions options_;
  Watcher watcher_;
  Measured measured_;
  Status outcome_ = Error(Errc::timeout, "the watch of the hub's workloads ended");
};

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

Task<Result<Measured>> run_race(Ground ground, const lab::RacedKind& kind, RaceOptions options) {
  FederationOptions shape;
  shape.kind = &kind;
  shape.workers = options.workers;
  shape.slots = options.slots * kind.objects(group_pods);
  shape.hub_slots = shape.slots * std::min(options.workers, group_size);
  shape.dispatcher = options.dispatcher;
  auto fleet = co_await Federation::start(ground, shape);
  if (!fleet) co_return fleet.error();
  if (!ground.assets.empty()) co_await ground.clock.sleep_for(until_quiet);
  ground.progress("the race begins");
  Race race(**fleet, kind, ground, options);
  const SteadyPoint deadline =
      ground.clock.steady() + Duration(static_cast<Duration::rep>(options.patience_seconds * 1000));
  const bool in_time = co_await finishes_before(ground.clock, deadline, race.run());
  if (!in_time) {
    co_return Error(Errc::timeout, "not finished in time (--patience-seconds); logs are in " +
                                       ground.folder.string());
  }
  if (!race.outcome()) {
    co_return race.outcome().error().within("logs are in " + ground.folder.string());
  }
  co_return race.measured();
}

}  // namespace regatta::bench
