#include "lib/base/duration.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

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

TEST(GoDuration, IsWrittenAsGoWritesIt) {
  const std::pair<std::chrono::nanoseconds, std::string> rows[] = {
      {0ns, "0s"},
      {15min, "15m0s"},
      {3600500ms, "1h0m0.5s"},
      {-2s, "-2s"},
      {250ms, "250ms"},
      {1500us, "1.5ms"},
      {1500ns, "1.5\u00b5s"},
      {7ns, "7ns"},
      {36h, "36h0m0s"},
      {-90min, "-1h30m0s"},
      {1s + 1ns, "1.000000001s"},
      {std::chrono::nanoseconds::min(), "-2562047h47m16.854775808s"}};
  for (const auto& [length, text] : rows) EXPECT_EQ(format_go_duration(length), text);
}

}  // namespace
}  // namespace regatta
