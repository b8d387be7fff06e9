#pragma once

#include "lab/demo/race.h"
#include "lib/base/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::lab {

/// Requests by lower-case verb.
using Requests = std::map<std::string, std::uint64_t>;

/// The managers' requests to an embedded API server, from its /_regatta/requests. Leases and events
/// have verbs of their own ("lease", "event").
Requests manager_requests(const Json& report);
/// The requests of all clients, from the /metrics of any API server.
Requests all_requests(std::string_view metrics);
/// `after` - `before`, without zeros.
Requests difference(const Requests& before, const Requests& after);

/// The value below which `percent` of the sorted values lie (nearest rank); 0 without values.
Duration percentile(std::vector<Duration> values, int percent);

struct Summary {
  int jobs = 0, succeeded = 0, failed = 0, unfinished = 0;
  std::map<std::string, int> wins;
  Duration admission_p50{0}, admission_p95{0};
  Duration took{0};
  std::map<std::string, Requests> requests;  ///< by cluster
  bool requests_of_everybody = false;
  std::int64_t remote_objects_left = 0;
  std::vector<std::string> ran_twice;  ///< "team-product/job-01 on a100, cpu"

  /// Whether everything held that must hold.
  bool holds() const {
    return unfinished == 0 && failed == 0 && remote_objects_left == 0 && ran_twice.empty();
  }
};

/// Everything that follows from the race itself.
Summary summarise(const Race& race, Duration took);

std::string to_text(const Summary& summary);

}  // namespace regatta::lab
