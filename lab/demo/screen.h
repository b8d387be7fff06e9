#pragma once

#include "lab/demo/race.h"

#include <map>
#include <string>

namespace regatta::lab {

/// Shows a race on standard output: on a terminal a board that is redrawn in place, elsewhere a
/// line for each event.
class Screen {
 public:
  explicit Screen(TimePoint start);

  void show(const Race& race, TimePoint now);
  bool live() const { return live_; }

 private:
  void draw(const Race& race, TimePoint now);
  void tell(const Race& race, TimePoint now);

  TimePoint start_;
  bool live_;
  std::size_t drawn_ = 0;  ///< lines of the board on the screen
  std::map<api::ObjectKey, std::string> told_;
};

}  // namespace regatta::lab
