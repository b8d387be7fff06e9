#include "whatif/explain/feed.h"

#include <algorithm>

namespace regatta::whatif {
namespace {

struct Feeder {
  admission::State& state;
  TimePoint now;

  /// Objects of kinds that admission does not know are left out.
  template <class T>
  void operator()(const T& object) const {
    if constexpr (requires { state.upsert(object, now); }) {
      state.upsert(object, now);
    } else if constexpr (requires { state.upsert(object); }) {
      state.upsert(object);
    }
  }
};

}  // namespace

void feed(admission::State* state, const std::vector<Object>& objects, TimePoint now) {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // kind, place
  order.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) order.emplace_back(objects[i].index(), i);
  std::sort(order.begin(), order.end());
  for (const auto& [kind, i] : order) std::visit(Feeder{*state, now}, objects[i]);
}

}  // namespace regatta::whatif
