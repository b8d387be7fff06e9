#pragma once

#include "bench/measure.h"

#include <string>
#include <vector>

namespace regatta::bench {

/// What a process used during a race.
struct PartUsage {
  Role role;
  bool of_hub = false;
  std::string name;
  double cpu_seconds = 0;
  std::int64_t peak_rss_bytes = 0;
};

/// One race.
struct Measured {
  double seconds = 0;
  std::vector<double> admission;  ///< seconds from acceptance to admission, sorted
  std::vector<PartUsage> parts;
  std::vector<Requests> requests;
  std::size_t completed = 0;
};

/// One race on clusters of its own, which are gone afterwards.
Task<Result<Measured>> run_race(Ground ground, const lab::RacedKind& kind, RaceOptions options);

/// The numbers, as one JSON object.
Json summary(const Measured& measured, const RaceOptions& options);

/// Requests, processes and the summary as tables.
void print_tables(const Measured& measured, const RaceOptions& options);

}  // namespace regatta::bench
