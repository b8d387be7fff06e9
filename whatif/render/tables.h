#pragma once

#include "whatif/report.h"

#include <iosfwd>
#include <string>

namespace regatta::whatif {

/// A report as text in columns. Lists of workloads and preemptions end after `rows_max` rows and
/// say how many are left out.
struct TableOptions {
  std::size_t rows_max = 40;
};
/// One of at most twelve parts of the time.
struct Stretch {
  Duration from{0};  ///< since the start
  double created = 0;
  double waiting_seconds = 0;                        ///< mean of the workloads created in it
  double waiting = 0, running = 0, utilisation = 0;  ///< means
};
std::vector<Stretch> stretches(const Report& report);

void print(const Report& report, std::ostream& out, const TableOptions& options = {});

// The formats of numbers, here and in comparisons.

std::string seconds_text(double seconds);   ///< "7m30s"
std::string percent_text(double fraction);  ///< "82.4 %"
std::string number_text(double value);      ///< three significant digits, "12300", "0.05"
std::string index_text(double value);       ///< "0.982"
/// An amount of a resource: bytes as "64Gi", everything else as a number.
std::string resource_text(const std::string& resource, double amount);

}  // namespace regatta::whatif
