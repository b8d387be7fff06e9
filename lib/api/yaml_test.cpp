#include "lib/api/yaml.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::api {
namespace {

TEST(Yaml, reads_as_kubernetes_does) {
  const Result<Json> value = parse_yaml(
      "a: yes\nb: 'yes'\nc: 0x10\nd: 1.5\ne: ~\nf: [1, \"2\"]\n"
      "base: &b {x: 1}\nmerged:\n  <<: *b\n  z: 2\n1: one\ng: 12:30\n");
  ASSERT_TRUE(value.has_value()) << value.error().what();
  EXPECT_EQ(*value, Json::parse(R"({"a":true,"b":"yes","c":16,"d":1.5,"e":null,"f":[1,"2"],
    "base":{"x":1},"merged":{"x":1,"z":2},"1":"one","g":"12:30"})"));
}

TEST(Yaml, refuses_what_is_malformed_with_a_reason) {
  const Result<Json> value = parse_yaml("a: b: c");
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().what(), "yaml: mapping values are not allowed in this context");
  EXPECT_EQ(parse_yaml("x: 1\na: b: c").error().what(),
            "yaml: line 2: mapping values are not allowed in this context");
}

TEST(Yaml, says_that_it_nests_too_deeply) {
  for (const int depth : {600, 100'000}) {
    const Result<Json> value = parse_yaml(std::string(static_cast<std::size_t>(depth), '['));
    ASSERT_FALSE(value.has_value());
    EXPECT_EQ(value.error().what().substr(0, 13), "yaml: line 1:") << value.error().what();
  }
  EXPECT_EQ(parse_yaml(std::string(600, '[') + std::string(600, ']')).error().what(),
            "yaml: line 1: nested too deeply");
}

TEST(Yaml, resolves_aliases_and_merges) {
  const Result<Json> value = parse_yaml(
      "a: &a {x: 1, l: &l [1, &n name]}\nb: *a\nc: *l\n*n : key\nd: {<<: [{x: 3, w: 2}, *a], w: "
      "4}\n"
      "\"<<\": {z: 1}\n&k k: 1\ne: *k\n");
  ASSERT_TRUE(value.has_value()) << value.error().what();
  EXPECT_EQ(*value, Json::parse(R"({"a":{"x":1,"l":[1,"name"]},"b":{"x":1,"l":[1,"name"]},
    "c":[1,"name"],"name":"key","d":{"x":3,"w":4,"l":[1,"name"]},"<<":{"z":1},"k":1,"e":"k"})"));
}

TEST(Yaml, what_has_no_end_is_refused) {
  std::string laughs = "a0: &a0 [l, l, l, l, l, l, l, l, l, l]\n";
  std::string nested;
  std::string deep = "a0: &a0 {x: 1}\n";
  for (int i = 1; i <= 600; ++i) {
    const std::string at = std::to_string(i);
    const std::string last = "*a" + std::to_string(i - 1);
    if (i < 10) {
      laughs += "a" + at + ": &a" + at + " [" + last;
      for (int j = 1; j < 10; ++j) laughs += ", " + last;
      laughs += "]\n";
    }
    if (i < 450) nested += "&n" + at + " [";
    deep += "a" + at + ": &a" + at + " [" + last + "]\n";
  }
  for (int i = 0; i < 10'000; ++i) nested += "1, ";
  EXPECT_EQ(parse_yaml(laughs).error().what(),
            "yaml: line 7: document is too large: more than 2000000 values in it");
  EXPECT_EQ(parse_yaml(nested + std::string(449, ']')).error().what(),
            "yaml: line 1: document is too large: more than 2000000 values in it");
  EXPECT_EQ(parse_yaml(deep).error().what(), "yaml: line 500: nested too deeply");
  EXPECT_EQ(parse_yaml("a: &a [*a]").error().what(),
            "yaml: line 1: nested too deeply: holds itself");
  EXPECT_EQ(parse_yaml_documents("\"a\", \"b\"").error().what(),
            "yaml: line 1: did not find a document's start");
}

TEST(Yaml, a_key_is_a_scalar) {
  for (const char* text : {"[a]: 1", "{a: b}: 1", "~: 1", "? &a [x]\n: 1", "a: &a [1]\n*a : 2"}) {
    const Result<Json> value = parse_yaml(text);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_NE(value.error().what().find("a key must be a scalar"), std::string::npos) << text;
  }
}

TEST(Yaml, refuses_a_key_that_comes_twice_in_a_manifest) {
  const auto documents = parse_yaml_documents("a: 1\n---\nb: {c: 1, d: 2}\nb: 3\n");
  ASSERT_FALSE(documents.has_value());
  EXPECT_EQ(documents.error().what(), "yaml: line 4: key \"b\" is there already");
  EXPECT_EQ(parse_yaml("b: 1\nb: 3\n").value(), Json::parse(R"({"b":3})"));
  EXPECT_TRUE(parse_yaml_documents("m: &m {a: 1}\nn:\n  <<: *m\n  a: 2\n"));
}

TEST(Yaml, writes_block_style_that_reads_back) {
  const Json value =
      Json::parse(R"({"a":[{"k":"v","l":[]},"true"],"b":{},"t":"2026-01-01T00:00:00Z",
    "m":"one\ntwo\n","s":"a: b","nil":null,"empty":"","num":"12","dot":{".":{}}})");
  const std::string text = dump_yaml(value);
  EXPECT_EQ(
      text,
      "a:\n- k: v\n  l: []\n- \"true\"\nb: {}\ndot:\n  .: {}\nempty: \"\"\nm: |\n  one\n  two\n"
      "nil: null\nnum: \"12\"\ns: 'a: b'\nt: \"2026-01-01T00:00:00Z\"\n");
  const Result<Json> back = parse_yaml(text);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, value);
}

TEST(Yaml, splits_a_stream_and_leaves_out_empty_documents) {
  const auto documents = parse_yaml_documents("---\na: 1\n---\n---\nb: 2\n");
  ASSERT_TRUE(documents.has_value());
  EXPECT_EQ(documents->size(), 2u);
}

TEST(Yaml, a_strict_reader_refuses_a_key_that_comes_twice) {
  EXPECT_TRUE(parse_yaml("a: 1\na: 2\n"));
  EXPECT_FALSE(parse_yaml_strict("a: 1\na: 2\n"));
  EXPECT_EQ(parse_yaml_strict("---\na: 1\n---\na: 2\n").value(), Json({{"a", 1}}));
}

}  // namespace
}  // namespace regatta::api
