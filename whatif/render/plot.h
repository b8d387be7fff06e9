#pragma once

#include "whatif/report.h"

#include <string>
#include <vector>

namespace regatta::whatif {

/// A picture (SVG) of the utilisation and of the lengths of queues over time. For one report: the
/// scarcest flavors and the longest queues, one line each. For several: one line for each report,
/// of its scarcest flavor and of all its queues together.
///
/// The file stands alone: no scripts, no fonts. Colour-blind readers can tell its colours apart
/// (and lines differ in dashes), and it follows the reader's light or dark theme.
std::string plot_svg(const std::vector<const Report*>& reports);

}  // namespace regatta::whatif
