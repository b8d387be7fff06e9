#include "lib/base/clock.h"
#include "lib/base/digest.h"
#include "lib/base/fnv.h"
#include "lib/base/human.h"
#include "lib/base/json.h"
#include "lib/base/json_text.h"
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

TEST(Rfc3339, DoesNotRepeatALongText) {
  EXPECT_LT(parse_rfc3339(std::string(1 << 20, 'x')).error().what().size(), 128u);
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

/// Values of every form, unusual ones included.
std::string random_json(Rng& rng, int depth) {
  const char* leaves[] = {"null",         "true",
                          "false",        "0",
                          "-1",           "12345678901234567",
                          "1.5",          "1e3",
                          "-0",           "\"a\"",
                          "\"\"",         "\"\\u003cb\\n\\/\"",
                          "\"\xc3\xa9\"", "\"\\u00e9\"",
                          "01",           "18446744073709551615",
                          "\"\\",         "nul"};
  const auto pick = rng.between(0, depth > 0 ? 29 : 15);
  if (pick < 16) return leaves[pick];
  if (pick == 16) return leaves[rng.between(16, 17)];
  std::string out = pick % 2 ? "[" : "{";
  for (std::int64_t i = rng.between(0, 3); i > 0; --i) {
    if (out.size() > 1) out += rng.chance(0.9) ? "," : " ";
    if (pick % 2 == 0) out += "\"k" + std::to_string(rng.between(0, 4)) + "\": ";
    out += random_json(rng, depth - 1);
  }
  return out + (pick % 2 ? "]" : "}");
}

TEST(Json, ReadsWhatTheGeneralParserReads) {
  Rng rng(5);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_json(rng, 4);
    const Json general = Json::parse(text, nullptr, false);
    const auto ours = parse_json(text);
    ASSERT_EQ(ours.has_value(), !general.is_discarded()) << text;
    if (!ours) continue;
    ++read;
    ASSERT_EQ(*ours, general) << text;
    ASSERT_EQ(dump_json(*ours), general.dump()) << text;
  }
  EXPECT_GT(read, 1000);
}

TEST(Json, OfMembersWithOneNameTheLastOneCounts) {
  EXPECT_EQ(*parse_json(R"({"a":{"b":1},"a":"text"})"), Json({{"a", "text"}}));
  EXPECT_EQ(*parse_json(R"({"a":[1],"a":null})"), Json({{"a", nullptr}}));
  EXPECT_EQ(*parse_json(R"({"a":"text","a":[]})"), Json({{"a", Json::array()}}));
}

TEST(Json, IsDiscardedDownToTheDeepestThatIsRead) {
  const std::string deepest(json_depth_max, '[');
  auto value = parse_json(deepest + std::string(json_depth_max, ']'));
  ASSERT_TRUE(value);
  discard(&*value);
  EXPECT_EQ(*value, Json::array());
  Json object = {{"a", {{"b", {1, "two", nullptr}}}}, {"c", "d"}};
  discard(&object);
  EXPECT_EQ(object, Json::object());
  Json text = "text";
  discard(&text);
  EXPECT_EQ(text, "text");
}

TEST(Json, RefusesTrailingText) {
  EXPECT_FALSE(parse_json("{} x"));
}

TEST(Json, DoesNotEndAtANullByte) {
  using namespace std::string_view_literals;
  for (const auto text : {"{}\0"sv, "{}\0{}"sv, "\0"sv, "[1\0]"sv}) {
    const auto read = parse_json(text);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().what().find("null byte at byte "), std::string::npos);
  }
}

TEST(Json, IsWrittenWithAndWithoutGosEscapes) {
  const Json value = {{"a<b", "c>d&e\"\\ \u2028\u2029 \u00e9"},
                      {"list", {1, -2, 1.5, true, nullptr}}};
  EXPECT_EQ(dump_json(value),
            "{\"a<b\":\"c>d&e\\\"\\\\ \u2028\u2029 \u00e9\",\"list\":[1,-2,1.5,true,null]}");
  std::string go;
  append_json(go, value, Escapes::html);
  EXPECT_EQ(go,
            "{\"a\\u003cb\":\"c\\u003ed\\u0026e\\\"\\\\ \\u2028\\u2029 \u00e9\","
            "\"list\":[1,-2,1.5,true,null]}");
  for (const auto& [text, want] : {std::pair("a<b", R"("a\u003cb")"),
                                   {"a>b", R"("a\u003eb")"},
                                   {"a&b", R"("a\u0026b")"},
                                   {"a\"b", R"("a\"b")"}}) {
    std::string one;
    append_json(one, text, Escapes::html);
    EXPECT_EQ(one, want);
  }
}

TEST(Fnv, MatchesThePublishedValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
}

TEST(HumanDuration, LooksAsInKubectl) {
  const std::vector<std::pair<std::int64_t, const char*>> rows = {
      {-5, "<invalid>"},   {0, "0s"},           {119, "119s"},     {120, "2m"},
      {125, "2m5s"},       {599, "9m59s"},      {600, "10m"},      {10799, "179m"},
      {10800, "3h"},       {11580, "3h13m"},    {28800, "8h"},     {172799, "47h"},
      {172800, "2d"},      {180000, "2d2h"},    {691200, "8d"},    {63072000, "2y"},
      {69120000, "2y70d"}, {63936000, "2y10d"}, {252288000, "8y"},
  };
  for (const auto& [seconds, text] : rows) {
    EXPECT_EQ(human_duration(std::chrono::seconds(seconds)), text) << seconds;
  }
}

}  // namespace
}  // namespace regatta
