#pragma once

#include "whatif/report.h"

#include <vector>

namespace regatta::whatif {

/// Fills in Report::totals and the counts of queues, from records and means.
void summarize(Report* report);

/// Mean, median and percentiles; percentiles are by nearest rank.
Spread spread_of(std::vector<double> values);

/// (Σx)² / (n·Σx²). It is 1 when all values are equal, or when there are none.
double jain_index(const std::vector<double>& values);

}  // namespace regatta::whatif
