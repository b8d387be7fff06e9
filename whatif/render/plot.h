#pragma once

#include "whatif/report.h"

#include <string>
#include <vector>

namespace regatta::whatif {

/// A picture (SVG) of utilisation and of the lengths of queues over time. Of one report: the
/// scarcest flavors and the longest queues, one line each. Of several: one line for each, of the
/// scarcest flavor and of all queues together.
///
/// It stands alone: no scripts, no fonts, its colours are told apart by the colour-blind (and lines
/// by their dashes), and it follows the reader's light or dark theme.
std::string plot_svg(const std::vector<const Report*>& reports);

}  // namespace regatta::whatif
