#pragma once

#include "lib/api/meta.h"
#include "lib/base/clock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace regatta::clusters {

/// What an operator should know about a worker.
struct Notice {
  std::string reason;
  std::string message;
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// Sets the condition of that type as the notice says it: True with a notice, and for nullopt False
/// where it is True. Returns whether anything changed.
bool set_notice(api::Conditions* conditions, std::string_view type,
                const std::optional<Notice>& notice, std::int64_t generation, TimePoint now);

}  // namespace regatta::clusters
