#include "dispatch/brake.h"

#include "lib/api/own_names.h"

#include <charconv>

namespace regatta::dispatch {

bool holds_removals(const RunningThere& there, const BrakeConfig& config,
                    std::optional<std::size_t> allowed) {
  if (there.vanished < config.at_least) return false;
  if (double(there.vanished) <= config.share * double(there.all)) return false;
  return !allowed || there.vanished > *allowed;
}

std::optional<std::size_t> allowed_removals(const std::string& annotation) {
  std::size_t count = 0;
  const char* end = annotation.data() + annotation.size();
  const auto [rest, error] = std::from_chars(annotation.data(), end, count);
  if (error != std::errc() || rest != end) return std::nullopt;
  return count;
}

std::string held_message(const RunningThere& there) {
  const std::string count = std::to_string(there.vanished);
  return count + " of " + std::to_string(there.all) +
         " workloads that run on this worker do not exist on the hub, which did not see their "
         "deletion. The hub may have lost its data or may have been restored from a backup, so "
         "they are not removed. To remove them, annotate this MultiKueueCluster with " +
         std::string(api::annotations::remove_vanished) + "=" + count;
}

}  // namespace regatta::dispatch
