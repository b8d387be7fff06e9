#include "clusters/losses.h"

#include <algorithm>

namespace regatta::clusters {

void Losses::add(TimePoint over, Duration lasted) {
  all_.push_back({over, lasted});
  if (all_.size() <= kept_max) return;
  all_[1] = {std::min(all_[0].over, all_[1].over), all_[0].lasted + all_[1].lasted};
  all_.erase(all_.begin());
}

Duration Losses::after(TimePoint moment) const {
  Duration sum(0);
  for (const Loss& loss : all_) {
    if (loss.over - loss.lasted >= moment) {
      sum += loss.lasted;
    } else if (loss.over > moment) {
      sum += loss.over - moment;
    }
  }
  return sum;
}

}  // namespace regatta::clusters
