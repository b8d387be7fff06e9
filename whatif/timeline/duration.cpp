#include "whatif/timeline/duration.h"

#include <array>
#include <charconv>
#include <cmath>

namespace regatta::whatif {
namespace {

struct Unit {
  std::string_view name;
  double millis;
};
constexpr std::array<Unit, 5> units{
    {{"ms", 1}, {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}}};
constexpr double millis_max = 10.0 * 366 * 86'400'000;

Error invalid(std::string_view text) {
  return Error(Errc::invalid, "\"" + std::string(text) +
                                  "\" is no duration; write 90s, 1h30m, 2d or a number of seconds");
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  double total = 0;
  std::string_view rest = text;
  if (rest.empty()) return invalid(text);
  while (!rest.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || !(number >= 0)) return invalid(text);
    const bool first = rest.data() == text.data();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty() && first) {
      total = number * 1000;
      break;
    }
    const Unit* found = nullptr;
    for (const Unit& unit : units) {
      if (found == nullptr && rest.starts_with(unit.name)) found = &unit;
    }
    if (found == nullptr) return invalid(text);
    rest.remove_prefix(found->name.size());
    total += number * found->millis;
  }
  if (!(total <= millis_max)) return Error(Errc::invalid, "longer than ten years");
  return Duration(std::llround(total));
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
