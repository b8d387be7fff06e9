#pragma once

#include "bench/report/requests.h"

#include <string>

namespace regatta::bench {

/// One line for each count, and one for failures.
inline std::string text_of(const Requests& requests) {
  std::string text;
  for (const auto& [key, count] : requests.counts()) {
    text += key.sent_by + " " + key.verb + " " + key.resource + ": " + std::to_string(count) + "\n";
  }
  return text + std::to_string(requests.failures()) + " failures, " +
         std::to_string(requests.conflicts()) + " conflicts\n";
}

}  // namespace regatta::bench
