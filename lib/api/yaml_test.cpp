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

}  // namespace
}  // namespace regatta::api
