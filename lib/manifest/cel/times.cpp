#include "lib/manifest/cel/library.h"

#include <chrono>
#include <string>

namespace regatta::manifest::cel {
namespace {

Value duration(Arguments arguments) {
  if (arguments[0].as<Duration>()) return arguments[0];
  const auto text = arguments[0].string();
  if (!text) return no_overload();
  const auto out = parse_duration(*text);
  return out ? Value(*out) : Value::failure("invalid duration \"" + std::string(*text) + "\"");
}

Value timestamp(Arguments arguments) {
  if (arguments[0].as<Timestamp>()) return arguments[0];
  const auto text = arguments[0].string();
  if (!text) return no_overload();
  const auto out = parse_timestamp(*text);
  return out ? Value(*out) : Value::failure("invalid timestamp \"" + std::string(*text) + "\"");
}

enum class Part {
  year,
  month,
  day_of_month,
  date,
  day_of_week,
  day_of_year,
  hours,
  minutes,
  seconds,
  milliseconds
};

/// A part of a timestamp (in UTC). Hours and smaller units also work on a duration, as its total.
template <Part part>
Value part_of(Arguments arguments) {
  using namespace std::chrono;
  if (const auto* span = arguments[0].as<Duration>()) {
    constexpr std::int64_t unit = part == Part::hours          ? 3'600'000'000'000
                                  : part == Part::minutes      ? 60'000'000'000
                                  : part == Part::seconds      ? 1'000'000'000
                                  : part == Part::milliseconds ? 1'000'000
                                                               : 0;
    if constexpr (unit == 0)
      return no_overload();
    else
      return Value(span->nanoseconds / unit);
  }
  const auto* time = arguments[0].as<Timestamp>();
  if (!time) return no_overload();
  const sys_time<nanoseconds> at(nanoseconds(time->nanoseconds));
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const auto rest = (at - day).count();
  switch (part) {
    case Part::year:
      return Value(std::int64_t{static_cast<int>(date.year())});
    case Part::month:
      return Value(std::int64_t{static_cast<unsigned>(date.month())} - 1);
    case Part::day_of_month:
      return Value(std::int64_t{static_cast<unsigned>(date.day())} - 1);
    case Part::date:
      return Value(std::int64_t{static_cast<unsigned>(date.day())});
    case Part::day_of_week:
      return Value(std::int64_t{weekday(day).c_encoding()});
    case Part::day_of_year:
      return Value(std::int64_t{(day - sys_days(date.year() / January / 1)).count()});
    case Part::hours:
      return Value(std::int64_t{rest / 3'600'000'000'000});
    case Part::minutes:
      return Value(std::int64_t{rest / 60'000'000'000 % 60});
    case Part::seconds:
      return Value(std::int64_t{rest / 1'000'000'000 % 60});
    case Part::milliseconds:
      return Value(std::int64_t{rest / 1'000'000 % 1000});
  }
  return no_overload();
}

}  // namespace

std::vector<Function> time_functions() {
  using enum Kind;
  const std::vector<Kind> dates = {Kind::timestamp};
  const std::vector<Kind> clocks = {Kind::timestamp, Kind::duration};
  return {
      {"duration", false, 1, 1, {string, Kind::duration}, Kind::duration, {}, cel::duration},
      {"timestamp", false, 1, 1, {string, Kind::timestamp}, Kind::timestamp, {}, cel::timestamp},
      {"getFullYear", true, 1, 1, dates, integer, {}, part_of<Part::year>},
      {"getMonth", true, 1, 1, dates, integer, {}, part_of<Part::month>},
      {"getDayOfMonth", true, 1, 1, dates, integer, {}, part_of<Part::day_of_month>},
      {"getDate", true, 1, 1, dates, integer, {}, part_of<Part::date>},
      {"getDayOfWeek", true, 1, 1, dates, integer, {}, part_of<Part::day_of_week>},
      {"getDayOfYear", true, 1, 1, dates, integer, {}, part_of<Part::day_of_year>},
      {"getHours", true, 1, 1, clocks, integer, {}, part_of<Part::hours>},
      {"getMinutes", true, 1, 1, clocks, integer, {}, part_of<Part::minutes>},
      {"getSeconds", true, 1, 1, clocks, integer, {}, part_of<Part::seconds>},
      {"getMilliseconds", true, 1, 1, clocks, integer, {}, part_of<Part::milliseconds>},
  };
}

}  // namespace regatta::manifest::cel
