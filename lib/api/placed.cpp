#include "lib/api/placed.h"

#include "lib/api/names.h"

#include <algorithm>
#include <array>

namespace regatta::api {

bool placed_by_topology(const StringMap& given) {
  constexpr std::array marks = {
      annotations::podset_required_topology, annotations::podset_preferred_topology,
      annotations::podset_unconstrained_topology, annotations::podset_slice_required_topology,
      annotations::podset_slice_required_topology_constraints};
  return std::any_of(marks.begin(), marks.end(),
                     [&](std::string_view mark) { return given.contains(std::string(mark)); });
}

bool lowest_is_hostname(const std::vector<std::string>& levels) {
  return !levels.empty() && levels.back() == labels::hostname;
}

}  // namespace regatta::api
