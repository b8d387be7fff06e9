#include "lib/base/clock.h"
#include "lib/base/digest.h"
#include "lib/base/json.h"
#include "lib/base/rng.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta {
namespace {

TEST(Error, SaysWhereItHappened) {
  const Error e = Error(Errc::unavailable, "connection refused").within("creating copy on east");
  EXPECT_EQ(e.what(), "creating copy on east: connection refused");
  EXPECT_TRUE(e.retryable());
  EXPECT_FALSE(Error(Errc::denied, "no").retryable());
}

TEST(Rfc3339, RoundTripsSeconds) {
  const auto t = parse_rfc3339("2026-02-28T23:59:58Z");
  ASSERT_TRUE(t);
  EXPECT_EQ(format_rfc3339(*t), "2026-02-28T23:59:58Z");
  EXPECT_EQ(format_rfc3339_micro(*t), "2026-02-28T23:59:58.000000Z");
}

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  const auto t = parse_rfc3339("2026-03-01T01:30:00.123456789+02:00");
  ASSERT_TRUE(t);
  EXPECT_EQ(format_rfc3339_micro(*t), "2026-02-28T23:30:00.123000Z");
}

TEST(Rfc3339, RefusesWhatIsNotATime) {
  for (const char* text : {"", "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00",
                           "2026-01-01T00:00:00Zx", "2026-01-01T24:00:00Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Rng, SameSeedSameNames) {
  Rng a(7), b(7), c(8);
  const std::string first = a.uuid();
  EXPECT_EQ(first, b.uuid());
  EXPECT_NE(first, c.uuid());
  EXPECT_EQ(first.size(), 36u);
  EXPECT_EQ(first[14], '4');
}

TEST(Json, RefusesWhatNestsTooDeep) {
  EXPECT_TRUE(parse_json(std::string(400, '[') + std::string(400, ']')));
  EXPECT_FALSE(parse_json(std::string(501, '[') + std::string(501, ']')));
  EXPECT_TRUE(parse_json("\"" + std::string(600, '[') + "\""));
}

TEST(Digest, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Json, RefusesTrailingText) {
  EXPECT_FALSE(parse_json("{} x"));
}

}  // namespace
}  // namespace regatta
