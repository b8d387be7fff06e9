#pragma once

#include "whatif/report.h"

#include <vector>

namespace regatta::whatif {

/// Fills in Report::totals and what queues count, from records and means.
void summarize(Report* report);

/// Mean, median and so on; percentiles by nearest rank.
Spread spread_of(std::vector<double> values);

/// (Σx)² / (n·Σx²): 1 when all are equal; 1 of nothing.
double jain_index(const std::vector<double>& values);

}  // namespace regatta::whatif
