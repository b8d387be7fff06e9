#pragma once

#include "lab/demo/race.h"

#include <string>
#include <vector>

namespace regatta::lab {

struct BoardSize {
  int columns = 80;
  int rows = 24;
};

/// The race as lines that are not wider than the screen: a line of counts, a usage bar for each
/// worker, and the Jobs, those that change first. Jobs that do not fit are counted. `colour` adds
/// escape sequences, which do not count as width.
std::vector<std::string> draw_board(const Race& race, Duration elapsed, BoardSize size,
                                    bool colour);

}  // namespace regatta::lab
