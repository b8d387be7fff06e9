#pragma once

#include "whatif/engine/cluster.h"
#include "whatif/engine/input.h"
#include "whatif/report.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

class Federation;

/// How far a simulation has come.
struct Progress {
  Duration simulated{0};
  Duration of{0};
  std::size_t events = 0;  ///< of the input, those that happened
  std::size_t events_of = 0;
  std::size_t unfinished = 0;  ///< workloads
};

/// A federation, or one cluster, in virtual time. Deterministic: the same input leads to the same
/// report.
class Simulation {
 public:
  explicit Simulation(SimulationInput input);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Advances to the next moment at which something happens. False when the time is over or nothing
  /// can happen any more.
  bool step();
  /// The moment that the next step() goes to.
  std::optional<TimePoint> next() const;
  /// The last moment that was simulated.
  TimePoint now() const { return now_; }
  Progress progress() const;
  /// The report so far. With `interrupted` it ends at now(), otherwise at the end of the simulated
  /// time.
  Report report(bool interrupted = false);
  /// The cluster of that name; the hub, or the only cluster, is "". Null when there is none.
  Cluster* find(const std::string& cluster);

 private:
  void happen(const TimedEvent& event);
  void quiet_down();
  Cluster* at(std::uint32_t index) { return clusters_[index].get(); }

  SimulationInput input_;
  Grid grid_;
  Agenda agenda_;
  Records records_;
  std::vector<std::unique_ptr<Cluster>> clusters_;  ///< the hub first
  std::unique_ptr<Federation> federation_;          ///< with workers only
  std::size_t next_event_ = 0;
  TimePoint now_{};
};

/// Runs a simulation to its end. `watch` (may be null) is called from time to time, and stops the
/// simulation when it returns false.
Report simulate(SimulationInput input, const std::function<bool(const Progress&)>& watch = nullptr);

}  // namespace regatta::whatif
