#include "lib/base/human.h"

#include <cstdint>

namespace regatta {
namespace {

std::string two(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  std::string out = std::to_string(large) + large_unit;
  if (small != 0) out += std::to_string(small) + small_unit;
  return out;
}

}  // namespace

std::string human_duration(Duration d) {
  const std::int64_t seconds = d.count() / 1000;
  if (d.count() < -1000) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60 * 2) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 60 * 3) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (hours < 24 * 8) return two(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return std::to_string(days) + "d";
  const std::int64_t years = days / 365;
  if (hours < 24 * 365 * 8) return two(years, 'y', days % 365, 'd');
  return std::to_string(years) + "y";
}

}  // namespace regatta
