#pragma once

#include "lab/demo/race.h"

#include <string>
#include <vector>

namespace regatta::lab {

struct BoardSize {
  int columns = 80;
  int rows = 24;
};

/// The race as lines no longer than the screen is wide: a line of counts, a usage bar for each
/// worker, and the Jobs, those that move first; what does not fit is counted. `colour` puts in
/// escape sequences, which count for nothing.
std::vector<std::string> draw_board(const Race& race, Duration elapsed, BoardSize size,
                                    bool colour);

}  // namespace regatta::lab
