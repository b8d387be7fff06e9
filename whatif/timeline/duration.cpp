#include "whatif/timeline/duration.h"

#include "lib/base/duration.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace regatta::whatif {
namespace {

using namespace std::chrono_literals;

constexpr std::array<TimeUnit, 5> units{
    {{"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}, {"d", 24h}}};
constexpr Duration longest = 10 * 366 * 24h;

Error invalid(std::string_view text) {
  return Error(Errc::invalid, "\"" + std::string(text) +
                                  "\" is no duration; write 90s, 1h30m, 2d or a number of seconds");
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::chrono::duration<double> length{};
  const char* const end = text.data() + text.size();
  double seconds = 0;
  if (const auto number = std::from_chars(text.data(), end, seconds);
      number.ec == std::errc() && number.ptr == end && seconds >= 0) {
    length = std::chrono::duration<double>(seconds);
  } else if (const auto amounts = parse_amounts(text, units)) {
    length = *amounts;
  } else {
    return invalid(text);
  }
  if (!(length <= longest)) return Error(Errc::invalid, "longer than ten years");
  return Duration(std::llround(length.count() * 1000));
}

std::string format_duration(Duration value) {
  std::int64_t left = value.count();
  if (left == 0) return "0s";
  if (left < 0) return "-" + format_duration(-value);
  if (left < 1000) return std::to_string(left) + "ms";
  left /= 1000;
  std::string out;
  int written = 0;
  for (const auto& [name, seconds] :
       {std::pair<const char*, std::int64_t>{"d", 86'400}, {"h", 3600}, {"m", 60}, {"s", 1}}) {
    if (written > 0) ++written;
    if (written > 2) break;
    if (left < seconds) continue;
    out += std::to_string(left / seconds) + name;
    left %= seconds;
    if (written == 0) written = 1;
  }
  return out;
}

}  // namespace regatta::whatif
