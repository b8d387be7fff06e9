#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

namespace regatta::apiserver {

/// Failures on purpose. Probabilities are per request; all are 0 by default. Requests below
/// /_regatta and health checks never fail.
struct Faults {
  Duration latency{0};
  Duration latency_jitter{0};
  double conflict = 0;           ///< 409 instead of an update or patch
  double gone = 0;               ///< 410 instead of a list; watches end with 410
  double too_many_requests = 0;  ///< 429 with Retry-After
  double internal_error = 0;     ///< 500
  double lost_reply = 0;         ///< carried out, but answered with 500
  double drop_watch = 0;         ///< per chunk: the watch is cut short
  double half_open_watch = 0;    ///< per watch: it stays open and silent
  bool refuse = false;  ///< 503 for all requests but those of system:masters below /_regatta

  Json to_json() const;
  /// Missing members keep their value.
  Status merge(const Json& json);
};

}  // namespace regatta::apiserver
