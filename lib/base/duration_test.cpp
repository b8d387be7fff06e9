#include "lib/base/duration.h"

#include <gtest/gtest.h>

#include <array>

namespace regatta {
namespace {

using namespace std::chrono_literals;

TEST(GoDuration, IsReadToTheNanosecond) {
  const std::pair<const char*, std::chrono::nanoseconds> rows[] = {{"0", 0ns},
                                                                   {"+0", 0ns},
                                                                   {"1h30m", 90min},
                                                                   {"-1.5s", -1500ms},
                                                                   {"0.1s", 100ms},
                                                                   {".5h", 30min},
                                                                   {"3.s", 3s},
                                                                   {"1ns", 1ns},
                                                                   {"2\u00b5s", 2us},
                                                                   {"2us", 2us},
                                                                   {"1h0m0.000000001s", 1h + 1ns},
                                                                   {"\u002b1ms", 1ms},
                                                                   {"1m1ms", 60001ms}};
  for (const auto& [text, length] : rows) EXPECT_EQ(parse_go_duration(text), length) << text;
}

TEST(GoDuration, EverythingElseIsRefused) {
  for (const char* text : {"", "5", "m", "1d", "1.2.3s", ".s", "s5", "-", "--1s", "1e3s", "0x1s",
                           "1 s", "1s ", "9999999999h", "1h 30m", "inf", "nans"}) {
    EXPECT_EQ(parse_go_duration(text), std::nullopt) << text;
  }
}

TEST(Amounts, HaveTheUnitsOfTheirCaller) {
  constexpr std::array<TimeUnit, 2> units{{{"d", 24h}, {"h", 1h}}};
  EXPECT_EQ(parse_amounts("1d12h", units), 36h);
  EXPECT_EQ(parse_amounts("1m", units), std::nullopt);
  EXPECT_EQ(parse_amounts("-1d", units), std::nullopt);
  EXPECT_EQ(parse_amounts("", units), std::nullopt);
}

}  // namespace
}  // namespace regatta
