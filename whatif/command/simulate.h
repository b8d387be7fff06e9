#pragma once

#include "whatif/command/explain.h"
#include "whatif/command/load.h"
#include "whatif/report.h"

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

enum class ReportOutput : std::uint8_t { table, json, yaml };

struct SimulateCommand {
  SimulationOptions simulation;
  /// Another configuration, shown beside the first.
  std::optional<SimulationOptions> compared;
  std::string plot;                  ///< path of the picture (SVG), or empty
  std::vector<ExplainWish> explain;  ///< workloads to explain instead of a report
  ReportOutput output = ReportOutput::table;
  ReportFormat format;
  bool terminal = false;  ///< whether `err` is a terminal
  /// Called now and then; true ends the simulation. May be null.
  std::function<bool()> interrupted;
};

/// `regatta simulate -f …`. Bad input is reported on `err`, and nothing runs then. Returns the exit
/// code: 0, 1 for bad input, 2 for bad flags, 130 when interrupted (the results so far are
/// printed).
int run_simulation(const SimulateCommand& command, const Clock& clock, std::ostream& out,
                   std::ostream& err);

}  // namespace regatta::whatif
