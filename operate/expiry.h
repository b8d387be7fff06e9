#pragma once

#include "lib/base/clock.h"
#include "operate/examination.h"

#include <optional>
#include <string>
#include <string_view>

namespace regatta::operate {

/// So long before it ends, what a worker needs is a finding.
constexpr Duration ends_soon_on_workers = std::chrono::hours(24 * 14);

/// When a token ends (claim `exp` of a JSON web token); nullopt when it does not say.
std::optional<TimePoint> token_end(std::string_view token);

/// Adds a finding when `end` is past or closer than `early`. `what`: "the token of the hub".
void check_end(Examination* out, const std::string& where, const std::string& what, TimePoint end,
               TimePoint now, Duration early, const std::string& todo);
/// The same for the first certificate of a PEM; one that cannot be read is a finding.
void check_certificate(Examination* out, const std::string& where, const std::string& what,
                       std::string_view pem, TimePoint now, Duration early,
                       const std::string& todo);
/// A finding when the clock of `where` differs by more than a few seconds from the hub's.
void check_skew(Examination* out, const std::string& where, Duration ahead);

}  // namespace regatta::operate
