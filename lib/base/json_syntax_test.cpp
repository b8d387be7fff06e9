#include "lib/base/json_syntax.h"

#include <gtest/gtest.h>

#include <string>

namespace regatta {
namespace {

TEST(JsonSyntax, FindsNothingWrongInADocument) {
  for (const char* text : {"null", " [] ", R"({"a": [1, -2.5e+3, true], "b": {}})", R"("\u00e9\n")",
                           "0", "[false , \"\"]", "\t{ }\n"}) {
    EXPECT_EQ(json_syntax_error(text), "") << text;
  }
}

TEST(JsonSyntax, NamesTheFirstCharacterThatFitsNowhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"nope", "'o' in literal null (expecting 'u')"},
      {"tru!", "'!' in literal true (expecting 'e')"},
      {"yes", "'y' looking for beginning of value"},
      {"[1,]", "']' looking for beginning of value"},
      {"[1 2]", "'2' after array element"},
      {"[1}", "'}' after array element"},
      {"{a: 1}", "'a' looking for beginning of object key string"},
      {R"({"a": 1,})", "'}' looking for beginning of object key string"},
      {R"({"a" 1})", "'1' after object key"},
      {R"({"a": 1 "b"})", "'\"' after object key:value pair"},
      {"[] []", "'[' after top-level value"},
      {"01", "'1' after top-level value"},
      {"-a", "'a' in numeric literal"},
      {"1.x", "'x' after decimal point in numeric literal"},
      {"1e?", "'?' in exponent of numeric literal"},
      {"\"a\nb\"", "'\\n' in string literal"},
      {R"("\q")", "'q' in string escape code"},
      {R"("\u00g0")", "'g' in \\u hexadecimal character escape"},
      {"'a'", "'\\'' looking for beginning of value"},
      {"\\", "'\\\\' looking for beginning of value"},
      {"\x01", "'\\x01' looking for beginning of value"},
      {"\xc3\xa9", "'\xc3\x83' looking for beginning of value"},
      {"\x80", "'\\u0080' looking for beginning of value"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_EQ(json_syntax_error(text), std::string("invalid character ") + why) << text;
  }
}

TEST(JsonSyntax, TellsWhatEndsTooEarly) {
  for (const char* text : {"", "  ", "nul", "[", "[1", "[1,", "{", R"({"a)", R"({"a")", R"({"a":)",
                           R"({"a":1)", "-", "1.", "1e", R"("a\)", R"("\u12)"}) {
    EXPECT_EQ(json_syntax_error(text), "unexpected end of JSON input") << text;
  }
}

TEST(JsonSyntax, NestsOnlySoDeep) {
  EXPECT_EQ(json_syntax_error(std::string(100'000, '[')), "exceeded max depth");
}

}  // namespace
}  // namespace regatta
