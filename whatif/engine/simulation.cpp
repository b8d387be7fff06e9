#include "whatif/engine/simulation.h"

#include "jobs/integrations/integrations.h"
#include "whatif/engine/federation.h"
#include "whatif/engine/summary.h"

#include <algorithm>
#include <array>

namespace regatta::whatif {
namespace {

/// The most rounds in which hub and workers react to each other within one moment.
constexpr int rounds_max = 10'000;

}  // namespace

Duration pleasant_step(Duration length) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  static constexpr std::array<Duration, 12> steps{seconds(1), seconds(5), seconds(10), seconds(30),
                                                  minutes(1), minutes(5), minutes(10), minutes(30),
                                                  hours(1),   hours(6),   hours(12),   hours(24)};
  for (const Duration step : steps) {
    if (length / step <= 300) return step;
  }
  return std::max(steps.back(), Duration(length.count() / 300 + 1));
}

Simulation::Simulation(SimulationInput input) : input_(std::move(input)), now_(input_.start) {
  grid_.start = input_.start;
  grid_.end = input_.start + input_.until;
  grid_.step = input_.step > Duration(0) ? input_.step : pleasant_step(input_.until);
  const auto add = [&](const ClusterInput& one, bool dispatches) {
    ClusterSettings settings;
    settings.name = one.name;
    settings.index = static_cast<std::uint32_t>(clusters_.size());
    settings.dispatches = dispatches;
    settings.federated = !input_.workers.empty();
    settings.admission = input_.admission;
    settings.lifecycle = input_.lifecycle;
    settings.kinds = jobs::enabled_kinds({});
    settings.jobs = input_.jobs;
    settings.behaviour = input_.behaviour;
    clusters_.push_back(
        std::make_unique<Cluster>(std::move(settings), &grid_, &agenda_, &records_));
  };
  add(input_.hub, !input_.workers.empty());
  for (const ClusterInput& worker : input_.workers) add(worker, false);
  if (!input_.workers.empty()) {
    std::vector<Cluster*> clusters;
    for (const auto& cluster : clusters_) clusters.push_back(cluster.get());
    federation_ =
        std::make_unique<Federation>(std::move(clusters), input_.dispatch, &agenda_, &records_);
  }
  const auto load = [&](Cluster* cluster, std::vector<Object>* objects) {
    for (std::size_t kind = 0; kind < std::variant_size_v<Object>; ++kind) {
      for (const Object& object : *objects) {
        if (object.index() == kind) cluster->apply(object, now_);
      }
    }
    objects->clear();
  };
  for (std::size_t i = 0; i < input_.workers.size(); ++i) {
    load(at(static_cast<std::uint32_t>(i + 1)), &input_.workers[i].objects);
  }
  load(at(0), &input_.hub.objects);
  quiet_down();
}

Simulation::~Simulation() = default;

Cluster* Simulation::find(const std::string& name) {
  for (const auto& cluster : clusters_) {
    if (cluster->name() == name) return cluster.get();
  }
  return nullptr;
}

void Simulation::happen(const TimedEvent& event) {
  Cluster* cluster = find(event.cluster);
  Status done = ok();
  if (const auto* change = std::get_if<SetConnected>(&event.what)) {
    done = federation_ ? federation_->set_connected(event.cluster, change->connected, now_)
                       : Error(Errc::not_found, "there are no workers");
  } else if (!cluster) {
    done = Error(Errc::not_found, "there is no cluster " + event.cluster);
  } else if (const auto* object = std::get_if<Object>(&event.what)) {
    cluster->apply(*object, now_);
  } else if (const auto* name = std::get_if<ObjectName>(&event.what)) {
    done = cluster->erase(*name, now_);
  } else if (const auto* scale = std::get_if<ScaleQuota>(&event.what)) {
    done = cluster->scale(*scale, now_);
  } else if (const auto* node = std::get_if<SetNodeReady>(&event.what)) {
    done = cluster->set_node_ready(*node, now_);
  }
  if (!done) {
    records_.warn("event at " + format_rfc3339(event.at) + ": " + done.error().what());
  }
}

void Simulation::quiet_down() {
  for (int round = 0; round < rounds_max; ++round) {
    bool quiet = true;
    for (const auto& cluster : clusters_) {
      if (!cluster->restless()) continue;
      cluster->act(now_);
      quiet = quiet && !cluster->restless();
    }
    if (federation_ && federation_->act(now_)) quiet = false;
    if (quiet) return;
  }
  records_.warn("at " + format_rfc3339(now_) +
                " the clusters did not come to rest; what follows may be wrong");
}

std::optional<TimePoint> Simulation::next() const {
  std::optional<TimePoint> next = agenda_.next();
  if (next_event_ < input_.events.size()) {
    const TimePoint at = input_.events[next_event_].at;
    next = next ? std::min(*next, at) : at;
  }
  if (!next || *next > grid_.end) return std::nullopt;
  return std::max(now_, *next);
}

bool Simulation::step() {
  const std::optional<TimePoint> moment = next();
  if (!moment) return false;
  now_ = *moment;
  while (next_event_ < input_.events.size() && input_.events[next_event_].at <= now_) {
    happen(input_.events[next_event_]);
    // Frees the event: most of the memory of a long simulation is in its events.
    input_.events[next_event_].what = SetConnected{};
    ++next_event_;
  }
  while (const auto wake = agenda_.pop(now_)) {
    if (wake->due == Due::dispatch) {
      federation_->wake(*wake);
    } else {
      at(wake->cluster)->wake(*wake, now_);
    }
  }
  quiet_down();
  return true;
}

Progress Simulation::progress() const {
  Progress out;
  out.simulated = now_ - grid_.start;
  out.of = grid_.end - grid_.start;
  out.events = next_event_;
  out.events_of = input_.events.size();
  out.unfinished = clusters_.front()->unfinished();
  return out;
}

Report Simulation::report(bool interrupted) {
  Report out;
  out.name = input_.name;
  out.start = grid_.start;
  const TimePoint end = interrupted ? now_ : grid_.end;
  out.length = end - grid_.start;
  out.step = grid_.step;
  out.samples = Grid{grid_.start, end, grid_.step}.samples();
  out.interrupted = interrupted;
  for (const auto& cluster : clusters_) {
    cluster->explain_passed_over(now_);
    out.clusters.push_back(cluster->name());
    auto queues = cluster->meters().queues(cluster->name(), end);
    for (QueueReport& queue : queues) {
      const admission::Activity activity = cluster->state().reader().activity(queue.name);
      if (!activity.active) queue.inactive = activity.message;
    }
    auto capacity = cluster->meters().capacity(cluster->name(), end);
    std::move(queues.begin(), queues.end(), std::back_inserter(out.queues));
    std::move(capacity.begin(), capacity.end(), std::back_inserter(out.capacity));
  }
  out.workloads = records_.workloads;
  out.preemptions = records_.preemptions;
  out.warnings = records_.warnings;
  summarize(&out);
  return out;
}

Report simulate(SimulationInput input, const std::function<bool(const Progress&)>& watch) {
  Simulation simulation(std::move(input));
  constexpr int steps_between = 256;
  for (int steps = 0; simulation.step(); ++steps) {
    if (watch && steps % steps_between == 0 && !watch(simulation.progress())) {
      return simulation.report(true);
    }
  }
  return simulation.report();
}

}  // namespace regatta::whatif
