#pragma once

#include "lab/demo/race.h"

#include <map>
#include <string>

namespace regatta::lab {

/// Shows a race on standard output: a board that is drawn in place on a terminal, elsewhere a line
/// for each thing that happens.
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
  std::size_t drawn_ = 0;  ///< lines on the screen that are ours
  std::map<api::ObjectKey, std::string> told_;
};

}  // namespace regatta::lab
