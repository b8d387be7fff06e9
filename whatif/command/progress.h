#pragma once

#include "lib/base/clock.h"
#include "whatif/engine/simulation.h"

#include <iosfwd>
#include <string>

namespace regatta::whatif {

/// Shows how far a long simulation is: on a terminal a bar in one line, which is cleared at the
/// end; otherwise a line now and then. Nothing in the first second.
class ProgressBar {
 public:
  ProgressBar(std::ostream& out, bool terminal, const Clock& clock);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);

 private:
  std::ostream& out_;
  bool terminal_;
  const Clock& clock_;
  SteadyPoint began_;
  SteadyPoint shown_;
  std::size_t width_ = 0;  ///< of the text on the terminal
};

/// "[######----]  62 %  14h52m of 1d, 6210 of 10000 events, 35 jobs unfinished"
std::string progress_line(const Progress& progress);

}  // namespace regatta::whatif
