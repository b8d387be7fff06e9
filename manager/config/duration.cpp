#include "manager/config/duration.h"

#include "lib/base/duration.h"

#include <chrono>
#include <cstdlib>

namespace regatta::manager {

Result<Duration> parse_duration(std::string_view text) {
  const auto length = parse_go_duration(text);
  if (length) return std::chrono::duration_cast<Duration>(*length);
  return Error(Errc::invalid,
               "\"" + std::string(text) + "\" is not a duration such as \"15m\" or \"1h30m\"");
}

std::string format_go_duration(Duration duration) {
  if (duration.count() == 0) return "0s";
  std::string text = duration.count() < 0 ? "-" : "";
  const auto ms = std::abs(duration.count());
  if (ms < 1000) return text + std::to_string(ms) + "ms";
  if (ms >= 3600000) text += std::to_string(ms / 3600000) + "h";
  if (ms >= 60000) text += std::to_string(ms / 60000 % 60) + "m";
  std::string seconds = std::to_string(ms / 1000 % 60);
  if (ms % 1000 != 0) {
    std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    seconds += "." + fraction;
  }
  return text + seconds + "s";
}

}  // namespace regatta::manager
